"""Put results of `flymotion reproduce --full --out FULL` and `flymotion reproduce --out QUICK` on record.

    python benchmarks/record_verdict.py FULL QUICK

Writes src/flymotion/claims/recorded.json, which every run is compared with, and docs/verdict.md. Look at what git says
has changed before it is committed: a verdict that changed is a result, and belongs into CHANGELOG.md.
"""

import json
import sys
from pathlib import Path

from flymotion.claims import FIGURES, SENTENCES, known_claims
from flymotion.claims.rows import Claim
from flymotion.claims.verdict_page import verdict_page
from flymotion.writing import whole

ROOT = Path(__file__).resolve().parents[1]

HOW = (
    "Measured by `flymotion reproduce --full`. This page is generated from the rows (`benchmarks/record_verdict.py`), "
    "and `flymotion reproduce` ends with 1 where it finds another verdict."
)


def read(folder: str) -> list[Claim]:
    path = Path(folder) / "claims.json"
    if not path.is_file():
        sys.exit(f"{path} is not there; expected what a finished `flymotion reproduce --out {folder}` leaves")
    rows = [Claim(**row) for row in json.loads(path.read_text(encoding="utf-8"))]
    if gone := [row.id for row in rows if row.value is None]:
        sys.exit(f"{path} has no value of {', '.join(gone)}; a row that is not finite is mended, not recorded")
    if missing := known_claims().keys() - {row.id.partition(".")[0] for row in rows}:
        sys.exit(f"{path} has no rows of {', '.join(sorted(missing))}; expected those of all claims")
    return rows


def main(*folders: str) -> None:
    if len(folders) != 2:
        sys.exit(f"{len(folders)} folders were given; expected two: record_verdict.py FULL QUICK")
    found = dict(zip(("full", "quick"), map(read, folders), strict=True))
    if sum(row.seeds for row in found["full"]) <= sum(row.seeds for row in found["quick"]):
        sys.exit(
            f"{folders[0]} has no more seeds than {folders[1]}; expected results of --full, then of the quick size"
        )
    sizes = (f'"{size}": {{\n' + ",\n".join(map(_line, rows)) + "\n}" for size, rows in found.items())
    with whole(ROOT / "src/flymotion/claims/recorded.json") as place:
        place.write_text("{\n" + ",\n".join(sizes) + "\n}\n", encoding="utf-8")
    with whole(ROOT / "docs/verdict.md") as place:
        place.write_text(verdict_page(found["full"], SENTENCES, FIGURES, HOW), encoding="utf-8")


def _line(row: Claim) -> str:
    return f'"{row.id}": {json.dumps([float(f"{row.value:.6g}"), row.holds])}'


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Put results of `flymotion reproduce --full --out FULL` and `flymotion reproduce --out QUICK` on record.

    python benchmarks/record_verdict.py FULL QUICK

Writes src/flymotion/claims/recorded.json, which every run is compared with, and docs/verdict.md. Look at what git says
has changed before it is committed: a verdict that changed is a result, and belongs into CHANGELOG.md.
"""

import json
import sys
from pathlib import Path

from flymotion.claims import FIGURES, SENTENCES
from flymotion.claims.rows import Claim
from flymotion.claims.verdict_page import verdict_page
from flymotion.writing import whole

ROOT = Path(__file__).resolve().parents[1]

HOW = (
    "Measured by `flymotion reproduce --full`. This page is generated from the rows (`benchmarks/record_verdict.py`), "
    "and `flymotion reproduce` ends with 1 where it finds another verdict."
)


def read(folder: str) -> list[Claim]:
    return [Claim(**row) for row in json.loads((Path(folder) / "claims.json").read_text())]


def main(full: str, quick: str) -> None:
    found = {"full": read(full), "quick": read(quick)}
    sizes = (f'"{size}": {{\n' + ",\n".join(map(_line, rows)) + "\n}" for size, rows in found.items())
    with whole(ROOT / "src/flymotion/claims/recorded.json") as place:
        place.write_text("{\n" + ",\n".join(sizes) + "\n}\n", encoding="utf-8")
    with whole(ROOT / "docs/verdict.md") as place:
        place.write_text(verdict_page(found["full"], SENTENCES, FIGURES, HOW), encoding="utf-8")


def _line(row: Claim) -> str:
    value = None if row.value is None else float(f"{row.value:.6g}")
    return f'"{row.id}": {json.dumps([value, row.holds])}'


if __name__ == "__main__":
    main(*sys.argv[1:])

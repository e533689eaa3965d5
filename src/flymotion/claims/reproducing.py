"""Claims checked: the groups that hold them found and run, their rows written, their figures drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import flymotion
from flymotion.claims.judging import differences, recorded
from flymotion.claims.kept_pieces import KeptPieces, code, versions
from flymotion.claims.page import Contents, Group, contents, html, remove_figures, styled, write_figures
from flymotion.claims.paper_figures import FIGURES
from flymotion.claims.rows import Claim, write
from flymotion.claims.running import finished, on_cores
from flymotion.claims.sentences import SENTENCES
from flymotion.claims.verdict_page import verdict_page
from flymotion.writing import UNFINISHED, Results, results, whole

__all__ = ["Interrupted", "groups", "known_claims", "reproduce"]

PACKAGE = __name__.rpartition(".")[0]


class Interrupted(KeyboardInterrupt):
    """Checking of claims was interrupted; knows the rows of those that were finished.

    Examples
    --------
    >>> from flymotion.claims.rows import below
    >>> try:
    ...     raise Interrupted("1 of 30 groups of claims was finished", [below("C2.cos", "cosine", [-0.97], -0.9)])
    ... except KeyboardInterrupt as interrupted:
    ...     print(interrupted, [row.id for row in interrupted.rows])
    1 of 30 groups of claims was finished ['C2.cos']
    """

    def __init__(self, words: str, rows: list[Claim]) -> None:
        super().__init__(words)
        self.rows = rows


def groups() -> dict[str, ModuleType]:
    """Return the groups of claims by name: the modules of this package that have ``CLAIMS``, in order of those.

    Examples
    --------
    >>> list(groups())[:3]
    ['figure2', 'cartoon', 'larger_eyes']
    """
    modules = {
        found.name: import_module(f"{PACKAGE}.{found.name}") for found in iter_modules(import_module(PACKAGE).__path__)
    }
    found = [(name, module) for name, module in modules.items() if hasattr(module, "CLAIMS")]
    return dict(sorted(found, key=lambda group: min(map(_number, group[1].CLAIMS))))


def known_claims() -> dict[str, str]:
    """Return every claim in a few words, by its id, in the order of their numbers.

    Examples
    --------
    >>> known_claims()["C2"]
    "NSM's two units are opposite motion detectors"
    """
    known = {id: words for module in groups().values() for id, words in module.CLAIMS.items()}
    return dict(sorted(known.items(), key=lambda claim: _number(claim[0])))


def reproduce(
    ids: Iterable[str] | None = None,
    *,
    full: bool = False,
    out: str | Path = "flymotion-results",
    progress: Callable[[int, int, str], None] = lambda done, total, what: None,
    tell: Callable[[str], None] = lambda words: None,
    n_jobs: int = 2,
    **settings: Any,
) -> list[Claim]:
    """Check claims of the paper.

    A run that was interrupted, or killed, has kept the pieces of work that it had finished; the next one with the same
    folder, code and settings goes on with them (:mod:`flymotion.claims.kept_pieces`).

    Parameters
    ----------
    ids : iterable of str, optional
        Which claims, for instance ``["C2", "C28"]``, of lower case too; all by default.
    full : bool
        Every seed and size that a claim names, in minutes, instead of few seeds, in one or two.
    out : str or Path
        Folder for ``index.html``, the report, ``claims.json``, ``verdict.md``, what the rows say of the paper's
        sentences, and the figures with their data; made if missing. Figures of an earlier run there are removed when
        the new ones are in place.
    progress : callable
        Called with the pieces of work done, their total, and what is being worked on.
    tell : callable
        Called with a sentence where an earlier run had finished some pieces.
    n_jobs : int
        Processes to work on.
    **settings : Any
        Fields of the groups' ``Config``, instead of their own values, for all groups that have them: ``n_seeds``, or
        ``videos``, paths that C30 learns from, each alone, instead of videos that it makes.

    Returns
    -------
    list of Claim
        The rows of the claims asked for, in the order of their numbers.

    Raises
    ------
    ValueError
        Unknown claims; settings that no claim asked for has, or that are out of range.
    WriteError
        A folder that cannot be written to, before any work.
    Interrupted
        Ctrl-C: what was finished is in the folder ``unfinished`` of ``out``, and earlier results are as they were.

    Examples
    --------
    >>> rows = reproduce(["C16"], out="flymotion-results")  # doctest: +SKIP
    >>> [row.id for row in rows if row.holds]  # doctest: +SKIP
    ['C16.identity', 'C16.slope', 'C16.learned']
    """
    wanted = _known(ids)
    modules = {name: module for name, module in groups().items() if wanted.intersection(module.CLAIMS)}
    configs = _configs(modules, full, settings)
    with results(out, ["claims.json", "verdict.md", "index.html"], sources=settings.get("videos", ())) as files:
        work = {name: module.work(configs[name]) for name, module in modules.items()}
        kept = KeptPieces(files.folder / UNFINISHED / "pieces", work, configs)
        if kept.n_taken:
            tell(f"{kept.n_taken} of {kept.n} pieces of work were finished by an earlier run, and are taken over")
        run = _Run(wanted, modules, configs, kept, files, full, settings, n_jobs)
        found: dict[str, Any] = {}
        try:
            found.update(finished(work, kept.each(on_cores(n_jobs, _told(run, progress)))))
        except KeyboardInterrupt as error:
            if not kept.n_kept:
                raise
            rows = _conclude(found, run) if found else []
            told = (
                f"{len(found)} of {len(modules)} groups of claims were finished, and {kept.n_kept} of {kept.n} pieces "
            )
            told += f"of work, which the same command takes over: {files.folder / UNFINISHED}"
            raise Interrupted(told, rows) from error
        rows = _conclude(found, run)
        kept.remove()
        return rows


@dataclass(frozen=True)
class _Run:
    """What one run was asked for, and where it writes."""

    wanted: set[str]
    modules: Mapping[str, ModuleType]
    configs: Mapping[str, Any]
    kept: KeptPieces
    files: Results
    full: bool
    settings: Mapping[str, Any]
    n_jobs: int


def _told(run: _Run, progress: Callable[[int, int, str], None]) -> Callable[[], None]:
    """Say what is being worked on, and return what to call after each piece."""
    titles, done = [_title(run.modules[name]) for name in run.kept.left], 0

    def tell() -> None:
        if titles:
            progress(run.kept.n_taken + done, run.kept.n, titles[min(done, len(titles) - 1)])

    def one_more() -> None:
        nonlocal done
        done += 1
        tell()

    tell()
    return one_more


def _conclude(found: Mapping[str, Any], run: _Run) -> list[Claim]:
    """Check the claims of some groups, write the rows, draw the figures, and put them in place of an earlier run's."""
    modules = {name: module for name, module in run.modules.items() if name in found}
    unfinished, aside = len(modules) < len(run.modules), run.files.aside
    rows = [row for name, module in modules.items() for row in module.check(found[name], run.configs[name])]
    rows = sorted((row for row in rows if _id(row) in run.wanted), key=lambda row: _number(_id(row)))
    write(rows, aside / "claims.json")
    complete = run.wanted == set(known_claims()) and not unfinished
    how = "Measured by `flymotion reproduce`, with the seeds that each row of `claims.json` names."
    _write(aside / "verdict.md", verdict_page(rows, SENTENCES, FIGURES, how, all_claims=complete))
    to_draw = [
        partial(_draw, name, found[name], run.configs[name], aside)
        for name in modules
        if hasattr(modules[name], "figures")
    ]
    drawn = {name: vector for some in on_cores(run.n_jobs)(to_draw) for name, vector in some.items()}
    _write(aside / "index.html", html(_contents(rows, drawn, modules, run, complete)))
    remove_figures(run.files.keep(unfinished=unfinished))
    return rows


def _contents(
    rows: list[Claim], drawn: Mapping[str, str], modules: Mapping[str, ModuleType], run: _Run, complete: bool
) -> Contents:
    """Sort what was measured for the page."""
    asked = {name: [id for id in module.CLAIMS if id in run.wanted] for name, module in modules.items()}
    measured = [
        Group(tuple(asked[name]), run.configs[name], run.kept.groups.count(name), run.kept.seconds[name])
        for name in modules
    ]
    return contents(
        rows,
        drawn,
        claims={id: words for id, words in known_claims().items() if id in run.wanted},
        groups=tuple(measured),
        size="full" if run.full else "quick",
        given=dict(run.settings),
        n_pieces=run.kept.n_done,
        n_taken=run.kept.n_taken,
        complete=complete,
        changed=() if run.settings else tuple(differences(rows, SENTENCES, recorded(full=run.full))),
        versions={"flymotion": flymotion.__version__, "its source": code()} | versions(),
        date=f"{datetime.now(UTC):%d %B %Y}".lstrip("0"),
    )


def _write(path: Path, text: str) -> None:
    with whole(path) as place:  # of names that are no Unicode, bytes are escaped
        place.write_text(text, encoding="utf-8", errors="backslashreplace")


def _id(row: Claim) -> str:
    return row.id.partition(".")[0]


def _number(id: str) -> int:
    return int(id[1:])


def _known(ids: Iterable[str] | None) -> set[str]:
    known = known_claims()
    wanted = set(known) if ids is None else {id.upper() for id in ([ids] if isinstance(ids, str) else ids)}
    if unknown := sorted(wanted.difference(known)):
        raise ValueError(f"unknown claim {', '.join(unknown)}; expected some of {', '.join(known)}")
    return wanted


def _configs(modules: Mapping[str, ModuleType], full: bool, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the groups' sizes and seeds, each with the settings that it has."""
    if settings.get("n_seeds", 1) < 1:
        raise ValueError(f"n_seeds is {settings['n_seeds']}; expected at least 1")
    has = {name: {field.name for field in fields(module.Config)} for name, module in modules.items()}
    if homeless := sorted(set(settings).difference(*has.values())):
        raise ValueError(f"{homeless[0]} is given, but no claim that was asked for has this setting")
    return {
        name: module.Config(
            **({} if full else module.QUICK) | {key: settings[key] for key in settings if key in has[name]}
        )
        for name, module in modules.items()
    }


def _title(module: ModuleType) -> str:
    about = (module.__doc__ or "").partition("(")[0].partition(":")[0].strip()
    return f"{', '.join(module.CLAIMS)}: {about}"


def _draw(name: str, found: Any, config: Any, out: Path) -> dict[str, str]:
    """Draw the figures of one group; by its name, as modules cannot be sent to other processes."""
    with styled():
        return write_figures(groups()[name].figures(found, config), out)

"""Claims checked: the groups that hold them found and run, their rows written, their figures drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from flymotion.claims.rows import Claim, write
from flymotion.claims.running import Each, finished, names, on_cores
from flymotion.claims.sentences import FIGURES, SENTENCES
from flymotion.claims.verdict_page import verdict_page
from flymotion.plots.canvas import save_figure
from flymotion.writing import UNFINISHED, Results, results, whole

__all__ = ["Interrupted", "groups", "known_claims", "reproduce"]

PACKAGE = __name__.rpartition(".")[0]

SOURCE = "flymotion reproduce"
"""What figures say in their files that they were made by."""


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
    n_jobs: int = 2,
    **settings: Any,
) -> list[Claim]:
    """Check claims of the paper.

    Parameters
    ----------
    ids : iterable of str, optional
        Which claims, for instance ``["C2", "C28"]``, of lower case too; all by default.
    full : bool
        Every seed and size that a claim names, in minutes, instead of few seeds, in one or two.
    out : str or Path
        Folder for ``claims.json``, ``verdict.md``, what the rows say of the paper's sentences, and the figures; made if
        missing. Figures of an earlier run there are removed when the new ones are in place.
    progress : callable
        Called with the pieces of work done, their total, and what is being worked on.
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
    with results(out, ["claims.json", "verdict.md"], sources=settings.get("videos", ())) as files:
        found: dict[str, Any] = {}
        try:
            for name, of_group in _run(modules, configs, progress, n_jobs):
                found[name] = of_group
        except KeyboardInterrupt as error:
            if not found:
                raise
            rows = _conclude(found, configs, wanted, files, n_jobs, unfinished=True)
            told = f"{len(found)} of {len(modules)} groups of claims were finished: {files.folder / UNFINISHED}"
            raise Interrupted(told, rows) from error
        return _conclude(found, configs, wanted, files, n_jobs)


def _conclude(
    found: Mapping[str, Any],
    configs: Mapping[str, Any],
    wanted: set[str],
    files: Results,
    n_jobs: int,
    *,
    unfinished: bool = False,
) -> list[Claim]:
    """Check the claims of some groups, write the rows, draw the figures, and put them in place of an earlier run's."""
    modules = {name: module for name, module in groups().items() if name in found}
    rows = [row for name, module in modules.items() for row in module.check(found[name], configs[name])]
    rows = sorted((row for row in rows if _id(row) in wanted), key=lambda row: _number(_id(row)))
    write(rows, files.aside / "claims.json")
    how = "Measured by `flymotion reproduce`, with the seeds that each row of `claims.json` names."
    page = verdict_page(rows, SENTENCES, FIGURES, how, all_claims=wanted == set(known_claims()) and not unfinished)
    with whole(files.aside / "verdict.md") as place:
        place.write_text(page, encoding="utf-8", errors="backslashreplace")
    drawn = [
        partial(_draw, name, found[name], configs[name], files.aside)
        for name in modules
        if hasattr(modules[name], "figures")
    ]
    list(on_cores(n_jobs)(drawn))
    _remove_figures(files.keep(unfinished=unfinished))
    return rows


def _remove_figures(kept: list[Path]) -> None:
    """Remove the figures of an earlier run beside what was just put in place; what others made stays."""
    from PIL import Image

    for path in set(kept[0].parent.glob("*.png")).difference(kept):
        with suppress(OSError):
            with Image.open(path) as image:
                ours = image.info.get("Source") == SOURCE
            if ours:
                path.unlink()


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


def _run(
    modules: Mapping[str, ModuleType],
    configs: Mapping[str, Any],
    progress: Callable[[int, int, str], None],
    n_jobs: int,
) -> Iterator[tuple[str, Any]]:
    """Run groups and yield what each found, the pieces of all in one queue, so that no core waits at an end."""
    work = {name: module.work(configs[name]) for name, module in modules.items()}
    titles, done = [_title(modules[name]) for name in names(work)], 0

    def tell() -> None:
        if titles:
            progress(done, len(titles), titles[min(done, len(titles) - 1)])

    def one_more() -> None:
        nonlocal done
        done += 1
        tell()

    tell()
    each: Each = on_cores(n_jobs, one_more)
    return finished(work, each)


def _title(module: ModuleType) -> str:
    about = (module.__doc__ or "").partition("(")[0].partition(":")[0].strip()
    return f"{', '.join(module.CLAIMS)}: {about}"


def _draw(name: str, found: Any, config: Any, out: Path) -> None:
    """Draw the figures of one group; by its name, as modules cannot be sent to other processes."""
    for figure_name, figure in groups()[name].figures(found, config).items():
        save_figure(figure, out / f"{figure_name}.png", source=SOURCE)

"""Experiments: one module a figure or group of claims, each with ``Config``, ``run(config)`` and ``check(result)``.

:func:`reproduce` runs those that hold the claims asked for, writes ``claims.json`` and draws the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from flymotion.claims.rows import Claim, write

__all__ = ["EXPERIMENTS", "reproduce"]

EXPERIMENTS: dict[str, tuple[str, ...]] = {
    "figure2": ("C1", "C2", "C3", "C7"),
    "larger_eyes": ("C5",),
    "gratings": ("C6", "C8"),
    "content": ("C9",),
    "transformations": ("C10", "C12", "C13", "C29", "C32"),
    "turns": ("C27",),
    "large_motions": ("C11",),
    "product_features": ("C14",),
    "offline_online": ("C26", "C35"),
    "optics": ("C28",),
    "cartoon": ("C4",),
    "regression": ("C15", "C33"),
    "equivalence": ("C16", "C20"),
    "global_motion": ("C17", "C18", "C19"),
    "multiplication": ("C31",),
    "cells": ("C30",),
}
"""Modules of this package, and the claims that each checks."""


def reproduce(
    ids: Iterable[str] | None = None,
    *,
    full: bool = False,
    n_seeds: int | None = None,
    videos: Sequence[str | Path] = (),
    out: str | Path = "reproduced",
    progress: Callable[[int, int, str], None] | None = None,
    n_jobs: int = 2,
) -> list[Claim]:
    """Check claims of the paper.

    Parameters
    ----------
    ids : iterable of str, optional
        Which claims, for instance ``["C2", "C28"]``; all by default.
    full : bool
        Every seed and size that a claim names, in minutes, instead of few seeds, in about one.
    n_seeds : int, optional
        Number of seeds, instead of either.
    videos : sequence of path
        What C30 learns from, each alone, instead of videos that it makes.
    out : str or Path
        Folder for ``claims.json`` and the figures; made if missing.
    progress : callable, optional
        Called with the pieces of work done, their total, and what is being worked on.
    n_jobs : int
        Processes to work on.

    Returns
    -------
    list of Claim
        The rows of the claims asked for, in the order of their numbers.

    Raises
    ------
    ValueError
        Unknown claims; fewer than one seed; videos without C30, or that cannot be read.
    """
    wanted = _known(ids)
    if n_seeds is not None and n_seeds < 1:
        raise ValueError(f"n_seeds is {n_seeds}; expected at least 1")
    names = [name for name, holds in EXPERIMENTS.items() if wanted.intersection(holds)]
    modules = {name: import_module(f"{__name__}.{name}") for name in names}
    configs = {name: _config(module, full, n_seeds) for name, module in modules.items()}
    if videos:
        if "cells" not in configs:
            raise ValueError("videos were given, which C30 alone learns from, and it was not asked for")
        configs["cells"] = replace(configs["cells"], videos=_readable(videos))
    results = _run(modules, configs, progress, n_jobs)
    rows = [row for name, module in modules.items() for row in module.check(results[name])]
    rows = sorted((row for row in rows if _number(row) in wanted), key=lambda row: int(_number(row)[1:]))
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    write(rows, out / "claims.json")
    _draw(results, out, n_jobs)
    return rows


def _known(ids: Iterable[str] | None) -> set[str]:
    known = [claim for claims in EXPERIMENTS.values() for claim in claims]
    wanted = set(known) if ids is None else {ids} if isinstance(ids, str) else set(ids)
    if unknown := sorted(wanted.difference(known)):
        known.sort(key=lambda claim: int(claim[1:]))
        raise ValueError(f"unknown claim {', '.join(unknown)}; expected some of {', '.join(known)}")
    return wanted


def _number(row: Claim) -> str:
    return row.id.partition(".")[0]


def _config(module: Any, full: bool, n_seeds: int | None) -> Any:
    config = module.Config() if full else module.Config.quick()
    return config if n_seeds is None else replace(config, n_seeds=n_seeds)


def _readable(videos: Sequence[str | Path]) -> tuple[str, ...]:
    """Return the paths of videos, each opened once, so that what is wrong with one is said before hours of work."""
    from flymotion.video import open_movie

    for video in videos:
        open_movie(video)
    return tuple(map(str, videos))


def _run(modules: dict[str, Any], configs: dict[str, Any], progress: Any, n_jobs: int) -> dict[str, Any]:
    """Run experiments, the pieces of all in one queue, so that no core waits for another at the end of each."""
    from flymotion.claims.work import on_cores

    work = {name: module.jobs(configs[name]) for name, module in modules.items()}
    titles = [title for name, pieces in work.items() for title in [_title(name, modules[name])] * len(pieces)]
    done = 0

    def tell(n_done: int) -> None:
        if progress is not None and titles:
            progress(n_done, len(titles), titles[min(n_done, len(titles) - 1)])

    def one_more() -> None:
        nonlocal done
        done += 1
        tell(done)

    tell(0)
    results = iter(on_cores(n_jobs, one_more)([piece for pieces in work.values() for piece in pieces]))
    return {
        name: module.run(configs[name], lambda pieces: islice(results, len(pieces))) for name, module in modules.items()
    }


def _title(name: str, module: Any) -> str:
    about = (module.__doc__ or name).partition("(")[0].partition(":")[0].strip()
    return f"{', '.join(EXPERIMENTS[name])}: {about}"


def _draw(results: dict[str, Any], out: Path, n_jobs: int) -> None:
    """Draw every figure of the results, on as many processes."""
    from flymotion import plots
    from flymotion.claims.work import on_cores

    figures: list[tuple[str, Callable[..., Any], str]] = [
        ("gratings", plots.draw_speeds, "speeds.png"),
        ("content", plots.draw_content, "content.png"),
        ("turns", plots.draw_turns, "filters_turns.png"),
        ("large_motions", plots.draw_turned_bars, "turned_bars.png"),
        ("optics", plots.draw_motion_map, "motion_map.png"),
        ("cartoon", plots.draw_cartoon, "three_pixels.png"),
        ("equivalence", plots.draw_equivalence, "equivalence.png"),
        ("regression", plots.draw_regression, "regression.png"),
        ("global_motion", plots.draw_contrast_response, "contrast_response.png"),
        ("global_motion", plots.draw_oscillations, "oscillations.png"),
        ("global_motion", plots.draw_velocity_tuning, "velocity_tuning.png"),
        ("multiplication", plots.draw_products, "products.png"),
        ("cells", plots.draw_cells, "cells.png"),
    ]
    work = [partial(_save, draw, results[name], path=out / file) for name, draw, file in figures if name in results]
    of_worlds: list[tuple[str, Callable[..., Any], str, str, int]] = [
        ("transformations", plots.draw_transformations, "filters", "nsm", 120),
        ("figure2", plots.draw_figure2, "figure2", "signed", 150),
    ]
    for name, draw, stem, worlds, dpi in of_worlds:
        for world in getattr(results.get(name), worlds, ()):
            work.append(partial(_save, draw, results[name], world, path=out / f"{stem}_{world}.png", dpi=dpi))
    list(on_cores(n_jobs if len(work) > 1 else 1)(work))


def _save(draw: Callable[..., Any], *what: Any, path: Path, dpi: int = 150) -> None:
    draw(*what).savefig(path, dpi=dpi)

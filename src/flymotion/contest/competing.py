"""The contest held: which learners, in which worlds, from how many pairs; what came of it, summed up and written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from flymotion.brevity import in_brief
from flymotion.claims.running import finished, names, on_cores
from flymotion.contest.arenas import ARENAS
from flymotion.contest.learners import ALL, entry
from flymotion.contest.scoring import NAMED
from flymotion.contest.trials import MEASURES, TIMES, trial
from flymotion.writing import UNFINISHED, Results, results, whole

__all__ = ["FILES", "QUICK", "Config", "Contest", "Unfinished", "compete", "work"]

FILES = ("rivals.json", "timings.json", "rivals.md", "rivals.png")
"""What is written."""

SOURCE = "flymotion rivals"


@dataclass(frozen=True)
class Config:
    """Sizes and seeds: those of the full size."""

    worlds: tuple[str, ...] = tuple(ARENAS)
    learners: tuple[str, ...] = ALL
    n_seeds: int = 3
    n_pairs: tuple[int, ...] = (100, 300, 1_000, 3_000, 10_000)
    """To learn from, each time from scratch."""
    n_noisy: int = 3_000
    """Pairs to learn from in noise."""
    n_new: int = 4_000
    snrs: tuple[float, ...] = (20.0, 10.0)
    """Noise of sensors [dB], beside none."""

    def sizes(self, snr: float | None) -> tuple[int, ...]:
        """Return the numbers of pairs that are learned from at a level of noise."""
        return self.n_pairs if snr is None else (self.n_noisy,)


QUICK: dict[str, Any] = {
    "n_seeds": 1,
    "n_pairs": (100, 300, 1_000, 3_000),
    "n_new": 2_000,
    "snrs": (20.0,),
}
"""What the quick size has instead."""


class Unfinished(KeyboardInterrupt):
    """The contest was interrupted; knows what came of the worlds that were finished.

    Examples
    --------
    >>> try:
    ...     raise Unfinished("1 of 7 worlds were finished", Contest(Config(worlds=("L1",)), []))
    ... except KeyboardInterrupt as interrupted:
    ...     print(interrupted, interrupted.contest.config.worlds)
    1 of 7 worlds were finished ('L1',)
    """

    def __init__(self, words: str, contest: Contest) -> None:
        super().__init__(words)
        self.contest = contest


class Contest(NamedTuple):
    """What came of it.

    Examples
    --------
    >>> tried = {"world": "L1", "learner": "nsm", "snr": None, "n_pairs": 1000}
    >>> config = Config(worlds=("L1",), learners=("nsm",), n_pairs=(1000,), n_seeds=3)
    >>> contest = Contest(config, [tried | {"seed": seed, "accuracy": 0.9 + seed / 100} for seed in range(3)])
    >>> contest.median("L1", "nsm", "accuracy"), contest.pairs_needed("L1", "nsm")
    (0.91, 1000)
    """

    config: Config
    """Of the worlds that were finished."""
    trials: list[dict[str, Any]]
    """What :func:`flymotion.contest.trials.trial` returns, of all."""

    def __repr__(self) -> str:
        return in_brief(self)

    def of(self, world: str, learner: str, measure: str, *, n_pairs: int = 0, snr: float | None = None) -> np.ndarray:
        """Return a measure in every seed, shape (n_seeds,), by default of the most pairs; NaN where there is none."""
        wanted = (world, learner, n_pairs or max(self.config.sizes(snr)), snr)
        told = [t[measure] for t in self.trials if (t["world"], t["learner"], t["n_pairs"], t["snr"]) == wanted]
        return np.array([np.nan if value is None else value for value in told], dtype=float)

    def median(self, world: str, learner: str, measure: str, **which: Any) -> float:
        """Return the median over seeds; NaN where one of them has none."""
        values = self.of(world, learner, measure, **which)
        return float(np.median(values)) if len(values) else float("nan")

    def pairs_needed(self, world: str, learner: str) -> int | None:
        """Return from how many pairs on the median accuracy is at least 0.9; None where it never is."""
        enough = [self.median(world, learner, "accuracy", n_pairs=n) >= NAMED for n in self.config.n_pairs]
        last = next((k for k in reversed(range(len(enough))) if not enough[k]), -1) + 1
        return self.config.n_pairs[last] if last < len(enough) else None

    def failures(self) -> Iterator[tuple[str, str, str]]:
        """Yield world, learner and words of each learner that could not learn or answer."""
        seen = {(t["world"], t["learner"], t["failed"]): None for t in self.trials if "failed" in t}
        yield from seen


def compete(
    worlds: Iterable[str] | None = None,
    learners: Iterable[str] | None = None,
    *,
    full: bool = False,
    out: str | Path = "flymotion-rivals",
    progress: Callable[[int, int, str], None] = lambda done, total, what: None,
    n_jobs: int = 2,
    **settings: Any,
) -> Contest:
    """Let learners compete: every one in every world, from few pairs and from many, in noise and without.

    Parameters
    ----------
    worlds, learners : iterable of str, optional
        Keys of :data:`~flymotion.contest.arenas.ARENAS` and :data:`~flymotion.contest.learners.LEARNERS`, the latter
        perhaps with a feature, ``"nsm:antisymmetric"``; all by default.
    full : bool
        More pairs, seeds and levels of noise, in up to half an hour instead of minutes.
    out : str or Path
        Folder for ``rivals.json``, which is the same in every run, ``timings.json``, which is not, ``rivals.md``, the
        tables, and ``rivals.png``; made if missing.
    progress : callable
        Called with the pieces of work done, their total, and the world that is being worked on.
    n_jobs : int
        Processes to work on.
    **settings : Any
        Fields of :class:`Config` instead of their own values, such as ``n_seeds``.

    Raises
    ------
    ValueError
        Unknown worlds, learners or features; settings out of range.
    WriteError
        A folder that cannot be written to, before any work.
    Unfinished
        Ctrl-C: what was finished is in the folder ``unfinished`` of ``out``.

    Examples
    --------
    >>> contest = compete(["L1"], ["nsm", "pca"], n_pairs=(500,), snrs=())  # doctest: +SKIP
    >>> round(contest.median("L1", "nsm", "accuracy"), 2)  # doctest: +SKIP
    0.91
    """
    config = _configured(worlds, learners, full, settings)
    with results(out, FILES) as files:
        trials: dict[str, list[dict[str, Any]]] = {}
        try:
            for world, found in _held(config, progress, n_jobs):
                trials[world] = [each for of in found.values() for tried in of.values() for each in tried]
        except KeyboardInterrupt as error:
            if not trials:
                raise
            told = f"{len(trials)} of {len(config.worlds)} worlds were finished: {files.folder / UNFINISHED}"
            raise Unfinished(told, _written(config, trials, files, unfinished=True)) from error
        return _written(config, trials, files)


def _configured(
    worlds: Iterable[str] | None, learners: Iterable[str] | None, full: bool, settings: Mapping[str, Any]
) -> Config:
    own: dict[str, Any] = {} if full else dict(QUICK)
    config = Config(**own | dict(settings))
    config = Config(
        **asdict(config)
        | ({} if worlds is None else {"worlds": tuple(dict.fromkeys(worlds))})
        | ({} if learners is None else {"learners": tuple(dict.fromkeys(learners))})
    )
    if unknown := [name for name in config.worlds if name not in ARENAS]:
        raise ValueError(f"there is no world {unknown[0]!r}; expected one of {', '.join(ARENAS)}")
    for name in config.learners:
        entry(name)
    if not config.worlds or not config.learners:
        raise ValueError("no world or no learner is named; expected at least one of each")
    if config.n_seeds < 1:
        raise ValueError(f"n_seeds is {config.n_seeds}; expected at least 1")
    if min(*config.n_pairs, config.n_noisy) < 2:
        raise ValueError(f"n_pairs is {config.n_pairs}, n_noisy {config.n_noisy}; expected at least 2 pairs")
    return config


def work(config: Config) -> dict[str, dict[str, dict[str, partial[list[dict[str, Any]]]]]]:
    """Return what there is to do, by world, by noise and seed, so that a course is drawn but once, and by learner."""
    most = max(*config.n_pairs, config.n_noisy)
    return {
        world: {
            f"{snr} {seed}": {
                name: partial(trial, world, name, config.sizes(snr), most, config.n_new, snr, seed)
                for name in config.learners
            }
            for snr in (None, *config.snrs)
            for seed in range(config.n_seeds)
        }
        for world in config.worlds
    }


def _held(config: Config, progress: Callable[[int, int, str], None], n_jobs: int) -> Iterator[tuple[str, Any]]:
    """Hold the contest, and yield what was found in each world, as soon as it is all there."""
    to_do = work(config)
    of, done = names(to_do), 0

    def tell() -> None:
        progress(done, len(of), of[min(done, len(of) - 1)])

    def one_more() -> None:
        nonlocal done
        done += 1
        tell()

    tell()
    return finished(to_do, on_cores(n_jobs, one_more))


def _written(
    config: Config, trials: Mapping[str, Sequence[dict[str, Any]]], files: Results, *, unfinished: bool = False
) -> Contest:
    """Write what came of the worlds that were finished."""
    from flymotion.contest.rivals_page import rivals_page
    from flymotion.contest.score_sheet import draw_contest
    from flymotion.plots.canvas import save_figure

    done = Config(**asdict(config) | {"worlds": tuple(trials)})
    contest = Contest(done, [each for world in trials.values() for each in world])
    _write_json(_untimed(contest), files.aside / "rivals.json")
    about = ("world", "learner", "snr", "seed", "n_pairs")
    timed = [{key: each[key] for key in (*about, *TIMES)} for each in contest.trials]
    _write_json({"unit": "microseconds a pair", "trials": timed}, files.aside / "timings.json")
    with whole(files.aside / "rivals.md") as place:
        place.write_text(rivals_page(contest), encoding="utf-8")
    save_figure(draw_contest(contest), files.aside / "rivals.png", source=SOURCE)
    files.keep(unfinished=unfinished)
    return contest


def _untimed(contest: Contest) -> dict[str, Any]:
    """Return what is the same in every run."""
    shown = ("source", "local", "knows", "feature", "signed", "baseline", "onto_next", "null")
    of = {name: entry(name)._asdict() for name in contest.config.learners}
    return {
        "settings": asdict(contest.config),
        "worlds": {name: ARENAS[name].words for name in contest.config.worlds},
        "measures": MEASURES,
        "learners": {name: {key: each[key] for key in shown} for name, each in of.items()},
        "trials": [{key: value for key, value in each.items() if key not in TIMES} for each in contest.trials],
    }


def _write_json(content: Any, path: Path) -> None:
    with whole(path) as place:
        place.write_text(json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + "\n", encoding="utf-8")

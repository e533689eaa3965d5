r"""Detectors learned from a video, beside the cells that the paper is about: T4 and T5 (Section 3.2; C30).

Four detectors are learned from patches of 5 x 5 pixels, as T4's inputs lie within two columns of its own, shown the
gratings that all detectors are shown (30 deg, 1 Hz), and half-wave rectified, as outputs of NSM are. A pixel of a
video is looked at through optics that are wide for the pixels' distance; taken for the acceptance functions of a fly,
pixels are 3.2 degrees apart (:func:`flymotion.detectors.of_learner`). Other wavelengths are reported.

What a detector has to beat is a rectified cosine: the curve of anything that takes the derivative in one direction of
content that is coarse. Real videos are learned from where they are given; otherwise one is made for every seed, a
photograph before a hand-held camera (:mod:`flymotion.claims.film`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flymotion.claims.film import film
from flymotion.claims.rows import Claim, above, below, report
from flymotion.claims.work import Each, in_turn
from flymotion.detectors import of_learner
from flymotion.generators import Generators
from flymotion.learner.sources import BUNDLED, learn, load_photographs
from flymotion.tuning import experiment
from flymotion.tuning.recordings import compare, published
from flymotion.world.scenes import photograph

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["TYPES", "Config", "Result", "Tuned", "check", "jobs", "run"]

TYPES = ("T4", "T5")

WAVELENGTH = 30.0
"""Of the gratings that are compared with [deg]."""

MADE = "made"
"""Stands for the videos that are made."""

FILMED = (96, 128)
"""Height and width of a video that is made [pixels]."""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Seeds, of each video.
    videos : tuple of str
        To learn from, each alone; without any, a video is made for every seed.
    n_pairs : int
        Pairs of patches to learn from, about.
    n_frames : int
        Of a video that is made.
    wavelengths : tuple of float
        Of gratings that are reported [deg].
    """

    n_seeds: int = 10
    videos: tuple[str, ...] = ()
    n_pairs: int = 60_000
    n_frames: int = 60
    wavelengths: tuple[float, ...] = (20.0, 40.0, 60.0)

    @classmethod
    def quick(cls) -> Config:
        """Return fewer seeds and pairs."""
        return cls(n_seeds=2, n_pairs=30_000)


class Tuned(NamedTuple):
    """What one seed learned.

    Attributes
    ----------
    generators : Generators
        The filters.
    beside : Dataset
        Its curves beside the cells', see :func:`flymotion.tuning.recordings.compare`.
    others : ndarray, shape (n_wavelengths, n_cells)
        Correlations with the cells' curves, of the other wavelengths.
    """

    generators: Generators
    beside: xr.Dataset
    others: np.ndarray


@dataclass(frozen=True)
class Result:
    """What was learned of each video, a seed after the other; by the path of the video, or :data:`MADE`."""

    config: Config
    tuned: dict[str, list[Tuned]]


def jobs(config: Config) -> list[partial[Any]]:
    """List the independent pieces of work."""
    return [
        partial(_learn_and_tune, config, video, seed)
        for video in config.videos or (None,)
        for seed in range(config.n_seeds)
    ]


def run(config: Config, each: Each = in_turn) -> Result:
    """Learn from every video and seed, and show gratings to what was learned."""
    names = list(config.videos) or [MADE]
    tuned = iter(each(jobs(config)))
    return Result(config, {name: [next(tuned) for _ in range(config.n_seeds)] for name in names})


def _learn_and_tune(config: Config, video: str | None, seed: int) -> Tuned:
    with TemporaryDirectory() as folder:
        source = _made(config, seed, Path(folder)) if video is None else video
        learner = learn([source], patch=5, n_pairs=config.n_pairs, seed=seed)
    detector, cells = of_learner(learner, rectify=True), published()

    def beside(wavelength: float) -> xr.Dataset:
        return compare(experiment("direction", detector, wavelength=wavelength), cells)

    others = np.array([beside(wavelength).correlation.values for wavelength in config.wavelengths])
    return Tuned(learner.generators_, beside(WAVELENGTH), others)


def _made(config: Config, seed: int, folder: Path) -> Path:
    images = load_photographs([BUNDLED])
    scene = photograph(images[seed % len(images)])
    return film(folder / "film.mp4", scene, FILMED, config.n_frames, random_state=[seed, 30])


# -- claims ----------------------------------------------------------------------------------------------------------


def check(result: Result) -> list[Claim]:
    """State C30."""
    seeds = result.config.n_seeds
    of_cosine = {kind: _mean_of("correlation_cosine", kind)(_all(result)[0]) for kind in TYPES}
    rows = [
        above(
            "C30.correlation",
            "correlation with the published direction tuning, mean of T4a-d, against that of a rectified cosine",
            _worst(result, _mean_of("correlation", "T4"), min),
            of_cosine["T4"],
            seeds=seeds,
            note=_by_video(result, _mean_of("correlation", "T4")),
        ),
        below(
            "C30.half_width",
            "half width of direction tuning, mean of the four detectors, off that of T4a-d",
            _worst(result, _off, max),
            15.0,
            seeds=seeds,
            unit="deg",
            note=f"T4a-d {_cells(result, 'half_width'):.1f}; detectors {_by_video(result, _of_model('half_width'))}",
        ),
        report(
            "C30.dsi",
            "direction selectivity index of the four detectors, (PD - ND) / (PD + ND)",
            _worst(result, _of_model("dsi"), min),
            seeds=seeds,
            note=f"T4a-d {_cells(result, 'dsi'):.2f}",
        ),
        report(
            "C30.correlation_t5",
            "correlation with the published direction tuning, mean of T5a-d",
            _worst(result, _mean_of("correlation", "T5"), min),
            seeds=seeds,
            note=f"a rectified cosine {of_cosine['T5']:.3f}; {_by_video(result, _mean_of('correlation', 'T5'))}",
        ),
    ]
    return rows + [_wavelength(result, k) for k in range(len(result.config.wavelengths))]


def _wavelength(result: Result, k: int) -> Claim:
    length = result.config.wavelengths[k]

    def correlation(one: Tuned) -> float:
        return float(one.others[k, _is(one, "T4")].mean())

    return report(
        f"C30.correlation_{length:.0f}",
        f"correlation with the published direction tuning, mean of T4a-d, gratings of {length:.0f} deg",
        _worst(result, correlation, min),
        seeds=result.config.n_seeds,
        note=_by_video(result, correlation),
    )


Measure = Callable[[Tuned], float]


def _all(result: Result) -> list[Tuned]:
    return [one for some in result.tuned.values() for one in some]


def _is(one: Tuned, kind: str) -> np.ndarray:
    return np.char.startswith(one.beside.cell.values.astype(str), kind)


def _mean_of(name: str, kind: str, **where: str) -> Measure:
    return lambda one: float(one.beside[name].sel(**where).values[_is(one, kind)].mean())


def _of_model(name: str) -> Measure:
    return _mean_of(name, "T4", curve="model")


def _off(one: Tuned) -> float:
    of_cells = _mean_of("half_width", "T4", curve="recording")
    return abs(_of_model("half_width")(one) - of_cells(one))


def _cells(result: Result, name: str) -> float:
    return _mean_of(name, "T4", curve="recording")(_all(result)[0])


def _worst(result: Result, measure: Measure, which: Callable[..., float]) -> float:
    return which(map(measure, _all(result)))


def _by_video(result: Result, measure: Measure) -> str:
    """Return the range over seeds of each video, in words."""
    ranges = {name: [measure(one) for one in some] for name, some in result.tuned.items()}
    return "; ".join(f"{Path(name).stem} {min(found):.3g} to {max(found):.3g}" for name, found in ranges.items())

r"""Detectors learned from a video, beside the cells that the paper is about: T4 and T5 (Section 3.2; C30).

Four detectors are learned from patches of 5 x 5 pixels, as T4's inputs lie within two columns of its own, shown the
gratings that all detectors are shown (30 deg, 1 Hz), and half-wave rectified, as outputs of NSM are; so is the cosine,
and so are all detectors beside the recordings (:func:`flymotion.detectors.rectified`). A pixel of a
video is looked at through optics that are wide for the pixels' distance; taken for the acceptance functions of a fly,
pixels are 3.2 degrees apart (:func:`flymotion.detectors.of_learner`). Other wavelengths are reported.

What a detector has to beat is a rectified cosine: the curve of anything that takes the derivative in one direction of
content that is coarse. Real videos are learned from where they are given; otherwise one is made for every seed, a
photograph before a hand-held camera (:func:`film`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr
from scipy.signal import lfilter

from flymotion.claims.rows import Claim, above, below, report
from flymotion.claims.running import Found, Work, each_seed
from flymotion.detectors import of_learner
from flymotion.generators import Generators
from flymotion.learner.sources import BUNDLED, learn, load_photographs
from flymotion.plots.canvas import new_figure, signed_colours, symmetric_limit, verbatim
from flymotion.plots.panels import add_legend, share_labels
from flymotion.tuning import experiment
from flymotion.tuning.recordings import compare, published
from flymotion.video import open_movie
from flymotion.world.eyes import Grid
from flymotion.world.rendering import render
from flymotion.world.scenes import FlatScene, photograph
from flymotion.writing import whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "Tuned", "check", "figures", "film", "hand_held", "work"]

CLAIMS = {"C30": "detectors learned from video are tuned like T4"}

KINDS = {"a": ("left", 180.0), "b": ("right", 0.0), "c": ("up", 90.0), "d": ("down", 270.0)}
"""Subtypes of T4 and T5, and what they prefer [deg]."""

WAVELENGTH = 30.0
"""Of the gratings that are compared with [deg]."""

FILMED, RATE = (96, 128), 25
"""Height and width of a video that is made [pixels], and its frames per second."""

SPEED, STEADINESS = 0.4, 0.8
"""Of the camera's velocity along each axis: standard deviation [pixels per frame], correlation from frame to frame."""

QUALITY = {"crf": "23", "preset": "veryfast", "threads": "1"}
"""Of the encoder: libx264's own default quality; one thread, as its results depend on their number."""


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

    Raises
    ------
    OSError, ValueError
        A video that cannot be opened, before any work.
    """

    n_seeds: int = 10
    videos: tuple[str, ...] = ()
    n_pairs: int = 60_000
    n_frames: int = 60
    wavelengths: tuple[float, ...] = (20.0, 40.0, 60.0)

    def __post_init__(self) -> None:
        for video in self.videos:
            open_movie(video)


QUICK = {"n_seeds": 2, "n_pairs": 30_000}


class Tuned(NamedTuple):
    """What one seed learned."""

    generators: Generators
    beside: xr.Dataset
    """Curves beside the cells', see :func:`flymotion.tuning.recordings.compare`, by the wavelength of the gratings."""


def work(config: Config) -> Work:
    """Learn from every video and seed, and show gratings to what was learned."""
    videos = _by_name(config.videos).items()
    return {name: each_seed(_learn_and_tune, config.n_seeds, config, video) for name, video in videos}


def _by_name(videos: Sequence[str]) -> Mapping[str, str | None]:
    """Name videos, by their paths where two have one stem; without any, one that is to be made."""
    stems = [Path(video).stem for video in videos]
    names = stems if len(set(stems)) == len(stems) else map(str, videos)
    return dict(zip(names, videos, strict=True)) if videos else {"made": None}


def _learn_and_tune(config: Config, video: str | None, seed: int) -> Tuned:
    with TemporaryDirectory() as folder:
        source = _made(config, seed, Path(folder)) if video is None else video
        learner = learn([source], patch=5, n_pairs=config.n_pairs, seed=seed)
    detector, lengths = of_learner(learner, rectify=True), list(dict.fromkeys((WAVELENGTH, *config.wavelengths)))
    beside = [compare(experiment("direction", detector, wavelength=length), published()) for length in lengths]
    return Tuned(learner.generators_, xr.concat(beside, "wavelength").assign_coords(wavelength=lengths))


def _made(config: Config, seed: int, folder: Path) -> Path:
    images = load_photographs([BUNDLED])
    scene = photograph(images[seed % len(images)])
    return film(folder / "film.mp4", scene, FILMED, config.n_frames, random_state=[seed, 30])


def hand_held(n_frames: int, random_state: Any = None) -> np.ndarray:
    """Return the path of a hand-held camera, whose velocity is noise with a memory of some frames.

    Places are (x right, y down), about 0 [pixels], shape (n_frames, 2).
    """
    pushes = np.random.default_rng(random_state).standard_normal((n_frames + 50, 2))
    velocity = lfilter([SPEED * np.sqrt(1 - STEADINESS**2)], [1, -STEADINESS], pushes, axis=0)[50:]
    places = np.cumsum(velocity, axis=0)
    return places - places.mean(axis=0)


def film(
    path: Path, scene: FlatScene, shape: tuple[int, int], n_frames: int, *, noise: float = 2.0, random_state: Any = None
) -> Path:
    """Film a scene of grey levels of 0 to 255 with a hand-held camera, with noise [grey levels], and write the video.

    Height and width are even [pixels].
    """
    import av

    rng = np.random.default_rng(random_state)
    frames = render(scene, Grid(*shape), scene.extent.mean(axis=1) + hand_held(n_frames, rng))
    frames = np.clip(np.rint(frames + noise * rng.standard_normal(frames.shape)), 0, 255).astype(np.uint8)
    with whole(path) as place, av.open(str(place), "w") as container:
        stream = container.add_stream("libx264", rate=RATE, options=QUALITY)
        stream.height, stream.width, stream.pix_fmt = *shape, "yuv420p"
        for number, image in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(image, format="gray").reformat(format="yuv420p")
            frame.pts, frame.time_base = number, Fraction(1, RATE)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C30."""
    beside = {video: xr.concat(tuned.beside, "seed") for video, tuned in found.items()}

    def mean(name: str, kind: str = "T4", **where: Any) -> dict[str, np.ndarray]:
        """Return the mean over the four cells of a kind, for each seed, by video."""
        of_kind = {"cell": [kind + which for which in KINDS], "wavelength": WAVELENGTH} | where
        return {video: one[name].sel(of_kind).mean("cell").values for video, one in beside.items()}

    def given(name: str, kind: str = "T4", **where: Any) -> float:
        """Return the same of the cells, whatever was learned."""
        return float(next(iter(mean(name, kind, **where).values()))[0])

    title, cosine = "correlation with the published direction tuning, mean of", given("correlation_cosine")
    beaten = f"{title} T4a-d, against that of a rectified cosine"
    yield above("C30.correlation", beaten, mean("correlation"), cosine)
    cells, widths = given("half_width", curve="recording"), mean("half_width", curve="model")
    off = {video: np.abs(width - cells) for video, width in widths.items()}
    told = "; ".join(f"{video} {width.min():.3g} to {width.max():.3g}" for video, width in widths.items())
    name = "half width of direction tuning, mean of the four detectors, off that of T4a-d"
    yield below("C30.half_width", name, off, 15.0, unit="deg", note=f"T4a-d {cells:.1f}; detectors {told}")
    name = "direction selectivity index of the four detectors, (PD - ND) / (PD + ND)"
    note = f"T4a-d {given('dsi', curve='recording'):.2f}"
    yield report("C30.dsi", name, mean("dsi", curve="model"), worst=np.min, note=note)
    note = f"a rectified cosine {given('correlation_cosine', 'T5'):.3f}"
    yield report("C30.correlation_t5", f"{title} T5a-d", mean("correlation", "T5"), worst=np.min, note=note)
    for length in config.wavelengths:
        name, correlation = f"{title} T4a-d, gratings of {length:.0f} deg", mean("correlation", wavelength=length)
        yield report(f"C30.correlation_{length:.0f}", name, correlation, worst=np.min)


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw each cell's direction tuning beside what was learned, and the filters of the first video and seed.

    Of every video the mean over seeds, and the range of the seeds; of each filter the weights of the middle pixel's
    change onto the intensities, as they were learned, on whitened frames.
    """
    figure = new_figure(10.5, 7.6)
    grid = figure.subplots(3, 4)
    panels = list(grid[:2].flat)
    beside = {video: xr.concat(tuned.beside, "seed").sel(wavelength=WAVELENGTH) for video, tuned in found.items()}
    for axes, cell in zip(panels, next(iter(beside.values())).cell.values.tolist(), strict=True):
        _draw_cell(axes, {video: one.sel(cell=cell) for video, one in beside.items()})
        axes.set_title(cell, fontsize=10)
    share_labels(panels, 4)
    _draw_middle_rows(figure, grid[2], next(iter(found.values())).generators[0])
    add_legend(figure, panels)
    return {"cells": figure}


def _draw_cell(axes: Axes, beside: Mapping[str, xr.Dataset]) -> None:
    for k, (video, one) in enumerate(beside.items()):
        axes.plot(one.direction, one.model.mean("seed"), color=f"C{k}", label=f"learned, {verbatim(video)} video")
        ends = one.model.min("seed"), one.model.max("seed")
        axes.fill_between(one.direction, *ends, color=f"C{k}", alpha=0.25, linewidth=0)
    first = next(iter(beside.values())).isel(seed=0)
    axes.plot(first.direction, first.recording, color="black", marker=".", linewidth=1.2, label="recorded")
    axes.plot(first.direction, first.cosine, color="0.6", linestyle=":", label="rectified cosine")
    axes.set_xticks(range(0, 361, 90))
    axes.set(xlim=(-12, 342), ylim=(-0.03, 1.05), xlabel="direction of motion [deg]", ylabel="response / largest")


def _draw_middle_rows(figure: Figure, panels: np.ndarray, generators: Generators) -> None:
    rows, directions = generators.rows(), generators.directions()
    limit = symmetric_limit(rows)
    style: dict[str, Any] = {"cmap": signed_colours(), "vmin": -limit, "vmax": limit, "interpolation": "nearest"}
    for axes, (kind, (name, preferred)) in zip(panels, KINDS.items(), strict=True):
        nearest = int(np.argmax(np.cos(np.radians(directions - preferred))))
        image = axes.imshow(rows[nearest], **style)
        axes.set_title(f"filter like {kind}: {name}", fontsize=10)
        axes.set_xticks(range(rows.shape[2]), [str(i + 1) for i in range(rows.shape[2])])
        axes.set_yticks(range(rows.shape[1]), [str(i + 1) for i in range(rows.shape[1])])
        axes.tick_params(length=0, labelsize=7)
        axes.set_xlabel("intensity, column", fontsize=8)
    panels[0].set_ylabel("intensity, row", fontsize=8)
    figure.colorbar(image, ax=list(panels), label="weight of the\nmiddle pixel's change", aspect=12)

r"""Detectors learned from a video, beside the cells that the paper is about: T4 and T5 (Section 3.2; C30).

Four detectors are learned from patches of 5 x 5 pixels, as T4's inputs lie within two columns of its own, shown the
gratings that all detectors are shown (30 deg, 1 Hz), and half-wave rectified, as outputs of NSM are; so is the cosine,
and so are all detectors beside the recordings (:func:`flymotion.detectors.rectified`). A pixel of a
video is looked at through optics that are wide for the pixels' distance; taken for the acceptance functions of a fly,
pixels are 3.2 degrees apart (:func:`flymotion.detectors.of_learner`). Other wavelengths are reported.

What they have to beat is every null (``nearness``): a rectified cosine, which is the curve of anything that takes the
derivative in one direction of content that is coarse; models that were not learned (``unlearned``); and random filters,
what learning starts from, and averages by label, of the same video. Real videos are learned from where they are given;
otherwise one is made for every seed, a photograph before a hand-held camera (``filming``), and every row says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from flymotion.claims.cells.filming import film
from flymotion.claims.cells.nearness import KINDS, WAVELENGTH, Tuned, state
from flymotion.claims.cells.unlearned import filters_beside, models, shown
from flymotion.claims.rows import Claim
from flymotion.claims.running import Found, Work, each_seed
from flymotion.detectors import of_learner
from flymotion.generators import Generators
from flymotion.learner.sources import BUNDLED, learn, load_photographs
from flymotion.plots.canvas import new_figure, signed_colours, symmetric_limit, verbatim
from flymotion.plots.panels import add_legend, share_labels
from flymotion.video import open_movie
from flymotion.world.scenes import photograph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "check", "figures", "work"]

CLAIMS = {"C30": "detectors learned from video are tuned like T4"}

FILMED = 96, 128
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


def work(config: Config) -> Work:
    """Learn from every video and seed, and show gratings to what was learned, and to models that were not."""
    videos = _by_name(config.videos).items()
    learned = {name: each_seed(_learn_and_tune, config.n_seeds, config, video) for name, video in videos}
    return {"videos": learned, "models": models}


def _by_name(videos: Sequence[str]) -> Mapping[str, str | None]:
    """Name videos, by their paths where two have one stem; without any, one that is to be made."""
    stems = [Path(video).stem for video in videos]
    names = stems if len(set(stems)) == len(stems) else map(str, videos)
    return dict(zip(names, videos, strict=True)) if videos else {"made": None}


def _learn_and_tune(config: Config, video: str | None, seed: int) -> Tuned:
    with TemporaryDirectory() as folder:
        source = _made(config, seed, Path(folder)) if video is None else video
        learner = learn([source], patch=5, n_pairs=config.n_pairs, seed=seed)
        nulls = filters_beside(learner, source, seed)
    detector, lengths = of_learner(learner, rectify=True), list(dict.fromkeys((WAVELENGTH, *config.wavelengths)))
    beside = [shown(detector, wavelength=length) for length in lengths]
    return Tuned(
        learner.generators_,
        xr.concat(beside, "wavelength").assign_coords(wavelength=lengths),
        {name: shown(null, wavelength=WAVELENGTH) for name, null in nulls.items()},
    )


def _made(config: Config, seed: int, folder: Path) -> Path:
    images = load_photographs([BUNDLED])
    scene = photograph(images[seed % len(images)])
    return film(folder / "film.mp4", scene, FILMED, config.n_frames, random_state=[seed, 30])


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C30."""
    for row in state(found["videos"], found["models"], config.wavelengths):
        said = "" if config.videos else "made video, as no real one was given: photographs before a hand-held camera"
        yield replace(row, note="; ".join(part for part in (row.note, said) if part))


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw each cell's direction tuning beside what was learned, and the filters of the first video and seed.

    Of every video the mean over seeds, and the range of the seeds; of each filter the weights of the middle pixel's
    change onto the intensities, as they were learned, on whitened frames.
    """
    figure = new_figure(10.5, 7.6)
    grid = figure.subplots(3, 4)
    panels = list(grid[:2].flat)
    beside = {
        video: xr.concat(tuned.beside, "seed").sel(wavelength=WAVELENGTH) for video, tuned in found["videos"].items()
    }
    for axes, cell in zip(panels, next(iter(beside.values())).cell.values.tolist(), strict=True):
        _draw_cell(axes, {video: one.sel(cell=cell) for video, one in beside.items()})
        axes.set_title(cell, fontsize=10)
    share_labels(panels, 4)
    _draw_middle_rows(figure, grid[2], next(iter(found["videos"].values())).generators[0])
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

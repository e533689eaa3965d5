r"""The summed signal against contrast, without and with normalisation before the detector (C17).

Normalisation divides by :math:`\sqrt{c^2 + P}`, P the power of the pool's contrasts, so that the output of a grating is
:math:`\propto P / (c^2 + P)`, of slope :math:`2 c^2 / (c^2 + P)`, whatever multiplies then. The constant c is what
photographs say, not chosen: their local contrast, standard deviation over mean of the luminances of as many pixels as
the pool has. Its median, which half of all places exceed, and its root mean square, which the few places of much
contrast decide, are far apart, so both are claimed.

Gratings are shown about their mean, and photographs, which move at nearly the gratings' speed, about that of the pool.
The reconstruction model's slope, the third of C17's measures, is in ``reconstruction_contrast``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flymotion.claims.beside import beside
from flymotion.claims.passing import FINE, moving, photographed_rows
from flymotion.claims.rows import Claim, below, within
from flymotion.claims.summed_signal.lookers import DT, NAMES, TAU, Config, Looking, mark, nulls_of
from flymotion.detectors import Detector
from flymotion.detectors.temporal import Delay
from flymotion.photoreceptors import DivisiveNormalization
from flymotion.plots.canvas import new_figure
from flymotion.stimuli import drifting_grating
from flymotion.tuning import tune
from flymotion.world.eyes import Grid, Line, acceptance_sigma

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["SCENES", "STAGES", "Contrasts", "draw", "local_contrasts", "measure", "slopes", "state"]

SPEED = 0.1
"""Of photographs [pixels per frame]: 50 deg/s, where gratings of 40 deg and 1 Hz move at 40."""

N_ROWS = 64
"""Rows of photographs, evenly spaced, of both in turns: they fix the constants, and are shown."""

SCENES = {
    "grating": "contrast of a grating of 1 Hz (Michelson)",
    "photographs": "contrast of photographs (of their own)",
}
"""What is shown, and what its contrasts are called."""

STAGES = {
    "plain": "signals as they are",
    "median": "normalised by the photographs' median local contrast",
    "rms": "normalised by its root mean square",
}


class Contrasts(NamedTuple):
    """Mean responses, stages as ``STAGES``."""

    grating: np.ndarray
    """Shape (n_stages, n_contrasts, n_readings)."""
    photographs: np.ndarray
    """Shape (n_stages, n_contrasts, n_readings)."""
    constants: np.ndarray
    """Of the two that normalise: median and root mean square of the photographs' local contrast, shape (2,)."""


@cache
def _profiles() -> np.ndarray:
    return photographed_rows(N_ROWS)


def local_contrasts(pool: int) -> dict[str, float]:
    """Return the median and the root mean square of photographs' local contrast, of pools of pixels in a row."""
    luminance = _profiles()[:, ::FINE]
    pools = np.lib.stride_tricks.sliding_window_view(luminance, pool, axis=1)
    contrast = pools.std(axis=-1) / pools.mean(axis=-1)
    return {"median": float(np.median(contrast)), "rms": float(np.sqrt((contrast**2).mean()))}


def measure(config: Config, looking: Looking) -> Contrasts:
    """Return mean responses to a grating of 1 Hz, and to photographs, by what comes before and contrast."""
    detector = looking.make(Delay(TAU))
    pool = 2 * round(config.wavelength / detector.spacing)  # whole wavelengths, so the pool's power is constant
    constants = list(local_contrasts(pool).values())
    stages = [None, *(DivisiveNormalization(constant).fit(np.zeros((1, pool))) for constant in constants)]
    eye = Grid(1, pool, acceptance_sigma(detector.acceptance, detector.spacing))
    stimulus = partial(drifting_grating, wavelength=config.wavelength, duration=TAU + DT)
    settings: dict[str, Any] = {"dt": DT, "settle": TAU, "repeats": 3, "eye": eye}  # three phases: no oscillation left
    design: dict[str, Any] = {"contrast": config.contrasts}
    of_grating = [tune(detector, stimulus, design, early_vision=stage, **settings).response.values for stage in stages]
    shown = _photographs(config, pool)
    of_photographs = [_seen(config, detector, shown, stage) for stage in stages]
    grating, photographs = (looking.read(np.stack(means), detector) for means in (of_grating, of_photographs))
    return Contrasts(grating, photographs, np.array(constants))


def _photographs(config: Config, pool: int) -> np.ndarray:
    """Return contrasts about the mean of the pool, evenly spaced places, shape (n_movies, n_frames, pool)."""
    profiles, length = _profiles(), FINE * (pool + round(config.n_frames * SPEED) + 1)
    starts = np.linspace(0, profiles.shape[1] - length, config.n_places).astype(int)
    parts = np.concatenate([profiles[:, start : start + length] for start in starts])
    luminance = moving(parts, pool, config.n_frames, SPEED)
    return luminance / luminance.mean(axis=-1, keepdims=True) - 1


def _seen(config: Config, detector: Detector, shown: np.ndarray, stage: Any) -> np.ndarray:
    """Return mean responses, shape (n_contrasts[, n_units]); to what is not normalised, by the square of contrast."""
    middle = slice(shown.shape[-1] // 4, -(shown.shape[-1] // 4))  # enough for every detector, in half the time
    delay = round(TAU / DT)
    means = []
    for contrast in config.contrasts:
        movies = contrast * shown
        frames = movies if stage is None else stage.transform(movies.reshape(-1, shown.shape[-1])).reshape(shown.shape)
        responses = detector(frames[..., middle], DT, eye=Line(shown.shape[-1] // 2))
        means.append(responses[:, delay:].mean(axis=(0, 1, 2)))
    return np.array(means)


def slopes(config: Config, means: np.ndarray) -> np.ndarray:
    """Log-log slopes of responses, shape (..., n_contrasts, n_readings), between neighbouring contrasts."""
    return np.diff(np.log(np.abs(means)), axis=-2) / np.diff(np.log(config.contrasts))[:, None]


def state(config: Config, name: str, means: Contrasts) -> Iterator[Claim]:
    """State C17 of one detector."""
    steepness = {scene: slopes(config, getattr(means, scene)) for scene in SCENES}
    id, title = f"C17.{name.replace('-', '_')}", f"log-log slope of the summed output in contrast, {NAMES[name]}"
    least, largest = (" and ".join(f"{c:.2g}" for c in ends) for ends in (config.contrasts[:2], config.contrasts[-2:]))
    gratings = f"grating of {config.wavelength:g} deg, 1 Hz; photographs of so many times their contrast; contrasts"
    note = f"{gratings} {least}; algebra of any sum of products"
    row = within(id, title, {scene: found[:, 0, 0, 0] for scene, found in steepness.items()}, 1.95, 2.05, note=note)
    yield from beside(row, **nulls_of(name, steepness["grating"][:, 0, 0], "random"))
    for k, (stage, constant) in enumerate(zip(("median", "rms"), means.constants[0], strict=True), 1):
        suffix, words = {"median": ("", "median"), "rms": ("_rms", "root mean square")}[stage]
        told = f"half-saturation the {words} of photographs' local contrast, {constant:.3g}"
        normalised = f"{title}, normalised before it by the {words} of photographs' local contrast"
        by = {scene: found[:, k, 0, 0] for scene, found in steepness.items()}
        alike = "a stage before any sum of products does this"
        note = f"{gratings} {least}; {told}; of gratings, {alike}"
        yield within(f"{id}_low{suffix}", normalised, by, 1.95, 2.05, note=note)
        note = f"contrasts {largest}; {told}"
        values = {scene: np.abs(found[:, k, -1]) for scene, found in steepness.items()}
        yield below(
            f"{id}_high{suffix}", f"{normalised}, grating", values["grating"][:, 0], 0.3, note=f"{note}; {alike}"
        )
        row = below(
            f"{id}_high{suffix}_photographs",
            f"{normalised}, photographs",
            values["photographs"][:, 0],
            0.3,
            note=f"{note}, of the photographs' own",
        )
        yield from beside(row, **nulls_of(name, values["photographs"]))


def draw(config: Config, found: Mapping[str, Contrasts]) -> Figure:
    """Draw the summed output against contrast, without and with normalisation before the detector; first seeds."""
    figure = new_figure(10.4, 5.4)
    panels = figure.subplots(1, 2)
    for axes, scene in zip(panels, SCENES, strict=True):
        for k, stage in enumerate(STAGES.values()):
            for name, means in found.items():
                curve = np.abs(getattr(means, scene)[0, k, :, 0])
                axes.loglog(config.contrasts, curve / curve[0], color=f"C{k}", **mark(name) | {"label": None})
            axes.loglog(config.contrasts, curve / curve[0], color=f"C{k}", linewidth=1, label=stage)
            last = slopes(config, getattr(means, scene))[0, k, -1, 0]
            style: dict[str, Any] = {"textcoords": "offset points", "color": f"C{k}", "va": "center"}
            axes.annotate(f"slope {last:.2f}", (config.contrasts[-1], curve[-1] / curve[0]), xytext=(10, 0), **style)
        for name in found:
            axes.plot([], [], color="black", **mark(name))
        axes.set(xlabel=SCENES[scene], ylabel="mean output, relative to the least contrast")
        axes.set_xlim(right=4.5)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    figure.suptitle("summed output against contrast; slopes at the upper end", fontsize=11)
    return figure

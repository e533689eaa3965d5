"""The summed signal against contrast, without and with normalisation before the detector (C17)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.claims.rows import Claim, below, within
from flymotion.claims.summed_signal.lookers import DT, NAMES, TAU, Config, Looking, mark
from flymotion.detectors.temporal import Delay
from flymotion.photoreceptors import DivisiveNormalization
from flymotion.plots.canvas import new_figure
from flymotion.stimuli import drifting_grating
from flymotion.tuning import tune
from flymotion.world.eyes import Grid, acceptance_sigma

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw", "measure", "slopes", "state"]


def measure(config: Config, looking: Looking) -> np.ndarray:
    """Return mean responses to a grating of 1 Hz, without and with normalisation, (2, n_contrasts, n_readings)."""
    detector = looking.make(Delay(TAU))
    pool = 2 * round(config.wavelength / detector.spacing)  # whole wavelengths, so the pool's power is constant
    eye = Grid(1, pool, acceptance_sigma(detector.acceptance, detector.spacing))
    stimulus = partial(drifting_grating, wavelength=config.wavelength, duration=TAU + DT)
    stages = (None, DivisiveNormalization(config.half_saturation).fit(np.zeros((1, pool))))
    settings: dict[str, Any] = {"dt": DT, "settle": TAU, "repeats": 3, "eye": eye}  # three phases: no oscillation left
    design: dict[str, Any] = {"contrast": config.contrasts}
    means = [tune(detector, stimulus, design, early_vision=stage, **settings) for stage in stages]
    return np.stack([looking.opponent(mean.response.values, detector) for mean in means])


def slopes(config: Config, means: np.ndarray) -> np.ndarray:
    """Log-log slopes of the response in contrast between neighbours, shape (n_seeds, 2, n_contrasts - 1)."""
    return np.diff(np.log(np.abs(means[..., 0])), axis=2) / np.diff(np.log(config.contrasts))


def state(config: Config, name: str, means: np.ndarray) -> Iterator[Claim]:
    """State C17 of one detector."""
    plain, normalised = slopes(config, means).swapaxes(0, 1)
    id, title = f"C17.{name.replace('-', '_')}", f"log-log slope of the summed output in contrast, {NAMES[name]}"
    least, largest = (" and ".join(f"{c:.2g}" for c in ends) for ends in (config.contrasts[:2], config.contrasts[-2:]))
    note = f"grating of {config.wavelength:g} deg, 1 Hz, contrasts "
    yield within(id, title, plain[:, 0], 1.95, 2.05, note=f"{note}{least}")
    title, pool = (
        f"{title}, normalised before it",
        f"half-saturation at a root mean square of {config.half_saturation:g}",
    )
    yield within(f"{id}_low", title, normalised[:, 0], 1.95, 2.05, note=f"{note}{least}; {pool}")
    yield below(f"{id}_high", title, normalised[:, -1], 0.3, note=f"{note}{largest}; {pool}")


def draw(config: Config, found: Mapping[str, np.ndarray]) -> Figure:
    """Draw the summed output against contrast, without and with normalisation before the detector; first seeds."""
    figure = new_figure(6.4, 4.8)
    axes = figure.subplots()
    for k, stage in enumerate(("signals as they are", "signals normalised")):
        for name, means in found.items():
            curve = means[0, k, :, 0] / means[0, k, 0, 0]
            axes.loglog(config.contrasts, curve, color=f"C{k}", **mark(name) | {"label": None})
        axes.loglog(config.contrasts, curve, color=f"C{k}", linewidth=1, label=stage)
        first, *_, last = slopes(config, means)[0, k]
        style: dict[str, Any] = {"textcoords": "offset points", "color": f"C{k}"}
        at, ha = (((0, 18), "center"), ((16, -6), "left"))[k]
        axes.annotate(f"slope {first:.2f}", (config.contrasts[0], 1.0), xytext=at, ha=ha, **style)
        axes.annotate(f"slope {last:.2f}", (config.contrasts[-1], curve[-1]), xytext=(-8, 12), ha="right", **style)
    for name in found:
        axes.plot([], [], color="black", **mark(name))
    axes.set(xlabel="contrast (Michelson)", ylabel="mean output, relative to the least contrast")
    axes.set_title(f"grating of {config.wavelength:g} deg, 1 Hz; slopes at both ends", fontsize=10)
    axes.margins(0.12)
    axes.legend(fontsize=8, loc="upper left")
    return figure

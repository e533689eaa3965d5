r"""Units that add their inputs multiply them too, by the nonlinearity of their output (Section 3.2; C31).

A motion detector needs the product of a change at one pixel and the intensities beside it. A linear-nonlinear unit adds
up a change g and two intensities f; the square of that sum holds the products 2 w_g w_f g f, and of a unit and its
mirror image the difference holds nothing else. So does, in part, any bent output. In a unit of conductances (Gruntman
et al. 2018), :math:`(E - a I) / (1 + E + I)`, the fast excitation E stands for the change, and the slow inhibition I
for the intensity. How much of a unit's output is the product, a regression on its own inputs tells.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from flymotion.claims.beside import Null, beside
from flymotion.claims.product_terms import EXPONENTS, GAINS, OTHERS, STRENGTHS, THRESHOLDS, Scanned, scan, shares
from flymotion.claims.rows import Claim, report
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.worlds import WORLDS
from flymotion.detectors import Detector, gruntman, linear_nonlinear
from flymotion.plots.canvas import new_figure
from flymotion.stimuli import drifting_grating
from flymotion.world.eyes import Line
from flymotion.world.rendering import render

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "STIMULI", "UNITS", "Config", "Shares", "check", "figures", "shares", "work"]

CLAIMS = {"C31": "units that add multiply, too, by their output nonlinearity"}

DT = 0.02
"""Time between frames [s]."""

STEP = 0.01
"""What one frame was to the learner of L1 [s]: shifts of up to 0.1 pixels a frame are up to 50 deg/s."""

SETTLE = 1.5
"""When the filters have settled [s]: ten time constants."""

MARGIN = 3
"""Pixels on either side of a position that the widest unit and its mirror image look at."""

SPACING = 5.0

BOTH = (0.0, 180.0)
"""Preferred directions of a unit and of its mirror image [deg]."""

Respond = Callable[[Detector], np.ndarray]
"""Shows the movies to a detector and its mirror image."""

UNITS = {"half_wave": "half-wave rectified sum", "squared": "squared sum", "gruntman": "conductances (Gruntman)"}
"""Units, and their names."""

MEANING = (
    "half of a rectified sum is the sum itself, whose mean is 0; the rest bends much as a square does",
    "a squared sum holds the product, and the difference of mirror images nothing else",
    "the voltage is nearly linear; what little tells direction in its mean is mostly the product",
)
"""What the figures say of each unit."""

MEANT = {
    "power": ("threshold [standard deviations]", "exponent"),
    "logistic": ("threshold [standard deviations]", "gain [1 / standard deviation]"),
    "conductances": ("strength of excitation", "strength of inhibition"),
}
"""Parameters of units; strengths are times those of the unit above."""

SENTENCE = (
    'Sec. 3.2: "the neuronal output nonlinearity can generate multiplicative terms for outer product computation"'
)

STIMULI = {"gratings": "gratings", "noise": "noise of L1"}
"""What is shown, and its name."""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Scenes of noise.
    n_speeds, n_positions : int
        Speeds of each scene, each both ways, and positions that look at it.
    noise_contrast : float
        Standard deviation of the noise before the optics.
    wavelengths, frequencies, contrasts : tuple of float
        Of the gratings: all combinations, each both ways [deg], [Hz], Michelson.
    """

    n_seeds: int = 10
    n_speeds: int = 100
    n_positions: int = 8
    noise_contrast: float = 0.3
    wavelengths: tuple[float, ...] = (20.0, 30.0, 40.0, 60.0)
    frequencies: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
    contrasts: tuple[float, ...] = (0.25, 0.5)


QUICK = {"n_seeds": 2}


class Shares(NamedTuple):
    """What the product of change and intensity explains, for each of :data:`UNITS`."""

    product: np.ndarray
    """Of the variance, what no other term of second order or less explains; of one unit's output, and of a unit's less
    its mirror image's, shape (n_units, 2)."""
    alone: np.ndarray
    """The same, what the product alone explains, shape (n_units, 2)."""
    quadratic: np.ndarray
    """The same of all terms up to second order, shape (n_units, 2)."""
    selectivity: np.ndarray
    """Difference between the mean outputs of one unit to motion right and left, over their sum, shape (n_units,)."""
    made: np.ndarray
    """What the product makes of it, shape (n_units,)."""
    scanned: Scanned
    """Shares of units of other parameters, and of nulls."""


def work(config: Config) -> Work:
    """Show gratings and noise to all units, and take their outputs apart."""
    return {"gratings": partial(_show_gratings, config), "noise": each_seed(_show_noise, config.n_seeds, config)}


def _show_gratings(config: Config) -> Shares:
    eye = Line(2 * MARGIN + 1, WORLDS["L1"].sigma)
    points = list(itertools.product(BOTH, config.wavelengths, config.frequencies, config.contrasts))
    movies = [
        drifting_grating(
            wavelength=length,
            temporal_frequency=frequency,
            direction=direction,
            contrast=contrast,
            phase=0.0,
            duration=SETTLE + 2.0,  # whole periods
        ).movie(eye, DT, spacing=SPACING)
        for direction, length, frequency, contrast in points
    ]
    return _take_apart(np.stack(movies), eye, _kept(1))


def _show_noise(config: Config, seed: int) -> Shares:
    world = WORLDS["L1"]
    rng = np.random.default_rng([seed, 31])
    scene, eye = world.scene(rng), Line(2 * MARGIN + config.n_positions, world.sigma)
    speeds = np.linspace(0, world.max_shift * DT / STEP, config.n_speeds + 1)[1:]
    low, high = scene.extent[0]
    middles = rng.uniform(low, high, config.n_speeds)
    steps = np.arange(round((SETTLE + 0.5) / DT))
    steps = steps - steps[_kept(5)].mean()  # so that motion either way passes the same content
    places = np.tile(middles, 2)[:, None] - np.concatenate([speeds, -speeds])[:, None] * steps
    movies = config.noise_contrast * render(scene, eye, places.reshape(-1, 1))
    return _take_apart(movies.reshape(*places.shape, -1), eye, _kept(5))


def _kept(every: int) -> slice:
    """Return some frames after the filters have settled."""
    return slice(round(SETTLE / DT), None, every)


# -- units -----------------------------------------------------------------------------------------------------------


def _inputs_of_sums(respond: Respond) -> np.ndarray:
    """Return the three inputs of the linear-nonlinear unit, the change first, shape (..., 3)."""
    weights = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    both = [[respond(linear_nonlinear(tuple(sign * w)))[..., 0] for w in weights] for sign in (1, -1)]
    return np.stack(both[0], axis=-1) - np.stack(both[1], axis=-1)


def _inputs_of_conductances(respond: Respond) -> np.ndarray:
    """Return E, and I of the unit of conductances and of its mirror image, shape (..., 3).

    E of the mirror image is the same but for the tails, 0.1 %, of its Gaussian.
    """
    excited, inhibited = (respond(gruntman(reversals=only)) for only in ((1.0, 0.0), (0.0, 1.0)))
    leak = 1 - excited - inhibited  # of E / (1 + E + I) and I / (1 + E + I) this is what 1 / (1 + E + I) is
    return np.concatenate([(excited / leak)[..., :1], inhibited / leak], axis=-1)


def _take_apart(movies: np.ndarray, eye: Line, kept: slice) -> Shares:
    """Show movies, shape (n_movies, n_frames, n_pixels), the first half of motion right, the others of motion left."""
    last = len(eye.positions) - MARGIN

    def respond(detector: Detector) -> np.ndarray:
        inside = slice(*np.searchsorted(detector.positions(eye, BOTH), [MARGIN, last]))
        return detector(movies, DT, eye=eye, direction=BOTH)[:, kept, inside]

    sums, conductances = _inputs_of_sums(respond), _inputs_of_conductances(respond)
    units = (
        (respond(linear_nonlinear(nonlinearity="half-wave")), sums, 3),
        (respond(linear_nonlinear(nonlinearity="squared")), sums, 3),
        (respond(gruntman()), conductances, 2),
    )
    taken = [
        (shares(outputs[..., 0], inputs[..., :own]), shares(outputs[..., 0] - outputs[..., 1], inputs))
        for outputs, inputs, own in units
    ]
    product, alone, quadratic, made = np.moveaxis(np.array(taken), -1, 0)
    right, left = np.array([outputs[..., 0].reshape(2, -1).mean(axis=1) for outputs, _, _ in units]).T
    selectivity, made = (right - left) / (right + left), made[:, 0] / (right + left)
    return Shares(product, alone, quadratic, selectivity, made, scan(sums, conductances))


# -- claims ----------------------------------------------------------------------------------------------------------


SHARE = "share of the variance that only the product of change and intensity explains"

PARTS = {"": "one unit", "opponent_": "unit less mirror image"}


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C31."""
    makes = "share of the difference between mean outputs to motion right and left that the product makes"
    for (shown, name), (k, (unit, label)) in itertools.product(STIMULI.items(), enumerate(UNITS.items())):
        by_unit: Shares = found[shown]
        for i, (which, title) in enumerate(PARTS.items()):
            product, alone, quadratic = (field[..., k, i] for field in by_unit[:3])
            note = f"{alone.mean():.3g} alone; all terms up to second order explain {quadratic.mean():.3f}"
            id, title = f"C31.{unit}_{which}{shown}", f"{SHARE}, {title}, {label}, {name}"
            row = report(id, title, product, worst=np.mean, note=f"{note}; mean of the seeds; {SENTENCE}")
            yield from beside(row, **_nulls(by_unit.scanned.nulls)) if (unit, which) == ("squared", "") else (row,)
        selectivity = by_unit.selectivity[..., k].mean()
        note = f"that difference is {selectivity:.3g} of the sum; mean of the seeds; {MEANING[k]}"
        id, made = f"C31.{unit}_direction_{shown}", by_unit.made[..., k] / selectivity
        yield report(id, f"{makes}, {label}, {name}", made, worst=np.mean, note=note)
    for shown, name in STIMULI.items():
        yield from _check_largest(found[shown].scanned, shown, name)


def _nulls(values: np.ndarray) -> dict[str, Null]:
    """Name shares of other nonlinearities, shape (..., n_nonlinearities)."""
    notes = {"multiplier": "the rest is what squares explain, too: on its own it explains all"}
    return {
        key: Null(label, values[..., k], np.mean, notes.get(key, "")) for k, (key, label) in enumerate(OTHERS.items())
    }


def _check_largest(scanned: Scanned, shown: str, name: str) -> Iterator[Claim]:
    """Report the largest share, of the mean of the seeds, over parameters, and the parameters."""
    for family, (label, found, firsts, seconds) in _families(scanned).items():
        for k, (which, title) in enumerate(PARTS.items()):
            by = found[..., k].reshape(-1, len(firsts), len(seconds))
            i, j = np.unravel_index(by.mean(axis=0).argmax(), by.shape[1:])
            at = " and ".join(
                f"{what} {value:g}" for what, value in zip(MEANT[family], (firsts[i], seconds[j]), strict=True)
            )
            note = f"at {at}; of {by[0].size} of {' and '.join(MEANT[family])}; mean of the seeds; {SENTENCE}"
            values = found[..., i, j, k]
            title = f"{SHARE}, largest over parameters, {title}, {label}, {name}"
            yield report(f"C31.largest_{family}_{which}{shown}", title, values, worst=np.mean, note=note)


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw what the product of change and intensity explains of each unit's output, and over units' parameters."""
    return {"products": _draw_units(found), "products_by_parameter": _draw_parameters(found)}


def _families(scanned: Scanned) -> dict[str, tuple[str, np.ndarray, tuple[float, ...], tuple[float, ...]]]:
    """Return of each family of units its name, its shares and both of its parameters."""
    return {
        "power": ("sum beyond a threshold, to a power", scanned.power, THRESHOLDS, EXPONENTS),
        "logistic": ("logistic function of the sum", scanned.logistic, THRESHOLDS, GAINS),
        "conductances": ("conductances (Gruntman)", scanned.conductances, STRENGTHS, STRENGTHS),
    }


def _draw_parameters(found: Found) -> Figure:
    """Draw the share in one unit over both parameters of each family, mean of the seeds; stimuli below each other."""
    figure = new_figure(11, 6.4)
    panels = figure.subplots(len(STIMULI), len(MEANT), squeeze=False)
    for row, (shown, name) in zip(panels, STIMULI.items(), strict=True):
        for axes, (family, (label, explained, firsts, seconds)) in zip(
            row, _families(found[shown].scanned).items(), strict=True
        ):
            by = explained[..., 0].reshape(-1, len(firsts), len(seconds)).mean(axis=0)
            image = axes.imshow(by, origin="lower", cmap="viridis", vmin=0, vmax=0.25, aspect="auto")
            axes.set_xticks(range(len(seconds)), [f"{value:g}" for value in seconds])
            axes.set_yticks(range(len(firsts)), [f"{value:g}" for value in firsts])
            axes.set(ylabel=MEANT[family][0], xlabel=MEANT[family][1])
            axes.set_title(f"{label}, {name}", fontsize=9)
    figure.colorbar(image, ax=list(panels.flat), label="share of one unit that only the product explains")
    return figure


def _draw_units(found: Found) -> Figure:
    """Draw each unit as bars: mean and range of the seeds."""
    figure = new_figure(10, 4.2)
    panels = figure.subplots(1, 2, sharey=True)
    places = np.arange(len(UNITS))
    for axes, (shown, title) in zip(panels, STIMULI.items(), strict=True):
        product, _, _, selectivity, made, _ = found[shown]
        bars = {
            "variance of one unit": product[..., 0],
            "variance of unit less mirror image": product[..., 1],
            "difference of means, motion right and left": made / selectivity.reshape(-1, len(UNITS)).mean(axis=0),
        }
        for k, (label, values) in enumerate(bars.items()):
            low, mean, high = (f(values.reshape(-1, len(UNITS)), axis=0) for f in (np.min, np.mean, np.max))
            x, spread = places + 0.27 * (k - 1), np.abs([low - mean, high - mean])
            axes.bar(x, mean, 0.25, yerr=spread, color=f"C{k}", label=label, error_kw={"linewidth": 1})
            for place, height, top in zip(x, mean, high, strict=True):
                axes.text(place, max(top, 0) + 0.02, f"{height:.2f}", ha="center", va="bottom", fontsize=8)
        axes.set_xticks(places, [name.replace(" (", "\n(").replace("fied s", "fied\ns") for name in UNITS.values()])
        axes.set_title(title, fontsize=10)
    panels[0].set(ylabel="share that only the product explains", ylim=(0, 1.35))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
    return figure

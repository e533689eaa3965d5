"""One neuron a direction, whose activity increases with velocity (Section 2.2; C8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import spearmanr

from flymotion.claims.beside import Null, beside
from flymotion.claims.lessons import opposed
from flymotion.claims.nulls import NULLS, random_filters, start_alone
from flymotion.claims.rows import Claim, report, within
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.worlds import WORLDS, all_over, rightward_first, show_step
from flymotion.plots.canvas import new_figure
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.world.scenes import Grating, Scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "Responses", "check", "figures", "work"]

CLAIMS = {"C8": "outputs grow with speed, up to a peak"}


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Seeds.
    n : int
        Pixels.
    wavelengths : tuple of float
        Of the gratings shown [pixels].
    n_pairs : int
        Pairs to learn from.
    n_speeds : int
        Speeds up to the peak; gratings are also shown at as many beyond it.
    n_phases, n_places : int
        Over which the output to gratings and to noise is averaged.
    """

    n_seeds: int = 10
    n: int = 5
    wavelengths: tuple[float, ...] = (6.0, 8.0, 12.0, 16.0)
    n_pairs: int = 50_000
    n_speeds: int = 10
    n_phases: int = 64
    n_places: int = 8_192


QUICK = {"n_seeds": 2}


class Responses(NamedTuple):
    """Mean outputs against speed of two units of NSM, trained in L1, and of their nulls, by name.

    Outputs have axes (..., speed, direction of motion, unit); directions and units are right, left.
    """

    to_gratings: dict[str, np.ndarray]
    """Shape (n_wavelengths, 2 n_speeds - 1, 2, 2), at speeds from 0 to half a wavelength, both excluded."""
    to_noise: dict[str, np.ndarray]
    """Shape (n_speeds, 2, 2), up to the peak."""
    peak: np.ndarray
    """Speed up to which theory's output to noise grows [pixels per frame]."""


def work(config: Config) -> Work:
    """Show gratings and noise to what was learned from noise."""
    return {"responses": each_seed(_respond, config.n_seeds, config)}


def _respond(config: Config, seed: int) -> Responses:
    world = WORLDS["L1"]
    whitening, chi = world.lesson(config.n, config.n_pairs, [seed, 8])
    units = _units(chi, np.random.default_rng([seed, 10]))

    def mean_outputs(scene: Scene, places: np.ndarray, speeds: np.ndarray) -> np.ndarray:
        """Mean outputs, axes who, speed, direction, unit."""
        eye = world.eye(config.n)
        shown = [[show_step(scene, eye, places, s * way) for way in (1, -1)] for s in speeds]
        features = [[outer_products(whitening.transform(pairs), world.feature) for pairs in row] for row in shown]
        return np.array(
            [[[outputs(chi).mean(axis=0) for chi in row] for row in features] for outputs in units.values()]
        )

    phases = np.arange(config.n_phases) / config.n_phases
    speeds = np.arange(1, 2 * config.n_speeds) / (4 * config.n_speeds)
    to_gratings = [mean_outputs(Grating(length), phases * length, speeds * length) for length in config.wavelengths]
    theory = world.population(config.n)
    peak = theory.peak_speed(theory.components(1)[1][0])
    noise = world.scene(np.random.default_rng([seed, 9]))
    up_to_peak = peak * np.arange(1, config.n_speeds + 1) / config.n_speeds
    to_noise = mean_outputs(noise, all_over(noise, config.n_places), up_to_peak)
    return Responses(
        dict(zip(units, np.stack(to_gratings, axis=1), strict=True)),
        dict(zip(units, to_noise, strict=True)),
        np.array(peak),
    )


def _units(chi: OuterProducts, rng: np.random.Generator) -> dict[str, Callable[[OuterProducts], np.ndarray]]:
    """Return what gives two units' outputs, that for content moving right first: NSM's, and nulls without lateral M."""

    def rectified(filters: np.ndarray) -> Callable[[OuterProducts], np.ndarray]:
        ordered = filters[rightward_first(filters)]
        return lambda samples: np.maximum(samples.project(ordered), 0)

    nulls = {"start": start_alone(2, chi), "random": random_filters(2, chi, rng)}
    return {"nsm": opposed(chi).outputs} | {name: rectified(filters) for name, filters in nulls.items()}


# -- claims ---------------------------------------------------------------------------------------------------------


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C8."""
    responses: Responses = found["responses"]
    gratings, noise, m = responses.to_gratings, responses.to_noise, config.n_speeds
    wavelengths = ", ".join(f"{w:g}" for w in config.wavelengths)
    world = f"NSM of L1, n = {config.n}; gratings of wavelengths {wavelengths} pixels"
    upward = "rank correlation of the preferred unit's mean output with speed, both directions: "
    growing = {who: _rank_correlation(outputs[:, :, :m]) for who, outputs in gratings.items()}
    yield from _all_of_1("C8.gratings", f"{upward}gratings, to a quarter of a wavelength a frame", growing, world)
    title = "share of speeds up to half a wavelength a frame at which the mean output is larger in the right unit"
    yield from _all_of_1("C8.sign", title, {who: _in_the_right_unit(each) for who, each in gratings.items()}, world)
    up_to = f"NSM of L1, n = {config.n}; to the population's peak, {responses.peak[0]:.3f} pixels per frame"
    why = f"{up_to}; the change grows with speed, and so does what most filters make of it"
    growing = {who: _rank_correlation(outputs) for who, outputs in noise.items()}
    yield from _all_of_1("C8.noise", f"{upward}noise", growing, why)
    title = "share of speeds in noise at which the mean output is larger in the right unit"
    right = {who: _in_the_right_unit(each) for who, each in noise.items()}
    yield from _with_nulls(report("C8.noise_sign", title, right["nsm"], worst=np.min, note=up_to), right)


def _all_of_1(id: str, title: str, values: dict[str, np.ndarray], note: str) -> Iterator[Claim]:
    return _with_nulls(within(id, title, values["nsm"], 1 - 1e-9, 1 + 1e-9, note=note), values)


def _with_nulls(row: Claim, values: dict[str, np.ndarray]) -> Iterator[Claim]:
    told = {who: f"1 in {np.sum(values[who] > 1 - 1e-9)} of {len(values[who])} seeds" for who in ("start", "random")}
    return beside(
        row,
        start=Null(NULLS["start"], values["start"], np.min, told["start"]),
        random=Null(NULLS["random"], values["random"], np.mean, told["random"]),
    )


def _rank_correlation(outputs: np.ndarray) -> np.ndarray:
    """Return it for each direction's own unit, axes (seed, ..., speed, direction, unit); the worst of each seed."""
    own = np.moveaxis(np.stack([outputs[..., way, way] for way in (0, 1)]), 1, 0)
    curves = own.reshape(len(own), -1, own.shape[-1])
    return np.array([min(map(_growth, of_seed)) for of_seed in curves])


def _growth(curve: np.ndarray) -> float:
    """Rank correlation of a curve with its abscissa; 0 where it is flat, as of a unit that never answers."""
    return float(spearmanr(np.arange(len(curve)), curve)[0]) if np.ptp(curve) > 0 else 0.0


def _in_the_right_unit(outputs: np.ndarray) -> np.ndarray:
    """Share, of each seed, of what was shown; axes (seed, ..., direction, unit)."""
    right = [outputs[..., way, way] > outputs[..., way, 1 - way] for way in (0, 1)]
    return np.mean([each.reshape(len(each), -1).mean(axis=1) for each in right], axis=0)


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw the mean outputs of both units against speed: for gratings of each wavelength, and for noise."""
    responses: Responses = found["responses"]
    to_gratings, to_noise = responses.to_gratings["nsm"][0], responses.to_noise["nsm"][0]
    m = config.n_speeds
    figure = new_figure(10, 4)
    left, right = figure.subplots(1, 2)
    speeds = np.arange(1, 2 * m) / (4 * m)
    for k, length in enumerate(config.wavelengths):
        outputs = to_gratings[k]
        left.plot(speeds, outputs[:, 0, 0], "-", color=f"C{k}", label=f"wavelength {length:g} pixels")
        left.plot(speeds, outputs[:, 0, 1], ":", color=f"C{k}")
    left.axvline(0.25, color="0.6", linewidth=1, zorder=0, label="a quarter of a wavelength")
    left.set(xlabel="speed [wavelengths per frame]", title="gratings moving right")
    speeds = responses.peak[0] * np.arange(1, m + 1) / m
    for way, name in enumerate(("right", "left")):
        right.plot(speeds, to_noise[:, way, way], "o-", color=f"C{way}", label=f"moving {name}")
        right.plot(speeds, to_noise[:, way, 1 - way], "o:", color=f"C{way}")
    right.set(xlabel="speed, to the population's peak [pixels per frame]", title="exponentially correlated noise")
    for axes in (left, right):
        axes.plot([], [], "k:", label="the other unit")
        axes.set_ylabel("mean output")
        axes.legend(fontsize=8, loc="upper left", ncols=2)
        axes.set_ylim(0, 1.35 * axes.get_ylim()[1])
    return {"speeds": figure}

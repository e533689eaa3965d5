"""Moving gratings: learning from them (Section 2.5; C6), and output against speed (Section 2.2; C8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import spearmanr

from flymotion.claims.lessons import opposed, opposed_centres
from flymotion.claims.rows import Claim, above, report, within
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.worlds import WORLDS, all_over, share_right, show_step
from flymotion.frames import FramePairs
from flymotion.generators import cosine
from flymotion.photoreceptors import ZCAWhitening
from flymotion.plots.canvas import new_figure
from flymotion.similarity.features import outer_products
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import Grating, Scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "Learned", "Responses", "check", "figures", "work"]

CLAIMS = {
    "C6": "gratings teach direction, too",
    "C8": "outputs grow with speed, up to a peak",
}

REGULARIZATION = 1e-2
"""Of the whitening of gratings: a few wavelengths leave directions that hold next to no variance."""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Seeds of either experiment.
    n : int
        Pixels.
    wavelengths : tuple of float
        Of the gratings learned from and shown [pixels].
    n_pairs, n_test : int
        Pairs to learn from, and new ones to test with.
    n_speeds : int
        Speeds up to the peak; gratings are also shown at as many beyond it.
    n_phases, n_places : int
        Over which the output to gratings and to noise is averaged.
    """

    n_seeds: int = 10
    n: int = 5
    wavelengths: tuple[float, ...] = (6.0, 8.0, 12.0, 16.0)
    n_pairs: int = 50_000
    n_test: int = 40_000
    n_speeds: int = 10
    n_phases: int = 64
    n_places: int = 16_384


QUICK = {"n_seeds": 2}


class Learned(NamedTuple):
    """What is learned from gratings of several wavelengths (C6), random phases, the optics and shifts of L1."""

    filters: np.ndarray
    """NSM's, shape (2, n, n), rightward motion's first."""
    nsm: np.ndarray
    """Share of new pairs whose direction NSM's filters tell, for each wavelength."""
    kmeans: np.ndarray
    """The same for K-means."""


class Responses(NamedTuple):
    """Mean outputs of NSM, trained in L1, against speed (C8).

    Outputs have axes (..., speed, direction of motion, unit); directions and units are right, left.
    """

    to_gratings: np.ndarray
    """Shape (n_wavelengths, 2 n_speeds - 1, 2, 2), at speeds from 0 to half a wavelength, both excluded."""
    to_noise: np.ndarray
    """Shape (n_speeds, 2, 2), up to the peak."""
    peak: np.ndarray
    """Speed up to which theory's output to noise grows [pixels per frame]."""


def work(config: Config) -> Work:
    """Learn from gratings; and show gratings and noise to what was learned from noise."""
    return {
        "learned": each_seed(_learn, config.n_seeds, config),
        "responses": each_seed(_respond, config.n_seeds, config),
    }


def _gratings(config: Config, n_pairs: int, rng: np.random.Generator) -> list[FramePairs]:
    world, each = WORLDS["L1"], n_pairs // len(config.wavelengths)
    eye = world.eye(config.n)
    return [sample_pairs(Grating(length), eye, world.motion, each, random_state=rng) for length in config.wavelengths]


def _learn(config: Config, seed: int) -> Learned:
    rng = np.random.default_rng([seed, 6])
    pairs = FramePairs.concatenate(_gratings(config, config.n_pairs, rng))
    pairs = pairs[rng.permutation(len(pairs))]
    whitening = ZCAWhitening(REGULARIZATION).fit(pairs)

    def see(some: FramePairs) -> Any:
        return outer_products(whitening.transform(some), WORLDS["L1"].feature)

    chi = see(pairs)
    both = opposed(chi).filters, opposed_centres(chi, seed)
    tests = _gratings(config, config.n_test, rng)
    nsm, centres = ([share_right(see(t).project(f[:1] - f[1:])[:, 0], t) for t in tests] for f in both)
    return Learned(both[0], np.array(nsm), np.array(centres))


def _respond(config: Config, seed: int) -> Responses:
    world = WORLDS["L1"]
    whitening, chi = world.lesson(config.n, config.n_pairs, [seed, 8])
    units = opposed(chi)

    def outputs(scene: Scene, places: np.ndarray, speeds: np.ndarray) -> np.ndarray:
        shown = [[show_step(scene, world.eye(config.n), places, s * way) for way in (1, -1)] for s in speeds]
        features = [[outer_products(whitening.transform(pairs), world.feature) for pairs in row] for row in shown]
        return np.array([[units.outputs(chi).mean(axis=0) for chi in row] for row in features])

    phases = np.arange(config.n_phases) / config.n_phases
    speeds = np.arange(1, 2 * config.n_speeds) / (4 * config.n_speeds)
    to_gratings = [outputs(Grating(length), phases * length, speeds * length) for length in config.wavelengths]
    theory = world.population(config.n)
    peak = theory.peak_speed(theory.components(1)[1][0])
    noise = world.scene(np.random.default_rng([seed, 9]))
    to_noise = outputs(
        noise, all_over(noise, config.n_places), peak * np.arange(1, config.n_speeds + 1) / config.n_speeds
    )
    return Responses(np.array(to_gratings), to_noise, np.array(peak))


# -- claims ------------------------------------------------------------------------------------------------------


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C6 and C8."""
    learned, responses = found["learned"], found["responses"]
    world = f"optics and shifts of L1, wavelengths {', '.join(f'{w:g}' for w in config.wavelengths)} pixels"
    whitened = f"{world}; whitening regularised by {REGULARIZATION:g}"
    title = "accuracy of direction on new gratings, worst wavelength"
    yield above("C6.accuracy", f"{title}, NSM", learned.nsm, 0.95, note=whitened)
    yield report("C6.accuracy_kmeans", f"{title}, K-means", learned.kmeans, worst=np.min, note=whitened)
    cosines = cosine(learned.filters[:, 0], learned.filters[:, 1])
    yield report("C6.cos", "cosine of NSM's two filters", cosines, worst=np.max, note=whitened)

    def exactly_1(id: str, title: str, values: np.ndarray, note: str) -> Claim:
        return within(id, title, values, 1 - 1e-9, 1 + 1e-9, seeds=config.n_seeds, note=note)

    upward = "rank correlation of the preferred unit's mean output with speed, both directions: "
    gratings, noise = responses.to_gratings, responses.to_noise
    yield exactly_1("C8.gratings", upward + "gratings", _rank_correlation(gratings[:, :, : config.n_speeds]), world)
    right = np.stack([gratings[..., 0, 0] > gratings[..., 0, 1], gratings[..., 1, 1] > gratings[..., 1, 0]])
    title = "share of speeds up to half a wavelength at which the mean output is larger in the right unit"
    yield exactly_1("C8.sign", title, right.mean(), world)
    up_to = f"to the population's peak, {responses.peak[0]:.3f} pixels per frame"
    yield exactly_1("C8.noise", upward + "noise", _rank_correlation(noise), up_to)


def _rank_correlation(outputs: np.ndarray) -> np.ndarray:
    """Return it for all curves; each direction's own unit."""
    curves = np.concatenate([outputs[..., way, way].reshape(-1, outputs.shape[-3]) for way in (0, 1)])
    return np.array([spearmanr(np.arange(len(curve)), curve)[0] for curve in curves])


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw the mean outputs of both units against speed: for gratings of each wavelength, and for noise."""
    responses: Responses = found["responses"]
    m = config.n_speeds
    figure = new_figure(10, 4)
    left, right = figure.subplots(1, 2)
    speeds = np.arange(1, 2 * m) / (4 * m)
    for k, length in enumerate(config.wavelengths):
        outputs = responses.to_gratings[0, k]
        left.plot(speeds, outputs[:, 0, 0], "-", color=f"C{k}", label=f"wavelength {length:g} pixels")
        left.plot(speeds, outputs[:, 0, 1], ":", color=f"C{k}")
    left.axvline(0.25, color="0.6", linewidth=1, zorder=0, label="a quarter of a wavelength")
    left.set(xlabel="speed [wavelengths per frame]", title="gratings moving right")
    speeds = responses.peak[0] * np.arange(1, m + 1) / m
    for way, name in enumerate(("right", "left")):
        right.plot(speeds, responses.to_noise[0, :, way, way], "o-", color=f"C{way}", label=f"moving {name}")
        right.plot(speeds, responses.to_noise[0, :, way, 1 - way], "o:", color=f"C{way}")
    right.set(xlabel="speed, to the population's peak [pixels per frame]", title="exponentially correlated noise")
    for axes in (left, right):
        axes.plot([], [], "k:", label="the other unit")
        axes.set_ylabel("mean output")
        axes.legend(fontsize=8, loc="upper left", ncols=2)
        axes.set_ylim(0, 1.35 * axes.get_ylim()[1])
    return {"speeds": figure}

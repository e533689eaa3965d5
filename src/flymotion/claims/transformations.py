"""Transformations of the plane: rotations, translations and affine motions, learned (C10, C12, C13, C29, C32).

A flat eye looks at isotropic noise through optics of 0.8 pixels; one motion a pair, of a size uniform up to the
largest, one unit a way to move. With a fly's 0.475 pixels single pairs of translations tell less: filters averaged with
labels then name the direction of 0.983 of them instead of 0.996, which leaves no room for C13's bound of 0.98.

============= ======== ==== =================================================
world         pixels   K    ways to move
============= ======== ==== =================================================
rotation      5 x 5    2    counter-clockwise, clockwise
translation   5 x 5    4    right, up, left, down
affine        9 x 9    12   both ways: x, y, rotation, zoom, two shears
============= ======== ==== =================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flymotion.claims.rows import Claim, above, all_of, below, report, within
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.ways import LIKE, RIDGE, Labelled, Scored, early_vision, labelled, learn, scored, succeeded
from flymotion.generators import Generators
from flymotion.generators.theory import population
from flymotion.plots.filter_sheets import filter_sheet
from flymotion.similarity.networks import SimilarityMatching
from flymotion.similarity.rivals import OuterProductKMeans, OuterProductPCA
from flymotion.world.eyes import Eye, Grid
from flymotion.world.motions import Mixture, Motion, Rotation, Shear, Translation, Zoom
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import ExponentialNoise, Scene, SmoothNoise, exponential_covariance, smooth_covariance

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "PLANES", "QUICK", "Config", "Plane", "check", "figures", "work"]

CLAIMS = {
    "C10": "rotations: NSM finds both senses, SM and PCA one generator",
    "C12": "a rotation's weights are local",
    "C13": "translations: NSM finds all four directions",
    "C29": "affine motions: NSM finds all twelve ways",
    "C32": "translations and rotations are antisymmetric, zooms not",
}

SIGMA = 0.8
"""Acceptance width [pixel spacings]."""

LENGTH = 3.0
"""Correlation length of the noise [pixel spacings]."""

PERIOD = 128.0
"""Of the scenes [pixel spacings]."""

N_CLUSTERED = 4000
"""Pairs that K-means is given; each of its ten starts goes over them tens of times.

Enough for two clusters; for the four of translations it takes 20,000.
"""

N_COMPONENTS = 4
"""Of SM and PCA."""

KEEPING = 3
"""First parameters of the affine motions, which keep the covariance of what is seen: translations and rotation."""

AFFINE = ("x", "y", "rotation", "zoom", "shear", "diagonal shear")
"""Parameters of the affine motions."""


class Plane(NamedTuple):
    """A flat eye that looks at isotropic noise."""

    eye: Grid
    motion: Motion
    """Steps, along one parameter a pair."""
    noise: tuple[Callable[..., Scene], Callable[..., np.ndarray]]
    """What draws a scene, given ``random_state``, and the covariance of two pixels, optics included."""
    n_pairs: int
    """Pairs to learn from."""

    def lesson(self, n_test: int, seed: int) -> Labelled:
        """Draw pairs to learn from, and new ones of another scene."""
        pairs, new = (
            sample_pairs(self.noise[0](random_state=[seed, k, 0]), self.eye, self.motion, n, [seed, k, 1])
            for k, n in enumerate((self.n_pairs, n_test))
        )
        return labelled(early_vision(), self.eye, self.motion, self.generators, pairs, new)

    def generators(self, whitening: Any) -> np.ndarray:
        """Return the population-optimal generators on frames whitened so, shape (p, n, n)."""
        theory = population(self.noise[1], self.eye, self.motion, whitening=whitening, regularization=RIDGE)
        return theory.generators().operators


EXPONENTIAL = (
    partial(ExponentialNoise, LENGTH, ndim=2, period=PERIOD, sharpest=SIGMA),
    exponential_covariance(LENGTH, SIGMA, 2),
)
SMOOTH = (partial(SmoothNoise, LENGTH, ndim=2, period=PERIOD), smooth_covariance(LENGTH, SIGMA, 2))

PLANES = {
    "rotation": Plane(Grid(5, 5, SIGMA), Rotation(7.0), EXPONENTIAL, 10_000),
    "translation": Plane(Grid(5, 5, SIGMA), Translation(0.3), EXPONENTIAL, 12_000),
    "affine": Plane(
        Grid(9, 9, SIGMA), Mixture(Translation(0.3), Rotation(4.0), Zoom(0.07), Shear(0.07)), SMOOTH, 20_000
    ),
}
"""The worlds. The affine one has smooth noise: of it elliptic optics need few views, of exponential noise a hundred.
Whitened exponential noise has hardly a scale of its own, and is zoomed and sheared by almost antisymmetric operators.
"""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Seeds of rotation and translation: scenes and pairs are drawn anew (C10, C12, C13).
    n_seeds_affine : int
        Seeds of the affine world (C29, C32); no more than ``n_seeds``.
    n_test : int
        New pairs to test with.
    """

    n_seeds: int = 50
    n_seeds_affine: int = 5
    n_test: int = 2000


QUICK = {"n_seeds": 1}


def work(config: Config) -> Work:
    """Let NSM learn in each world, SM and PCA in the smaller ones, and K-means from rotations; the longest first."""
    n_seeds = dict.fromkeys(PLANES, config.n_seeds) | {"affine": min(config.n_seeds, config.n_seeds_affine)}
    return {world: each_seed(_learn, n_seeds[world], world, config.n_test) for world in reversed(PLANES)}


def _learn(world: str, n_test: int, seed: int) -> dict[str, Any]:
    """Return what is learned by name of the algorithm: scored units, or components, shape (4, n, n), largest first."""
    given = PLANES[world].lesson(n_test, seed)
    found: dict[str, Any] = {"nsm": learn(given)}
    if world != "affine":
        for name, algorithm in (("sm", SimilarityMatching), ("pca", OuterProductPCA)):
            found[name] = algorithm(N_COMPONENTS).fit(given.chi).generators_
    if world == "rotation":
        centres = OuterProductKMeans(2, random_state=seed).fit(given.chi[:N_CLUSTERED]).generators_
        found["kmeans"] = scored(given, centres, given.new.project(centres))
    return found


# -- claims ----------------------------------------------------------------------------------------------------------


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C10, C12, C13, C29 and C32."""
    yield from _check_rotation(found["rotation"])
    yield from _check_weights(found["rotation"]["nsm"])
    yield from _check_translation(found["translation"])
    yield from _check_affine(found["affine"]["nsm"])
    yield from _check_antisymmetry({world: learned["nsm"] for world, learned in found.items()})


def _check_rotation(found: Found) -> Iterator[Claim]:
    few = f"{N_CLUSTERED} pairs, 10 starts; mean accuracy {found['kmeans'].accuracy.mean():.4f}"
    for name, suffix, label, note in (
        ("nsm", "", "NSM", _described("rotation", found["nsm"])),
        ("kmeans", "_kmeans", "K-means", few),
    ):
        title = f"cosine of filters with the population's generator: {label}"
        yield above(f"C10.cos{suffix}", title, found[name].cosines, LIKE, note=note)
        title = f"seeds in which {label} finds both senses, each above {LIKE}"
        yield all_of(f"C10.seeds{suffix}", title, succeeded(found[name]))
    yield from (_generators("C10", name, found, 1) for name in ("sm", "pca"))
    yield report("C10.accuracy", "share of new pairs whose sense NSM names", found["nsm"].accuracy, worst=np.min)


def _described(world: str, learned: Scored) -> str:
    plane = PLANES[world]
    mean = f"mean cosine {learned.cosines.mean():.3f}, mean accuracy {learned.accuracy.mean():.4f}"
    height, width = plane.eye.shape
    return f"{height} x {width} pixels, sigma {SIGMA}, {plane.n_pairs} pairs; {mean}"


def _generators(id: str, name: str, found: Found, n: int) -> Claim:
    """State that the first n components, and no others, are generators, in every seed."""
    captured = np.stack(list(map(_captured, found[name], found["nsm"].analytic)))
    like = captured > LIKE
    counts = np.where(like[:, :n].all(axis=1), like.sum(axis=1), like[:, :n].sum(axis=1))
    title = f"generators among {name.upper()}'s first {N_COMPONENTS} components, in the seed where it is least {n}"
    first, others = captured[:, :n].min(), captured[:, n:].max()
    note = f"within their span: first {n} at least {first:.3f}, others up to {others:.3f}"
    return within(f"{id}.generators_{name}", title, counts, n, n, note=note)


def _captured(components: np.ndarray, analytic: np.ndarray) -> np.ndarray:
    """Norm of each component's projection on the span of the generators, relative to its own; both (..., n, n)."""
    flat = components.reshape(len(components), -1)
    return np.linalg.norm(flat @ _basis(analytic), axis=1) / np.linalg.norm(flat, axis=1)


def _basis(operators: np.ndarray) -> np.ndarray:
    """Return a basis of the span of operators, shape (p, n, n), as columns."""
    return np.linalg.qr(operators.reshape(len(operators), -1).T)[0]


def _check_weights(learned: Scored) -> Iterator[Claim]:
    eye = PLANES["rotation"].eye
    even = np.ones_like(learned.analytic[:1])
    for name, title, share, worst in (
        ("self", "from a pixel onto itself", lambda A: A.locality(0.0), np.max),
        ("neighbours", "from the eight pixels around", lambda A: A.locality(1.5) - A.locality(0.0), np.min),
        ("far", "from more than 2 pixels away", lambda A: 1 - A.locality(2.0), np.max),
    ):
        theory, equal = (worst(_of_each(share, operators, eye)) for operators in (learned.analytic, even))
        note = f"whitened frames; population's {theory:.3f}, equal weights {equal:.3f}"
        shares = _of_each(share, learned.filters, eye)
        yield report(f"C12.{name}", f"energy of NSM's rotation filters {title}", shares, worst=worst, note=note)


def _of_each(measure: Callable[[Generators], np.ndarray], filters: np.ndarray, eye: Eye) -> np.ndarray:
    """Measure filters, shape (n_seeds, K, n, n); shape (n_seeds, K)."""
    return measure(Generators(filters.reshape(-1, *filters.shape[2:]), eye)).reshape(filters.shape[:2])


def _check_translation(found: Found) -> Iterator[Claim]:
    nsm, accuracy = found["nsm"], "share of new pairs whose direction is named by"
    note = f"{_described('translation', nsm)}; at a fly's sigma labelled averages name 0.983"
    yield above("C13.accuracy", f"{accuracy} NSM", nsm.accuracy, 0.98, note=note)
    title = "seeds in which NSM finds all four directions and names more than 0.98"
    yield all_of("C13.seeds", title, succeeded(nsm, accuracy=0.98))
    yield report("C13.ideal", f"{accuracy} labelled averages", nsm.ideal, worst=np.min)
    yield report("C13.cos", "cosine of NSM's filters with the population's", nsm.cosines, worst=np.min)
    yield _generators("C13", "sm", found, 2)
    title = "least principal cosine of SM's first two components with the population's generators"
    bases = [(_basis(sm[:2]), _basis(analytic)) for sm, analytic in zip(found["sm"], nsm.analytic, strict=True)]
    cosines = np.array([np.linalg.svd(first.T @ span, compute_uv=False) for first, span in bases])
    yield above("C13.span_sm", title, cosines, LIKE, note="equal eigenvalues mix")
    yield _generators("C13", "pca", found, 2)


def _check_affine(nsm: Scored) -> Iterator[Claim]:
    title = "cosine of NSM's filters with the population's generators"
    yield report("C29.cos", title, nsm.cosines, worst=np.min, note=nsm.least_cosines(PLANES["affine"].motion))
    yield report("C29.cos_mean", f"mean {title}", nsm.cosines, worst=np.mean, note=_described("affine", nsm))
    yield all_of("C29.seeds", f"seeds in which all twelve ways are found, each above {LIKE}", succeeded(nsm))
    note = f"labelled averages {nsm.ideal.min():.4f}"
    yield report("C29.accuracy", "share of new pairs whose way NSM names", nsm.accuracy, worst=np.min, note=note)


def _check_antisymmetry(nsm: Mapping[str, Scored]) -> Iterator[Claim]:
    """C32: translations and rotations keep the covariance of what is seen, zoom and shears do not."""
    plane = PLANES["affine"]
    shares = {world: _antisymmetric(nsm[world].filters, PLANES[world].eye) for world in PLANES}
    affine, theory = shares["affine"], _antisymmetric(nsm["affine"].analytic, plane.eye)
    keeping = np.abs(plane.motion.ways).argmax(axis=1) < KEEPING
    keep, change = affine[:, keeping], affine[:, ~keeping]
    lowest = "least antisymmetric share of {}, for translation and rotation"
    highest = "largest antisymmetric share of {}, for zoom and shear, below the least for translation and rotation"
    filters, generators = "NSM's filters", "the population's generators"
    title, note, n_seeds = lowest.format(filters), "whitened frames", len(affine)
    yield above("C32.keeping", title, shares | {"affine": keep}, 0.9, seeds=n_seeds, note=note)
    means = [affine[:, way != 0].mean() for way in plane.motion.ways.T]
    yield below("C32.changing", highest.format(filters), change, keep.min(), note=f"means: {_by_parameter(means)}")
    yield above("C32.keeping_theory", lowest.format(generators), theory[:, :KEEPING], 0.9)
    exponential = _antisymmetric(plane._replace(noise=EXPONENTIAL).generators("zca")[None], plane.eye)[0]
    title = "largest antisymmetric share for zoom and shear where noise is exponential, in theory"
    yield report("C32.changing_exponential", title, exponential[KEEPING:].max(), note=_by_parameter(exponential))
    title = highest.format(generators)
    yield below("C32.changing_theory", title, theory[:, KEEPING:], theory[:, :KEEPING].min())


def _antisymmetric(filters: np.ndarray, eye: Eye) -> np.ndarray:
    return _of_each(Generators.antisymmetric_share, filters, eye)


def _by_parameter(shares: Any) -> str:
    return ", ".join(f"{name} {share:.4g}" for name, share in zip(AFFINE, shares, strict=True))


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw the filters that NSM learned in each world (Figs. 5a-b, 6), of the first seed."""
    drawn = {}
    for world, plane in PLANES.items():
        filters = Generators(found[world]["nsm"].filters[0], plane.eye)
        names, title = map(plane.motion.called, plane.motion.ways), f"NSM, {world}: filters of whitened frames"
        drawn[f"filters_{world}"] = filter_sheet(filters, list(names), suptitle=title)
    return drawn

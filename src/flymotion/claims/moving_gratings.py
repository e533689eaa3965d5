"""Learning from moving gratings (Section 2.5; C6).

Two filters, or components, learn from gratings of some wavelengths, and are tested on others. K-means is told apart,
since its clusters are not the directions. Whitened gratings of the shortest wavelength change most: their chi are four
times as large as those of the longest. Two clusters leave the least inertia when one holds the largest chi of one
direction of the shortest wavelength, and the other all else. So

- the cluster that a pair is in tells the direction of none but the largest chi;
- the difference of the centres is a motion filter still, but of the shortest wavelength alone. It is blind to what
  whitening has made orthogonal to that: with 6 pixels as the shortest, to 12 to 12.5 pixels. At 12, which is
  among the wavelengths learned from, accuracy falls to chance, or below, in some seeds; on either side it is 1.

That it is neither the start nor a bad optimum is shown by the inertia of the clusters that motion would make, which is
larger, and by where K-means ends when it starts there; that it is the size of chi, by the same chi at unit length.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from flymotion.claims.beside import Null, beside
from flymotion.claims.four_learners import PASSES, nearness, told
from flymotion.claims.lessons import RATE, centres, of_norm_1, opposed
from flymotion.claims.nulls import NULLS, labelled_means, start_alone, unlearned
from flymotion.claims.rows import Claim, above, report
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.worlds import WORLDS, rightward_first
from flymotion.frames import FramePairs
from flymotion.generators import cosine
from flymotion.photoreceptors import ZCAWhitening
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.networks import SimilarityMatching
from flymotion.similarity.rivals import OuterProductKMeans, OuterProductPCA
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import Grating

__all__ = ["CLAIMS", "QUICK", "Clusters", "Config", "Learned", "check", "work"]

CLAIMS = {"C6": "gratings teach direction, too"}

WHY = "its clusters are the largest chi of one direction of the shortest wavelength, and all others"

REGULARIZATION = 1e-2
"""Of the whitening of gratings: a few wavelengths leave directions that hold next to no variance."""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Seeds.
    n : int
        Pixels.
    wavelengths, new_wavelengths : tuple of float
        Of the gratings learned from, and tested on: between those, and beyond them on both sides [pixels].
    n_pairs, n_test, n_kmeans : int
        Pairs to learn from, and new ones to test with; and pairs that K-means is given.
    """

    n_seeds: int = 10
    n: int = 5
    wavelengths: tuple[float, ...] = (6.0, 8.0, 12.0, 16.0)
    new_wavelengths: tuple[float, ...] = (5.0, 7.0, 10.0, 14.0, 20.0)
    n_pairs: int = 50_000
    n_test: int = 40_000
    n_kmeans: int = 10_000


QUICK = {"n_seeds": 2}


class Clusters(NamedTuple):
    """What K-means makes of gratings, and what it might."""

    smaller: np.ndarray
    """Share of the pairs that is in the smaller cluster."""
    shortest: np.ndarray
    """Share of the pairs in the smaller cluster that show the shortest wavelength."""
    motion: np.ndarray
    """Inertia of the clusters of rightward and leftward pairs, relative to that of what K-means finds."""
    from_motion: np.ndarray
    """The same of what K-means finds when it starts at the means of these."""
    sizes: np.ndarray
    """Mean norm of chi of the shortest wavelength, relative to that of the longest."""
    response: np.ndarray
    """Mean output of the centres' difference to motion right, relative to that of NSM's filters; for each wavelength
    learned from."""


class Learned(NamedTuple):
    """What is learned from gratings of several wavelengths, random phases, the optics and shifts of L1."""

    accuracy: dict[str, np.ndarray]
    """Share of new pairs whose direction two filters tell by their difference; by whose. For each wavelength: first
    those learned from, then the others."""
    clusters: dict[str, np.ndarray]
    """The same by the cluster that K-means puts a pair in."""
    cosine: np.ndarray
    """Of NSM's two filters."""
    kmeans: Clusters


def work(config: Config) -> Work:
    """Learn from gratings."""
    return {"learned": each_seed(_learn, config.n_seeds, config)}


def _gratings(
    config: Config, wavelengths: tuple[float, ...], n_pairs: int, rng: np.random.Generator
) -> list[FramePairs]:
    world, each = WORLDS["L1"], n_pairs // len(wavelengths)
    eye = world.eye(config.n)
    return [sample_pairs(Grating(length), eye, world.motion, each, random_state=rng) for length in wavelengths]


def _learn(config: Config, seed: int) -> Learned:
    rng = np.random.default_rng([seed, 6])
    shown = _gratings(config, config.wavelengths, config.n_pairs, rng)
    order = rng.permutation(sum(map(len, shown)))
    pairs = FramePairs.concatenate(shown)[order]
    which = np.repeat(np.arange(len(shown)), [len(some) for some in shown])[order]
    rightward = (np.asarray(pairs.motion)[:, 0] > 0).astype(int)
    whitening = ZCAWhitening(REGULARIZATION).fit(pairs)

    def see(some: FramePairs) -> OuterProducts:
        return outer_products(whitening.transform(some), WORLDS["L1"].feature)

    chi = see(pairs)
    some = slice(config.n_kmeans)
    clustered, kmeans = _cluster(chi[some], rightward[some], which[some], seed)
    filters = _filters(chi, rightward, rng) | {name: found.generators_ for name, found in clustered.items()}
    taught = [(test, see(test)) for test in _gratings(config, config.wavelengths, config.n_test, rng)]
    tests = [*taught, *((test, see(test)) for test in _gratings(config, config.new_wavelengths, config.n_test, rng))]
    return Learned(
        {name: np.array([told(f, seen, test).difference for test, seen in tests]) for name, f in filters.items()},
        {
            name: np.array([told(filters[name], seen, t, nearness(filters[name], seen)).outputs for t, seen in tests])
            for name in clustered
        },
        cosine(*filters["nsm"]),
        kmeans._replace(response=_response(filters["kmeans"], taught) / _response(filters["nsm"], taught)),
    )


def _response(filters: np.ndarray, tests: list[tuple[FramePairs, OuterProducts]]) -> np.ndarray:
    """Mean output, for each test, of the difference of two filters, at norm 1, where content moves right."""
    right, left = filters[rightward_first(filters)]
    difference = of_norm_1(right - left)[None]
    ways = [np.sign(np.asarray(test.motion)[:, 0]) for test, _ in tests]
    return np.array([np.mean(seen.project(difference)[:, 0] * way) for (_, seen), way in zip(tests, ways, strict=True)])


def _filters(chi: OuterProducts, rightward: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return two filters of each learner and null, one a direction; of SM and PCA the first component, both signs."""
    sm = SimilarityMatching(2, forgetting=1 - RATE, n_passes=PASSES).fit(chi).generators_[0]
    pca = OuterProductPCA(2).fit(chi).generators_[0]
    return {
        "nsm": opposed(chi).filters,
        "sm": np.stack([sm, -sm]),
        "pca": np.stack([pca, -pca]),
        "sm_start": np.multiply.outer([1, -1], start_alone(1, chi, nonnegative=False)[0]),
    } | unlearned(chi, rightward, rng)


def _cluster(
    chi: OuterProducts, rightward: np.ndarray, which: np.ndarray, seed: int
) -> tuple[dict[str, OuterProductKMeans], Clusters]:
    """Let K-means find two clusters: as always, from those that motion makes, and of chi at unit length."""
    means = labelled_means(chi, rightward)
    norms = chi.norms()
    found = centres(chi, seed)
    from_motion = OuterProductKMeans(2, init=means.reshape(2, -1), n_init=1).fit(chi)
    of_unit_length = centres(OuterProducts(chi.u / np.maximum(norms, 1e-300)[:, None], chi.v), seed)
    sizes = np.bincount(found.labels_, minlength=2)
    small = found.labels_ == sizes.argmin()
    counts = np.bincount(rightward, minlength=2)
    inertia = (norms**2).sum() - (counts * (means**2).sum(axis=(1, 2))).sum()
    return {"kmeans": found, "kmeans_from_motion": from_motion, "kmeans_unit_length": of_unit_length}, Clusters(
        np.array(sizes.min() / len(chi)),
        np.array((which[small] == 0).mean()),
        np.array(inertia / found.inertia_),
        np.array(from_motion.inertia_ / found.inertia_),
        np.array(norms[which == 0].mean() / norms[which == which.max()].mean()),
        response=np.zeros(0),
    )


# -- claims ---------------------------------------------------------------------------------------------------------


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C6."""
    learned: Learned = found["learned"]
    m = len(config.wavelengths)
    taught, tested = (", ".join(f"{w:g}" for w in each) for each in (config.wavelengths, config.new_wavelengths))
    note = f"optics and shifts of L1; learned from wavelengths {taught} pixels, tested on {tested}"
    note = f"{note}; whitening regularised by {REGULARIZATION:g}"
    title = "accuracy of direction on gratings of new wavelengths, the worst: {}"
    shares = {name: each[:, m:] for name, each in learned.accuracy.items()}
    nulls = {
        "random": Null("random filters at their worst wavelength", shares["random"].min(axis=1), np.max),
        "labelled": Null(NULLS["labelled"], shares["labelled"], np.min),
    }
    start = {name: Null(NULLS["start"], shares[name], np.min) for name in ("start", "sm_start")}
    yield from beside(
        above("C6.accuracy", title.format("NSM"), shares["nsm"], 0.99, note=note), start=start["start"], **nulls
    )
    for name, label in (("sm", "SM's first component"), ("pca", "PCA's first component")):
        row = above(f"C6.accuracy_{name}", title.format(label), shares[name], 0.99, note=note)
        beneath = {"start": start["sm_start"]} if name == "sm" else {}
        yield from beside(row, **beneath, random=nulls["random"])
    yield report(
        "C6.cos", "cosine of NSM's two filters, learned from gratings", learned.cosine, worst=np.max, note=note
    )
    yield from _check_kmeans(learned, config, title, note)


def _check_kmeans(learned: Learned, config: Config, title: str, note: str) -> Iterator[Claim]:
    """Report K-means, and why it comes out so."""
    kmeans, m = learned.kmeans, len(config.wavelengths)
    ways = {"from_motion": "K-means from averages by label", "unit_length": "K-means of chi at unit length"}
    for id, what, shares in (
        ("accuracy", "the difference of K-means' centres", learned.accuracy),
        ("clusters", "K-means' clusters", learned.clusters),
    ):
        row = report(
            f"C6.{id}_kmeans", title.format(what), shares["kmeans"][:, m:], worst=np.min, note=f"{note}; {WHY}"
        )
        taught = Null("on the wavelengths learned from", shares["kmeans"][:, :m], np.min)
        others = {way: Null(words, shares[f"kmeans_{way}"][:, m:], np.min) for way, words in ways.items()}
        yield from beside(row, taught=taught, **others)
    means = zip(config.wavelengths, kmeans.response.mean(axis=0), strict=True)
    by_wavelength = "mean of seeds: " + ", ".join(f"{length:g} pixels {mean:.2f}" for length, mean in means)
    title = "K-means of gratings: mean output to those learned from, relative to NSM's, least"
    yield report("C6.kmeans_response", title, kmeans.response, worst=np.min, note=by_wavelength)
    small, started = "share of the smaller cluster's pairs", "when K-means starts from averages by label"
    for name, words, values, worst in (
        ("smaller", "share of pairs in the smaller cluster, largest", kmeans.smaller, np.max),
        ("shortest", f"{small} that show the shortest wavelength, least", kmeans.shortest, np.min),
        ("sizes", "mean norm of chi of the shortest wavelength, relative to the longest, least", kmeans.sizes, np.min),
        ("inertia_motion", "inertia of clusters right and left, relative to that found, least", kmeans.motion, np.min),
        ("inertia_from_motion", f"inertia {started}, relative to that found, largest", kmeans.from_motion, np.max),
    ):
        yield report(f"C6.kmeans_{name}", f"K-means of gratings: {words}", values, worst=worst)

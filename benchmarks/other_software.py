"""Measure what docs/other-software.md says of scikit-learn and pymoten: ``python benchmarks/other_software.py``.

Both see what ours see, in the same run; times are of the processor. Prints the tables, in Markdown.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.ndimage import shift
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.decomposition import PCA, FastICA, IncrementalPCA

from flymotion import (
    ExponentialNoise,
    FramePairs,
    Line,
    MotionField,
    NonnegativeSimilarityMatching,
    SimilarityMatching,
    Translation,
    ZCAWhitening,
    outer_products,
    sample_pairs,
)
from flymotion.learner import load_photographs

N_SEEDS, N_PAIRS = 5, 20_000

OURS: dict[str, Callable[[int], Any]] = {
    "`SimilarityMatching`": lambda seed: SimilarityMatching(2),
    "`NonnegativeSimilarityMatching`": lambda seed: NonnegativeSimilarityMatching(2),
}
THEIRS: dict[str, Callable[[int], Any]] = {
    "PCA": lambda seed: PCA(2, random_state=seed),
    "IncrementalPCA": lambda seed: IncrementalPCA(2),
    "FastICA": lambda seed: FastICA(2, random_state=seed, max_iter=1000),
    "KMeans": lambda seed: KMeans(2, random_state=seed, n_init=10),
    "MiniBatchKMeans": lambda seed: MiniBatchKMeans(2, random_state=seed, n_init=10),
}

SPEEDS, N_MOVIES, SIDE, N_FRAMES = (0.5, 1.0, 2.0), 32, 96, 24


def seconds(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what work returns, and the processor's time for it [s]."""
    began = time.process_time()
    return work(), time.process_time() - began


def written_out(pairs: FramePairs) -> np.ndarray:
    """Return every product of a change and an intensity, which scikit-learn has to be given."""
    return np.einsum("ti,tj->tij", pairs.after - pairs.before, pairs.before).reshape(len(pairs.before), -1)


def told(outputs: np.ndarray, truth: np.ndarray) -> float:
    """Return how often the sign of an output, or of the difference of both, is the direction: the best of the three."""
    signs = np.sign(np.column_stack([outputs, outputs[:, 0] - outputs[:, 1]]))
    right = (signs == truth[:, None]).mean(axis=0)
    return float(np.maximum(right, 1 - right).max())


def learn(name: str, n: int) -> str:
    """Return a row: accuracy on new pairs, mean and range over seeds, and time a pair."""
    right, times = [], []
    for seed in range(N_SEEDS):
        eye, motion, scene = Line(n, sigma=0.8), Translation(0.1, ndim=1), ExponentialNoise(3.0, random_state=seed)
        pairs, new = (sample_pairs(scene, eye, motion, m, random_state=(seed, m)) for m in (N_PAIRS, 4_000))
        white = ZCAWhitening().fit(pairs)
        make = (OURS | THEIRS)[name]
        product = (lambda p: outer_products(p, "change")) if name in OURS else written_out
        samples = product(white.transform(pairs))
        model, taken = seconds(lambda make=make, seed=seed, samples=samples: make(seed).fit(samples))
        right.append(told(model.transform(product(white.transform(new))), np.sign(new.motion.ravel())))
        times.append(1e6 * taken / N_PAIRS)
    return f"{np.mean(right):.3f} ({min(right):.3f} to {max(right):.3f}) | {np.median(times):.1f} us"


def large() -> str:
    """Return the time a pair of 225 pixels, 50,625 products, of four components, ours and IncrementalPCA's."""
    before = np.random.default_rng(0).normal(size=(1024, 225))
    pairs = FramePairs(before, before + 0.1 * np.random.default_rng(1).normal(size=before.shape))
    chi, ours = outer_products(pairs, "change"), SimilarityMatching(4, warm_up=1)
    written, theirs = written_out(pairs), IncrementalPCA(4)
    ours.partial_fit(chi), theirs.partial_fit(written[:256])
    here, there = seconds(lambda: ours.partial_fit(chi))[1], seconds(lambda: theirs.partial_fit(written[256:512]))[1]
    return f"{1e6 * here / 1024:.0f} us a pair, and IncrementalPCA {1e6 * there / 256:.0f} us"


def movies() -> Iterator[tuple[float, int, np.ndarray]]:
    """Yield speed [px/frame], direction [deg] and frames of photographs that move, with noise of 2 grey levels."""
    rng, photographs, pad = np.random.default_rng(1), load_photographs(["bundled"]), 60
    for speed in SPEEDS:
        for number in range(N_MOVIES):
            whole = photographs[number % 2]
            top, left = (rng.integers(pad, edge - SIDE - pad) for edge in whole.shape)
            part = whole[top - pad : top + SIDE + pad, left - pad : left + SIDE + pad]
            angle = 45 * int(rng.integers(8))
            step = speed * np.array([-np.sin(np.radians(angle)), np.cos(np.radians(angle))])
            seen = [shift(part, step * (t - N_FRAMES / 2))[pad:-pad, pad:-pad] for t in range(N_FRAMES)]
            noisy = np.array(seen) + rng.normal(scale=2.0, size=(N_FRAMES, SIDE, SIDE))
            yield speed, angle, np.clip(noisy, 0, 255).astype(np.uint8)


def by_field(frames: np.ndarray) -> float:
    """Return the direction [deg] of the mean over frames of the median velocity of the better known half of pixels."""
    stream, found = MotionField(speed="accurate", outputs=("velocity", "confidence")).stream(), []
    for frame in frames:
        field = stream.step(frame)
        if field is not None:
            found.append(np.median(field.velocity[:, field.confidence >= np.median(field.confidence)], axis=1))
    x, y = np.mean(found, axis=0)
    return float(np.degrees(np.arctan2(-y, x)))


def by_energy(pyramid: Any, frames: np.ndarray) -> float:
    """Return the direction [deg] of the vector sum of mean motion energies, over filters of a direction that move.

    Turned by 180 degrees: pymoten 0.1.3 labels them so that most energy is opposite to where content moves. Means, as
    it has more filters of some directions than of others.
    """
    energy = pyramid.project_stimulus(frames.astype(float))[8:-8].mean(axis=0)
    moving = np.array([each["temporal_freq"] > 0 for each in pyramid.filters])
    angles = np.array([each["direction"] for each in pyramid.filters])
    means = {angle: energy[moving & (angles == angle)].mean() for angle in np.unique(angles)}
    return float(np.degrees(np.angle(-sum(mean * np.exp(1j * np.radians(angle)) for angle, mean in means.items()))))


def directions() -> None:
    """Print how often each names the direction right, of eight, and the time a frame."""
    import moten

    pyramid = moten.get_default_pyramid(vhsize=(SIDE, SIDE), fps=N_FRAMES)
    ways = {"`MotionField`, accurate": by_field, "pymoten": lambda frames: by_energy(pyramid, frames)}
    shown = list(movies())
    for name, way in ways.items():
        way(shown[0][2])
        runs = [(speed, angle, *seconds(lambda way=way, frames=frames: way(frames))) for speed, angle, frames in shown]
        off = np.array([abs((found - angle + 180) % 360 - 180) for _, angle, found, _ in runs]).reshape(len(SPEEDS), -1)
        right = " | ".join(f"{np.mean(row <= 22.5):.0%}, {np.mean(row <= 67.5):.0%}" for row in off)
        taken = 1e3 * np.sum([taken for *_, taken in runs]) / (len(runs) * N_FRAMES)
        print(f"| {name} | {right} | {taken:.1f} ms |")


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # FastICA does not always converge
    learn("`NonnegativeSimilarityMatching`", 5), learn("`SimilarityMatching`", 5)  # compiled, once
    for each in OURS | THEIRS:
        print(f"| {each} | {learn(each, 5)} | {learn(each, 15)} |", flush=True)
    print(large())
    directions()

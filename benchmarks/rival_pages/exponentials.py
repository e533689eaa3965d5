"""Exponential operators beside their first order and similarity matching; docs/lie-operators.md.

python benchmarks/rival_pages/exponentials.py [--part NAME ...] [--seeds N] [--figure PNG]

prints the tables of that page in Markdown; the figure is of its part `cyclic`, seed 0. Each cell has the median error,
the share of pairs within the bound, and the share of directions right: medians over seeds. Seed k is the same whatever
N is.
"""

from __future__ import annotations

import argparse
import copy
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from flymotion.claims.transformations.planes import PLANES
from flymotion.claims.worlds import World
from flymotion.frames import FramePairs
from flymotion.generators import Generators, Operators, cosine
from flymotion.photoreceptors import ZCAWhitening
from flymotion.plots.canvas import new_figure, save_figure
from flymotion.relations import ExponentialOperators
from flymotion.relations.alternation import Penalty, alternate
from flymotion.similarity import SimilarityMatching
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.rivals import OuterProductPCA
from flymotion.world.eyes import Grid
from flymotion.world.motions import Mixture, Motion, Rotation, Shear, Translation, Zoom
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import SmoothNoise

Estimate = Callable[[FramePairs], np.ndarray]
"""A number for each pair, shape (n_pairs,)."""

SHOWN = [(0.0, 0.5), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0)]
"""Shifts of a column [px]."""

N_REGISTERED = 200
"""New pairs that are registered, which takes long."""


def shifts(pairs: FramePairs) -> np.ndarray:
    assert pairs.motion is not None
    return pairs.motion[:, 0]


def unit(estimates: np.ndarray, motion: np.ndarray) -> float:
    """Return what brings estimates to pixels: the median ratio, of shifts over 0.1 px."""
    clear = (np.abs(motion) > 0.1) & (np.abs(estimates) > 1e-12)
    return float(np.median(motion[clear] / estimates[clear]))


def read(estimate: Estimate, pairs: FramePairs, new: FramePairs) -> np.ndarray:
    """Return the estimates of new pairs in pixels, by the scale of pairs known."""
    return estimate(new) * unit(estimate(pairs), shifts(pairs))


def small(pairs: FramePairs) -> FramePairs:
    """Return the pairs that shift by less than half a pixel, where the first order is right."""
    return pairs[np.abs(shifts(pairs)) < 0.5]


def first_order(pairs: FramePairs, K: int) -> np.ndarray:
    """Return what explains changes of the midpoint to first order, by closed forms in turn, shape (K, n, n)."""
    change, middle = pairs.after - pairs.before, (pairs.before + pairs.after) / 2
    start = OuterProductPCA(K).fit(OuterProducts(change, middle)).generators_
    start /= np.linalg.norm(start, axis=(1, 2), keepdims=True)
    return alternate(change, middle, start, Penalty(), 15, 0.0).operators


def regressed(A: np.ndarray, *, middle: bool) -> Estimate:
    """Return the estimate by regression of changes on what an operator makes of the frame before, or the midpoint."""

    def estimate(pairs: FramePairs) -> np.ndarray:
        moved = ((pairs.before + pairs.after) / 2 if middle else pairs.before) @ A.T
        return ((pairs.after - pairs.before) * moved).sum(axis=1) / (moved**2).sum(axis=1)

    return estimate


def told(learner: ExponentialOperators) -> Estimate:
    return lambda pairs: learner.transform(pairs)[:, 0]


def at_random(learner: ExponentialOperators, seed: int) -> ExponentialOperators:
    """Return the same learner with an operator that was drawn, of norm 1."""
    other = copy.copy(learner)
    other.generators_ = np.random.default_rng(seed).normal(size=learner.generators_.shape)
    other.generators_ /= np.linalg.norm(other.generators_)
    return other


def judged(estimates: np.ndarray, motion: np.ndarray, bound: float) -> np.ndarray:
    """Return median error, share within a bound, and share of directions right, shape (columns, 3)."""
    error, right = np.abs(estimates - motion), np.sign(estimates) == np.sign(motion)
    kept = [(np.abs(motion) >= low) & (np.abs(motion) < high) for low, high in SHOWN]
    return np.array([(np.median(error[k]), np.mean(error[k] < bound), np.mean(right[k])) for k in kept])


def rows(title: str, seeds: list[dict[str, np.ndarray]]) -> Iterator[str]:
    """Tell medians over seeds of what each estimate was judged."""
    for name in seeds[0]:
        cells = np.median([seed[name] for seed in seeds], axis=0)
        yield f"| {title} | {name} | " + " | ".join(f"{a:.3f} / {b:.2f} / {c:.2f}" for a, b, c in cells) + " |"


def heads() -> str:
    columns = "".join(f" {low:g}-{high:g} px |" for low, high in SHOWN)
    return f"\n| learned from | estimate |{columns}\n|---|---|" + "---|" * len(SHOWN)


# -- shifts ------------------------------------------------------------------------------------------------------------

N_RING = 20


def cyclic(n_pairs: int, most: float, seed: list[int], smooth: float) -> FramePairs:
    """Draw random images, smoothed by a Gaussian [px], and shift them cyclically by Fourier interpolation."""
    rng = np.random.default_rng(seed)
    images = rng.normal(size=(n_pairs, N_RING))
    steps = rng.uniform(-most, most, n_pairs)
    f = np.fft.rfftfreq(N_RING)
    waves = np.fft.rfft(images, axis=1) * np.exp(-2 * (np.pi * f * smooth) ** 2)
    moved = waves * np.exp(-2j * np.pi * f * steps[:, None])
    return FramePairs(np.fft.irfft(waves, N_RING), np.fft.irfft(moved, N_RING), steps)


def derivative() -> np.ndarray:
    """Return the generator of cyclic shifts by Fourier interpolation."""
    f = np.fft.rfftfreq(N_RING)
    turns = -2j * np.pi * f * (f < 0.5)
    return np.fft.irfft(np.fft.rfft(np.eye(N_RING), axis=0) * turns[:, None], N_RING, axis=0)


def on_ring(smooth: float, most: float, seed: int) -> tuple[dict[str, np.ndarray], dict[str, float], FramePairs]:
    """Return the estimates of new pairs, cosines of operators with the derivative, and the new pairs."""
    pairs, new = cyclic(3000, most, [seed, 1], smooth), cyclic(800, 5.0, [seed, 2], smooth)
    learner, A = ExponentialOperators().fit(pairs), first_order(pairs, 1)[0]
    sm = SimilarityMatching(1).fit(outer_products(pairs, "midpoint"))
    few = new[:N_REGISTERED]
    registered = Generators(sm.generators_, (N_RING,)).fitted(pairs).register(few, windows=[np.ones(N_RING)])
    null = at_random(learner, seed)
    estimates = {
        "exponential": read(told(learner), pairs, new),
        "first order": read(regressed(A, middle=False), small(pairs), new),
        "first order, of the midpoint": read(regressed(A, middle=True), small(pairs), new),
        "first order, exponential's operator": read(regressed(learner.generators_[0], middle=True), small(pairs), new),
        "SM, fitted, `register`": registered[:, 0],
        "null: random operator": read(told(null), pairs, new),
        "null: 0": np.zeros(len(new)),
    }
    operators = {"exponential": learner.generators_[0], "first order": A, "SM": sm.generators_[0]}
    return estimates, {name: float(abs(cosine(one, derivative()))) for name, one in operators.items()}, new


RINGS = ((0.0, 0.5, 5), (0.0, 3.0, 3), (1.0, 0.5, 2), (1.0, 3.0, 2))
"""Smoothness [px], shifts up to [px], and seeds on the page."""


def cyclic_part(n_seeds: int | None, figure: str | None = None) -> Iterator[str]:
    """Their own data. Bound 0.25 px."""
    yield heads()
    alike, drawn = [], {}
    for smooth, most, n_page in RINGS:
        seeds = range(n_seeds or n_page)
        found = [on_ring(smooth, most, seed) for seed in seeds]
        title = f"{f'smooth ({smooth:g} px)' if smooth else 'white'}, to {most:g} px ({len(seeds)} seeds)"
        parts = [
            {name: judged(one, shifts(new)[: len(one)], 0.25) for name, one in estimates.items()}
            for estimates, _, new in found
        ]
        yield from rows(title, parts)
        ranges = {name: [cosines[name] for _, cosines, _ in found] for name in found[0][1]}
        told_of = "; ".join(f"{name} {min(one):.3f}-{max(one):.3f}" for name, one in ranges.items())
        alike.append(f"- {title}: {told_of}")
        if not smooth:
            drawn[f"learned from shifts to {most:g} px"] = found[0][0], shifts(found[0][2])
    yield "\nCosines with the derivative, least and largest over seeds:\n"
    yield from alike
    if figure:
        draw(drawn, figure)


def draw(panels: dict[str, tuple[dict[str, np.ndarray], np.ndarray]], path: str) -> None:
    """Draw estimated against true shifts."""
    figure = new_figure(9.5, 5.0)
    for axes, (title, (estimates, motion)) in zip(figure.subplots(1, len(panels), sharey=True), panels.items(),
                                                  strict=True):  # fmt: skip
        axes.axhline(0, color="0.4", linewidth=0.8, linestyle=":", label="null: 0")
        axes.plot([-5, 5], [-5, 5], color="0.7", linewidth=1, label="true shift")
        styles = {"SM, fitted, `register`": "C2x", "first order, of the midpoint": "C1s", "exponential": "C0o"}
        for name, style in styles.items():
            values = estimates[name]
            label = name.replace("`", "")
            axes.plot(motion[: len(values)][:300], values[:300], style, markersize=2.5, label=label)
        axes.set(title=title, xlabel="true shift [px]", xlim=(-5.2, 5.2), ylim=(-5.2, 5.2), aspect="equal")
    figure.axes[0].set_ylabel("estimated shift [px]")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, markerscale=2)
    save_figure(figure, path, dpi=100)


SIGMA = 0.475
"""A fly's, rounded [px]."""


def in_windows(n: int, most: float, seed: int) -> dict[str, np.ndarray]:
    """Judge estimates of windows of an endless world seen through a fly's optics, whitened. Bound 0.5 px."""
    pairs = World(SIGMA, most, "midpoint").pairs(n, 4000, [seed, 1, n])
    new = World(SIGMA, 4.0, "midpoint").pairs(n, 600, [seed, 2, n])
    whitening = ZCAWhitening(0.0).fit(pairs)
    white, seen = whitening.transform(pairs), whitening.transform(new)
    learner, A = ExponentialOperators().fit(white), first_order(white, 1)[0]
    sm = SimilarityMatching(1).fit(outer_products(white, "midpoint"))
    operators = Generators(sm.generators_, (n,), whitening.matrix_).fitted(pairs)
    null = at_random(learner, seed)
    estimates = {
        "exponential": read(told(learner), white, seen),
        "first order": read(regressed(A, middle=False), small(white), seen),
        "first order, of the midpoint": read(regressed(A, middle=True), small(white), seen),
        "SM, fitted, linear": operators.estimate(new)[:, 0],
        "SM, fitted, `register`": operators.register(new[:N_REGISTERED])[:, 0],
        "null: random operator": read(told(null), white[:1000], seen),
        "null: 0": np.zeros(len(new)),
    }
    return {name: judged(one, shifts(new)[: len(one)], 0.5) for name, one in estimates.items()}


def windows_part(n_seeds: int | None) -> Iterator[str]:
    """Windows of an endless world. Bound 0.5 px."""
    yield heads()
    for n in (15, 25):
        for most in (0.5, 3.0):
            yield from rows(f"{n} pixels, to {most:g} px", [in_windows(n, most, s) for s in range(n_seeds or 1)])


# -- the plane ---------------------------------------------------------------------------------------------------------


def disc_part(n_seeds: int | None) -> Iterator[str]:
    """Rotations inside a disc: median error, and that of 95 % of new pairs [deg]."""
    tens = range(0, 60, 10)
    yield "\n| learned from rotations to | " + " | ".join(f"{ten}-{ten + 10}" for ten in tens) + " | left over |"
    yield "|---" * (len(tens) + 2) + "|"
    frequencies = []
    for most in (10.0, 45.0):
        found, left = [], []
        for seed in range(n_seeds or 1):
            errors, learner, scale = in_disc(most, seed)
            found.append(errors)
            left.append(learner.objective_)
            values = np.linalg.eigvals(learner.generators_[0] / scale * 180 / np.pi).imag
            frequencies.append(f"- to {most:g} degrees, seed {seed}: {np.sort(values)[::-1][:12].round(2)}")
        cells = [f"{a:.2f} ({b:.2f})" for a, b in np.median(found, axis=0)]
        yield f"| {most:g} degrees | {' | '.join(cells)} | {np.median(left):.5f} |"
    yield "\nFrequencies of the operators, largest first; those of rotation are whole numbers:\n"
    yield from frequencies


def in_disc(most: float, seed: int) -> tuple[list[tuple[float, float]], ExponentialOperators, float]:
    """Return errors in steps of ten degrees, the learner, and the unit of its magnitudes [deg]."""
    eye, scene = Grid(9, 9, 0.5), SmoothNoise(3.0, ndim=2, period=512.0, random_state=seed)
    disc = np.linalg.norm(eye.positions, axis=1) <= 4.2

    def drawn(largest: float, n_pairs: int, which: int) -> FramePairs:
        pairs = sample_pairs(scene, eye, Rotation(largest), n_pairs, random_state=2 * seed + which).flat()
        return FramePairs(pairs.before[:, disc], pairs.after[:, disc], pairs.motion)

    pairs, new = drawn(most, 4000, 1), drawn(60.0, 1500, 2)
    whitening = ZCAWhitening(1e-4).fit(pairs)
    pairs, new = whitening.transform(pairs), whitening.transform(new)
    learner = ExponentialOperators(tol=1e-4).fit(pairs)
    scale = float(np.median(shifts(pairs) / learner.transform(pairs)[:, 0]))
    size, errors = np.abs(shifts(new)), np.abs(learner.transform(new)[:, 0] * scale - shifts(new))
    kept = [errors[(size >= low) & (size < low + 10)] for low in range(0, 60, 10)]
    return [(float(np.median(one)), float(np.quantile(one, 0.95))) for one in kept], learner, scale


def translations_part(n_seeds: int | None) -> Iterator[str]:
    """Two translations, and rotation, of 5 x 5 pixels in world G, read on 2,000 new pairs."""
    yield "\n| motion | correlations of each | axis and direction right |\n|---|---|---|"
    for name in ("translation", "rotation"):
        for seed in range(n_seeds or 1):
            pairs = PLANES[f"{name}_exponential_wide"].pairs(12_000, np.random.default_rng(seed))
            white = ZCAWhitening(1e-5).fit(pairs).transform(pairs).flat()
            motion: Any = pairs.motion
            K, new = motion.shape[1], motion[10_000:]
            learner = ExponentialOperators(K, tol=1e-3, max_iter=10, n_starts=9).fit(white[:2000])
            theta = learner.transform(white[10_000:])
            read_out = theta @ np.linalg.lstsq(theta, new, rcond=None)[0]
            alike = [f"{np.corrcoef(read_out[:, k], new[:, k])[0, 1]:.3f}" for k in range(K)]
            row, axis = np.arange(len(new)), np.abs(new).argmax(axis=1)
            right = np.abs(read_out / new.std(axis=0)).argmax(axis=1) == axis
            right &= np.sign(read_out[row, axis]) == np.sign(new[row, axis])
            yield f"| {name} | {', '.join(alike)} | {right.mean():.3f} |"


def affine_part(n_seeds: int | None) -> Iterator[str]:
    """The affine group's six operators to first order, on 5 x 5 pixels: share of each parameter's variance, new pairs.

    From pairs that move in one of the six ways each, up to 1 px, 15 degrees and 0.2. The exponential of all six was not
    reached.
    """
    yield "\n| pairs | share of variance explained, by parameter |\n|---|---|"
    ways: list[Motion] = [Translation(1.0), Rotation(15.0), Zoom(0.2), Shear(0.2)]
    for n_pairs in (500, 2500):
        for seed in range(n_seeds or 1):
            scene = SmoothNoise(3.0, ndim=2, period=512.0, random_state=seed)
            pairs = sample_pairs(scene, Grid(5, 5, 0.5), Mixture(*ways), n_pairs + 1000, random_state=seed + 1).flat()
            white = ZCAWhitening(1e-2).fit(pairs).transform(pairs)
            operators = Operators(first_order(white[:n_pairs], 6), (5, 5))
            assert pairs.motion is not None
            motion = pairs.motion / pairs.motion.std(axis=0)
            theta = operators.estimate(white)
            mixed = np.linalg.lstsq(theta[:n_pairs], motion[:n_pairs], rcond=None)[0]
            left, new = (motion - theta @ mixed)[n_pairs:], motion[n_pairs:]
            share = 1 - (left**2).mean(axis=0) / (new**2).mean(axis=0)
            yield f"| {n_pairs} | {', '.join(f'{one:.3f}' for one in share)} |"


PARTS: dict[str, Callable[..., Iterator[str]]] = {
    "cyclic": cyclic_part,
    "windows": windows_part,
    "disc": disc_part,
    "translations": translations_part,
    "affine": affine_part,
}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, help="by default the page's: 5, 3 and 2 on rings, else 1")
    parser.add_argument("--figure", help="where to draw what the part `cyclic` estimates")
    given = parser.parse_args(arguments)
    for name in given.part:
        more = {"figure": given.figure} if name == "cyclic" else {}
        for text in PARTS[name](given.seeds, **more):
            print(text, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

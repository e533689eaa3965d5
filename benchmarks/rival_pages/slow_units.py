"""The slowest functions of what is seen beside other functions of the same products, and what they answer to gratings.

That is what Berkes & Wiskott 2005 measure: complex cells, and direction.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_sample_images
from slow_clips import as_pairs, noise_clips, photograph_clips, read
from tables import of_seeds, spread, table

from flymotion.frames import FramePairs
from flymotion.relations import slowness
from flymotion.world import Grid
from flymotion.world.scenes import ExponentialNoise

PHASES = 2 * np.pi * np.arange(32) / 32

SPACING = 1 / 16
"""Of the frequencies of gratings [cycles a pixel]."""


# -- units -------------------------------------------------------------------------------------------------------------


class Problem:
    """Products of what is seen, their covariance, and that of their changes: what SlowFeatures solves for the slowest.

    Units are columns of weights on the products, shape (D, K).
    """

    def __init__(self, pairs: FramePairs, of: str = "pairs", n_inputs: int | None = None) -> None:
        before, after = pairs.before, pairs.after
        steps = (before, after) if of == "frames" else slowness._steps_of_a_movie(before, after)
        self.of = of
        self.mean, self.roots = slowness._whitening(steps, n_inputs)
        C, D, self.z_mean = slowness._moments(steps, self._products)
        self.whitening = slowness._inverse_roots(C)
        self.vectors = np.linalg.eigh(self.whitening.T @ D @ self.whitening)[1]
        changes = (steps[1] - steps[0]) @ self.roots
        self.of_inputs = np.linalg.eigh(changes.T @ changes / len(changes))[1]

    def slowest(self, K: int) -> np.ndarray:
        return self.whitening @ self.vectors[:, :K]

    def fastest(self, K: int) -> np.ndarray:
        return self.whitening @ self.vectors[:, ::-1][:, :K]

    def random(self, K: int, rng: np.random.Generator) -> np.ndarray:
        """Draw uncorrelated units of variance 1."""
        return self.whitening @ np.linalg.qr(rng.standard_normal((self.whitening.shape[1], K)))[0]

    def linear(self, K: int) -> np.ndarray:
        """Return the slowest among linear functions."""
        w = np.zeros((len(self.z_mean), K))
        w[: len(self.of_inputs)] = self.of_inputs[:, :K]
        return w

    def all_of(self, K: int, seed: int) -> dict[str, np.ndarray]:
        return {
            "slowest": self.slowest(K),
            "fastest": self.fastest(K),
            "random": self.random(K, np.random.default_rng(seed)),
            "linear, slowest": self.linear(K),
        }

    def respond(self, w: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return answers to what is seen, shape (m, d), a few thousand at a time."""
        blocks = np.array_split(u, max(1, len(u) // 4096))
        return np.concatenate([(self._products(some - self.mean, whole=False) - self.z_mean) @ w for some in blocks])

    def _products(self, u: np.ndarray, whole: bool = True) -> np.ndarray:
        return slowness._quadratic((u - self.mean if whole else u) @ self.roots)


def both(pairs: FramePairs) -> np.ndarray:
    """Return pairs as vectors of both frames."""
    return np.hstack([pairs.before, pairs.after])


# -- gratings ----------------------------------------------------------------------------------------------------------


def gratings(waves: np.ndarray, steps: np.ndarray, amplitude: float, of: str) -> Iterator[np.ndarray]:
    """Yield gratings of all phases, shape (n_phases, d), for each wave and each step that it drifts.

    Parameters
    ----------
    waves : ndarray, shape (n_waves, 2, n)
        Phase of each wave at each pixel [rad], and what a step of one pixel spacing adds to it.
    steps : ndarray, shape (n_steps,)
        What the wave moves by from one frame to the next, across its bars [pixel spacings].
    """
    for at, turn in waves:
        for step in steps:
            now, then = (amplitude * np.cos(at - s * turn - PHASES[:, None]) for s in (0.0, step))
            yield now if of == "frames" else np.hstack([now, then])


def line_waves(n: int) -> np.ndarray:
    x = np.arange(n) - (n - 1) / 2
    return np.array([2 * np.pi * f * np.stack([x, np.ones(n)]) for f in SPACING * np.arange(1, 8)])


def plane_waves(eye: Grid) -> np.ndarray:
    waves = []
    for f in SPACING * np.arange(1, 5):
        for angle in np.radians(22.5 * np.arange(8)):
            x = eye.positions @ np.array([np.cos(angle), -np.sin(angle)])
            waves.append(2 * np.pi * f * np.stack([x, np.ones(len(x))]))
    return np.array(waves)


def tuning(problem: Problem, w: np.ndarray, waves: np.ndarray, steps: np.ndarray, amplitude: float) -> np.ndarray:
    """Return answers to gratings, less those to none, shape (n_waves, n_steps, n_phases, K)."""
    shown = np.concatenate(list(gratings(waves, steps, amplitude, problem.of)))
    blank = problem.respond(w, problem.mean[None])
    return (problem.respond(w, shown + problem.mean) - blank).reshape(len(waves), len(steps), len(PHASES), -1)


def modulation(answers: np.ndarray) -> np.ndarray:
    """Return AC/DC of each unit at its best grating, rectified: 0 of complex cells, pi/2 of linear ones; shape (K,)."""
    found = []
    for r in answers.reshape(-1, *answers.shape[-2:]).transpose(2, 0, 1):
        means = np.abs(r.mean(axis=1))
        best = r[means.argmax() if means.max() > 1e-9 * np.abs(r).max() else np.abs(r).max(axis=1).argmax()]
        rectified = np.maximum(best if best.mean() >= -1e-12 else -best, 0)
        found.append(np.ptp(rectified) / 2 / rectified.mean())
    return np.array(found)


def direction_index(answers: np.ndarray) -> np.ndarray:
    """Return how much more each unit answers to its best grating than to the same drifting back, shape (K,)."""
    found = []
    for r in answers.mean(axis=2).transpose(2, 0, 1):
        r = r * np.sign(r.flat[np.abs(r).argmax()])
        wave, step = np.unravel_index(r.argmax(), r.shape)
        there, back = r[wave, step], max(r[wave, -1 - step], 0)
        found.append((there - back) / (there + back))
    return np.array(found)


# -- parts of the page -------------------------------------------------------------------------------------------------


def noise_units(n_seeds: int) -> Iterator[str]:
    """Complex cells, direction and speed: 16 pixels of a line, in moving noise."""

    def measured(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
        scene, other = (ExponentialNoise(3.0, period=32768.0, sharpest=0.6, random_state=seed + d) for d in (0, 50))
        steady, unsteady = (noise_clips(scene, 4000, 6, seed, lasts) for lasts in (True, False))
        new = noise_clips(other, 5000, 2, seed + 90)
        return units(steady, unsteady, new, seed, line_waves(16), np.linspace(-3, 3, 25), (8, 12), (None, None))

    yield from told_units(f"16 pixels in moving noise, {n_seeds} seeds", [measured(seed) for seed in range(n_seeds)])


def photograph_units(n_seeds: int) -> Iterator[str]:
    """Measure the same of two photographs that move in all directions, 8 x 8 pixels."""
    eye, images = Grid(8, 8, 0.6), [image.mean(axis=2) for image in load_sample_images().images]
    images = [image / image.std() for image in images]

    def measured(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
        steady, unsteady = (photograph_clips(images, eye, 4000, 6, seed, lasts) for lasts in (True, False))
        new = photograph_clips(images, eye, 4000, 2, seed + 500)
        return units(steady, unsteady, new, seed, plane_waves(eye), np.linspace(-2, 2, 9), (12, 20), (30, 50))

    yield from told_units(f"Two photographs, {n_seeds} seeds", [measured(seed) for seed in range(n_seeds)])


Clips = tuple[np.ndarray, np.ndarray]


def units(
    steady: Clips,
    unsteady: Clips,
    new: Clips,
    seed: int,
    waves: np.ndarray,
    steps: np.ndarray,
    n_units: tuple[int, int],
    n_inputs: tuple[int | None, int | None],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Measure units of frames, and of pairs; ``n_units`` and ``n_inputs`` are of both."""
    pairs, of_new = as_pairs(*steady), as_pairs(*new)
    amplitude = np.sqrt(2) * steady[0].std()
    of_frames = Problem(pairs, "frames", n_inputs[0])
    modulations = {
        name: modulation(tuning(of_frames, w, waves, np.zeros(1), amplitude))
        for name, w in of_frames.all_of(n_units[0], seed).items()
    }
    problem = Problem(pairs, "pairs", n_inputs[1])
    found = [(name, problem, w) for name, w in problem.all_of(n_units[1], seed).items()]
    other = Problem(as_pairs(*unsteady), "pairs", n_inputs[1])
    found.append(("slowest, motion new at every frame", other, other.slowest(n_units[1])))
    return modulations, {
        name: figures(one, w, tuning(one, w, waves, steps, amplitude), pairs, of_new) for name, one, w in found
    }


FIGURES = ("AC/DC, median", "index above 0.5", "r with velocity", "with speed", "direction, labels", "velocity, labels")
"""Of units of pairs: the largest correlation of one unit, then what all together tell."""


def figures(problem: Problem, w: np.ndarray, answers: np.ndarray, pairs: FramePairs, new: FramePairs) -> list[float]:
    """Return the numbers of ``FIGURES``."""
    f, g = (problem.respond(w, both(some)) for some in (pairs, new))
    v, v_new = (np.asarray(some.motion) for some in (pairs, new))
    speed = np.linalg.norm(v_new, axis=1)
    alike = np.abs(np.corrcoef(g.T, np.c_[v_new, speed].T)[: g.shape[1], g.shape[1] :]).max(axis=0)
    told = np.mean([read(f, v[:, i], g, v_new[:, i]) for i in range(v.shape[1])], axis=0)
    selective = float(np.mean(direction_index(answers) > 0.5))
    return [float(np.median(modulation(answers))), selective, alike[:-1].max(), alike[-1], *told]


def told_units(title: str, measured: list[tuple[dict[str, Any], dict[str, Any]]]) -> Iterator[str]:
    of_frames, of_pairs = (of_seeds(each) for each in zip(*measured, strict=True))
    rows = (
        [name, f"{np.median(one):.2f}", f"{one.max():.2f}", f"{(one < 1).mean():.2f}"]
        for name, one in of_frames.items()
    )
    yield from table(f"{title}: AC/DC of units of frames", ["units", "median", "largest", "share below 1"], rows)
    told = ([name, *(spread(column, 2) for column in one.T)] for name, one in of_pairs.items())
    yield from table(f"{title}: units of pairs", ["units", *FIGURES], told)

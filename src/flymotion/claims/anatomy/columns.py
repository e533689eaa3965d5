"""Columns that look at photographs (P) and at scenes about a turning eye (S), and what their T4s and T5s learn.

A patch is a pixel and two rings about it. In P two photographs move in four directions in front of it, by up to 0.3 of
its spacing; in S a piece of the sphere with a fly's spacing and acceptance looks straight ahead, and the eye pitches
and yaws by as much, in smooth noise of 15 degrees. Frames are whitened and their contrast normalised; rows of weights
are read onto intensities in pixels (everything before taken into account) and onto whitened ones.

==========  ==========================================================================================================
patch       one network, the change at every pixel and all intensities (whole chi); its units' middle row is read
column      four cells at one pixel, the change there alone, each with its own output (a scalar times a vector)
halves      the same, T4 told of the change's ON half alone, T5 of its OFF half
==========  ==========================================================================================================

Units of a patch begin with the batch warm-up, those of columns as dendrites that reach to one side, with random weights
of 0.3 of their norm. T5's rows are about an OFF centre: where all changes are learned from, T4's, turned in sign. Which
unit is which subtype is told by the direction in which it answers most, never by its weights.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from flymotion.circuits import PREFERRED, SUBTYPES
from flymotion.claims.nulls import labelled_means, random_filters, start_state
from flymotion.claims.starts.raising import SCATTER, raised, scaled
from flymotion.claims.ways import early_vision
from flymotion.frames import FramePairs
from flymotion.learner.sources import BUNDLED, PHOTO_SHIFT, PHOTO_SIGMA, load_photographs
from flymotion.similarity.dendrites import oriented_dendrites
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.state import State
from flymotion.world.eyes import Hexagon, Sphere
from flymotion.world.lattices import lattice_of, rings
from flymotion.world.motions import Translation, Turn
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import FourierScene, SphericalNoise, photograph

__all__ = [
    "ANGLES",
    "MIDDLE",
    "OFFSETS",
    "PATCH",
    "READS",
    "RIDGES",
    "Learned",
    "Seen",
    "learn_all",
    "named_by",
    "of_all",
    "of_middle",
    "photographs",
    "seen_in",
    "subtypes",
]

OFFSETS = rings(2)
"""Columns of a patch, the middle one in the middle."""

MIDDLE = len(OFFSETS) // 2
PATCH = Hexagon(2, PHOTO_SIGMA)

ANGLES = np.array([PREFERRED[cell[2:]] for cell in SUBTYPES[:4]])
"""Directions that T4a-d prefer, in this order [deg]."""

RIDGES = {"": 1e-4, "_noisy": 1e-2}
"""Of the whitening, relative to the mean variance, by the suffix of what was learned: that of the contest's world of
photographs, and one that stands for receptors' noise of 20 dB."""

VARIANTS = {"": ("", "change"), "_midpoint": ("", "midpoint"), "_noisy": ("_noisy", "change")}
"""Keys of ``RIDGES``, and features, by the suffix of what was learned."""

READS = ("pixels", "whitened")
"""What rows are weights onto."""

BIG = 3
"""Rings of the eye in P, all of whose columns with two rings about them are patches."""

N_PLACES, N_NEW = 1714, 256
"""Places of that eye to learn from, and other ones to read units at; 7 patches each: 12,000 pairs, as in C37."""

SPACING, ANGLE = 5.1, 15.0
"""Of the patch on the sphere, and the correlation angle of its scenes [deg]."""

N_SCENES = 8


class Seen(NamedTuple):
    """What a patch has seen, and which subtype prefers each of its motions."""

    frames: FramePairs
    """After early vision."""
    new: FramePairs
    """The same of other places, not learned from."""
    way: np.ndarray
    """Which of T4a-d prefers the motion, shape (n_pairs,)."""
    new_way: np.ndarray
    Z: np.ndarray
    """Whitening, shape (19, 19)."""


class Learned(NamedTuple):
    """Rows of weights of the eight subtypes, each of a size of 1 in all, and how well their units name directions."""

    pixels: np.ndarray
    """Onto intensities in pixels, shape (8, 19)."""
    whitened: np.ndarray
    """Onto whitened intensities, shape (8, 19)."""
    named: np.ndarray
    """Share of new pairs of whose four directions the right one has the largest output, T4's and T5's, shape (2,)."""
    lateral: np.ndarray
    """M, T4's and T5's in the order of the subtypes, shape (2, 4, 4); 0 where nothing was learned."""


# -- worlds ----------------------------------------------------------------------------------------------------------


def seen_in(world: str, seed: int) -> dict[str, Seen]:
    """Show a patch a world, P or S, through every whitening of ``RIDGES``, fitted to what is learned from."""
    pairs, new = LOOK[world](seed)
    way, new_way = (np.argmax(_velocity(shown) @ _units(), axis=1) for shown in (pairs, new))
    found = {}
    for suffix, ridge in RIDGES.items():
        vision = early_vision(ridge).fit(pairs)
        Z = vision["zcawhitening"].matrix_
        found[suffix] = Seen(vision.transform(pairs), vision.transform(new), way, new_way, Z)
    return found


def _units() -> np.ndarray:
    """Return unit vectors of the four directions as columns, x right and y up, shape (2, 4)."""
    return np.stack([np.cos(np.radians(ANGLES)), np.sin(np.radians(ANGLES))])


def _velocity(pairs: FramePairs) -> np.ndarray:
    """Return the step of the content straight ahead, x right and y up, shape (n_pairs, 2)."""
    motion = np.asarray(pairs.motion)
    if motion.shape[1] == 2:
        return motion * [1, -1]
    return motion[:, [2, 1]]  # yaw to the left takes content to the right, pitch down takes it up


@cache
def photographs() -> list[FourierScene]:
    """Return the two photographs as scenes, a pixel to a spacing, luminance over its mean."""
    return [photograph(image / image.mean(), pixels_per_spacing=1.0) for image in load_photographs([BUNDLED])]


def _in_photographs(seed: int) -> tuple[FramePairs, FramePairs]:
    eye, rng = Hexagon(BIG, PHOTO_SIGMA), np.random.default_rng([seed, 22])
    motion, each = Translation(PHOTO_SHIFT, angles=tuple(ANGLES)), (N_PLACES + N_NEW) // 2
    shown = [sample_pairs(scene, eye, motion, each, rng) for scene in photographs()]
    parts = [
        FramePairs.concatenate([of[:k] if k > 0 else of[k:] for of in shown]) for k in (N_PLACES // 2, -N_NEW // 2)
    ]
    return _patches(parts[0], rng), _patches(parts[1], rng)


def _patches(pairs: FramePairs, rng: np.random.Generator) -> FramePairs:
    """Take every column with two rings about it for a patch of its own, well mixed."""
    around = lattice_of(Hexagon(BIG)).around(2)
    around = around[(around >= 0).all(axis=1)]
    before, after = (frames[:, around].reshape(-1, len(OFFSETS)) for frames in (pairs.before, pairs.after))
    order = rng.permutation(len(before))
    return FramePairs(before, after, np.repeat(np.asarray(pairs.motion), len(around), axis=0))[order]


def _on_the_sphere(seed: int) -> tuple[FramePairs, FramePairs]:
    rng, eye = np.random.default_rng([seed, 23]), _ahead()
    motion = Turn(PHOTO_SHIFT * SPACING, axes=np.eye(3)[1:])
    scenes = [SphericalNoise(ANGLE, random_state=[seed, 23, k]) for k in range(N_SCENES)]
    sizes = [7 * n // N_SCENES for n in (N_PLACES, N_NEW)]
    parts = [FramePairs.concatenate([sample_pairs(s, eye, motion, n, rng) for s in scenes]) for n in sizes]
    return parts[0][rng.permutation(len(parts[0]))], parts[1]


def _ahead() -> Sphere:
    """Return the patch on the sphere, straight ahead, as far from the middle as in the plane."""
    places = np.radians(SPACING) * PATCH.positions
    far = np.linalg.norm(places, axis=1)
    flat = places * np.sinc(far / np.pi)[:, None]
    return Sphere(np.column_stack([np.cos(far), -flat]))  # y left, z up


LOOK: dict[str, Callable[[int], tuple[FramePairs, FramePairs]]] = {"P": _in_photographs, "S": _on_the_sphere}
"""Pairs to learn from and new ones, by world."""


# -- learning --------------------------------------------------------------------------------------------------------


def learn_all(seen: Mapping[str, Seen], seed: int, *, leaving: Collection[str] = ()) -> dict[str, dict[str, Learned]]:
    """Let all learn from what was seen: by what learned, with the suffix of its feature or ridge, and by its nulls.

    Those in ``leaving`` are left out.
    """
    return {
        f"{kind}{suffix}": learn(seen[ridge], np.random.default_rng([seed, 24]), feature)
        for suffix, (ridge, feature) in VARIANTS.items()
        for kind, learn in LEARNERS.items()
        if f"{kind}{suffix}" not in leaving
    }


def _patch(seen: Seen, rng: np.random.Generator, feature: str) -> dict[str, Learned]:
    chi, new = (of_all(frames, feature) for frames in (seen.frames, seen.new))
    state = start_state(chi, 4, nonnegative=True)
    filters = {
        "start": state.W.reshape(4, *chi.feature_shape),
        "random": random_filters(4, chi, rng),
        "labelled": labelled_means(chi, seen.way),
    }
    state.advance(chi, forgetting=1.0, nonnegative=True, max_sweeps=100)
    filters["nsm"] = state.W.reshape(4, *chi.feature_shape)
    found = {}
    for key, W in filters.items():
        order = subtypes(W, chi, seen.way)
        named, M = named_by(W[order], new, seen.new_way), _lateral(state, order) if key == "nsm" else np.zeros((4, 4))
        rows = [(seen.Z @ W @ seen.Z)[order, MIDDLE], W[order, MIDDLE]]
        found[key] = _both(*([each, each] for each in (*rows, named, M)))
    return found


def _column(seen: Seen, rng: np.random.Generator, feature: str) -> dict[str, Learned]:
    return _of_halves(seen, rng, feature, {"T4": lambda u: u})


def _halves(seen: Seen, rng: np.random.Generator, feature: str) -> dict[str, Learned]:
    return _of_halves(seen, rng, feature, {"T4": lambda u: np.maximum(u, 0), "T5": lambda u: np.maximum(-u, 0)})


LEARNERS: dict[str, Callable[..., dict[str, Learned]]] = {"patch": _patch, "column": _column, "halves": _halves}


def _of_halves(
    seen: Seen, rng: np.random.Generator, feature: str, parts: dict[str, Callable[[np.ndarray], np.ndarray]]
) -> dict[str, Learned]:
    """Let columns learn from parts of the change: of T4 and T5, or of both alike."""
    each = [_raise_columns(seen, part, rng, feature, sign) for part, sign in zip(parts.values(), (1, -1), strict=False)]
    if len(each) == 1:
        each = each * 2
    found = {}
    for key in each[0]:
        one, two = each[0][key], each[1][key]
        found[key] = _both(*([a, b] for a, b in zip(one, two, strict=True)), turn=len(parts) == 1)
    return found


def _raise_columns(
    seen: Seen, part: Callable[[np.ndarray], np.ndarray], rng: np.random.Generator, feature: str, sign: int
) -> dict[str, tuple[Any, ...]]:
    """Let four cells of a column learn from a part of the change: rows in pixels and whitened, named, M; with nulls."""
    chi, new = (of_middle(frames, feature, part) for frames in (seen.frames, seen.new))
    dendrites = sign * oriented_dendrites(PATCH, ANGLES + 180, scatter=SCATTER, random_state=rng)[:, [MIDDLE]]
    random = random_filters(4, chi, rng)
    states = {"nsm": raised(chi, dendrites), "from_random": raised(chi, random)}
    filters = {key: state.W.reshape(4, *chi.feature_shape) for key, state in states.items()}
    filters |= {"start": dendrites, "random": random, "labelled": labelled_means(chi, seen.way)}
    found = {}
    for key, W in filters.items():
        order = subtypes(W, chi, seen.way)
        M = _lateral(states[key], order) if key in states else np.zeros((4, 4))
        found[key] = (W[order, 0] @ seen.Z, W[order, 0], named_by(W[order], new, seen.new_way), M)
    return found


def of_all(frames: FramePairs, feature: str = "change") -> OuterProducts:
    """Return the whole of chi, of mean square 1."""
    return scaled(outer_products(frames, feature))


def of_middle(
    frames: FramePairs, feature: str = "change", part: Callable[[np.ndarray], np.ndarray] = lambda u: u
) -> OuterProducts:
    """Return a part of the middle's change times all intensities, of mean square 1."""
    chi = outer_products(frames, feature)
    return scaled(OuterProducts(np.ascontiguousarray(part(chi.u[:, [MIDDLE]])), chi.v))


def _both(pixels: Any, whitened: Any, named: Any, M: Any, *, turn: bool = True) -> Learned:
    """Put T4's and T5's together; where both learned from all changes, T5's rows are turned about an OFF centre."""
    signs = np.array([1.0, -1.0 if turn else 1.0])[:, None, None]
    one, two = ((signs * np.stack(each)).reshape(8, -1) for each in (pixels, whitened))
    one, two = (row / np.abs(row).sum(axis=1, keepdims=True) for row in (one, two))
    return Learned(one, two, np.array(named), np.array(M))


def subtypes(W: np.ndarray, chi: OuterProducts, way: np.ndarray) -> np.ndarray:
    """Return which unit is which subtype: together they answer most to what these prefer, each by its own measure."""
    outputs = chi.project(W)
    outputs /= np.sqrt((outputs**2).mean(axis=0))
    answers = np.stack([outputs[way == k].mean(axis=0) for k in range(len(W))])
    return linear_sum_assignment(-answers)[1]


def named_by(W: np.ndarray, new: OuterProducts, way: np.ndarray) -> float:
    """Return the share of new pairs whose way has the largest projection on a filter of norm 1."""
    return float(np.mean((new.project(W / np.linalg.norm(W, axis=(1, 2), keepdims=True))).argmax(axis=1) == way))


def _lateral(state: State, order: np.ndarray) -> np.ndarray:
    return state.M[np.ix_(order, order)]

"""Two units that look at a line, in L1 and L2: what each start leads to, and what it knew before (C37)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from flymotion.claims.bayes import covariance, posterior
from flymotion.claims.lessons import of_norm_1
from flymotion.claims.nulls import labelled_means
from flymotion.claims.starts.raising import SCATTER, Read, pruned, raised, raised_literally, read, scaled
from flymotion.claims.worlds import WORLDS, World, leftward, share_right
from flymotion.frames import FramePairs
from flymotion.generators import derivative_operator
from flymotion.photoreceptors import ZCAWhitening
from flymotion.similarity.dendrites import misplaced_dendrites, oriented_dendrites, round_dendrites
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.world.motions import Translation
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import SmoothNoise

__all__ = ["FACTORS", "HELD", "N_PAIRS", "OWN", "RATIOS", "SIDED", "Grown", "N", "best", "few", "main"]

N = 5
"""Pixels."""

N_PAIRS, N_TEST = 20_000, 5000
"""Pairs to learn from, and new ones of one other scene, the same for all seeds."""

OWN = 37
"""Of the starts' random numbers; a seed's random weights are the same in all starts of as many units."""

BOTH = (180.0, 0.0)
"""Where the dendrites of two units reach: the first is to prefer content that moves right."""

INHIBITION = 0.9
"""Lateral synapses where inhibition comes first; with 1 only one unit answers a sample."""

HELD = (250, 25_000)
"""Pairs that are taken for answered at the start, besides the usual: less and more of them hold it less and more."""

RATIOS = (20, 10, 5)
"""Variance of the intensities over that of the sensors' noise [dB]."""

FACTORS = (2, 4)
"""How many times as large shifts are than the world's."""

WAVE_LENGTH, WAVE_SHIFT, N_WAVES, BOUT = 12.0, 0.5, 2000, 250
"""Of waves: correlation length and largest shift [pixel spacings], pairs, and pairs of one direction in a row."""

Draw = Callable[[np.random.Generator], np.ndarray]
"""Draws filters, shape (K, n, n), for whatever is to be learned."""

EYE = WORLDS["L1"].eye(N)
"""Starts take its places alone, not its optics."""


def _random(n_units: int) -> Draw:
    return lambda rng: of_norm_1(rng.normal(size=(n_units, N, N)))


def _oriented(scatter: float) -> Draw:
    return lambda rng: oriented_dendrites(EYE, BOTH, scatter=scatter, random_state=rng)


def _sided(n_units: int) -> Draw:
    def draw(rng: np.random.Generator) -> np.ndarray:
        return oriented_dendrites(EYE, rng.choice(BOTH, n_units), scatter=SCATTER, random_state=rng)

    return draw


def _signed(rng: np.random.Generator) -> np.ndarray:
    """Weights of both signs, as onto T4: positive on one side and negative on the other."""
    one, other = oriented_dendrites(EYE, BOTH), oriented_dendrites(EYE, BOTH[::-1])
    return (one - other) / np.sqrt(2) + SCATTER * _random(2)(rng)


SIDED = {"sides": 2, "four_sides": 4, "eight_sides": 8}
"""Starts of dendrites that reach to a side at random each, and how many there are."""

STARTS: dict[str, Draw] = {
    "oriented": _oriented(SCATTER),
    "loose": _oriented(1.0),
    "looser": _oriented(2.0),
    "negative": lambda rng: -_oriented(SCATTER)(rng),
    "signed": _signed,
    "sides": _sided(SIDED["sides"]),
    "round": lambda rng: round_dendrites(EYE, 2, scatter=SCATTER, random_state=rng),
    "misplaced": lambda rng: misplaced_dendrites(EYE, 2, scatter=SCATTER, random_state=rng),
    "random": _random(2),
}
"""Starts of two units, by name."""

CROWDS: dict[str, tuple[Draw, str]] = {
    "four_random": (_random(4), "inhibited"),
    "eight_random": (_random(8), "inhibited"),
    "four_sides": (_sided(SIDED["four_sides"]), "inhibited"),
    "eight_sides": (_sided(SIDED["eight_sides"]), "inhibited"),
}
"""Starts of more units than directions, and the rule by which they are pruned to two."""


class Grown(NamedTuple):
    """Units before and after they have learned."""

    start: Read
    learned: Read


class Lesson(NamedTuple):
    """Whitened samples to learn from and to be read on, and what is known of them."""

    chi: OuterProducts
    way: np.ndarray
    """0 where content moves right, 1 left."""
    new: OuterProducts
    new_way: np.ndarray
    targets: np.ndarray
    """The population's filters of both, shape (2, n, n); those of the world without noise and with its own shifts."""

    def grown(self, W: np.ndarray, filters: np.ndarray) -> Grown:
        """Read a start and what came of it."""
        return Grown(*(read(each, self.targets, self.new, self.new_way) for each in (W, filters)))


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, OWN])


def main(name: str, seed: int) -> dict[str, Any]:
    """Let two units learn from every start in a world, and crowds of them; return what came of them by name."""
    world = WORLDS[name]
    given = _lesson(world, world.pairs(N, N_PAIRS, [seed, 0]), _new(world))
    found: dict[str, Any] = {key: _grow(given, draw, seed) for key, draw in STARTS.items()}
    found["inhibited"] = _grow(given, STARTS["random"], seed, inhibition=INHIBITION)
    for answered in HELD:
        found[f"held_{answered}"] = _grow(given, STARTS["oriented"], seed, answered=answered)
    for key, waves in _waves(world, seed).items():
        found[key] = _grow(given, STARTS["random"], seed, first=waves)
    for key, (draw, rule) in CROWDS.items():
        W = draw(_rng(seed))
        found[key] = given.grown(W, pruned(given.chi, W, 2, rule).W)
    W = STARTS["oriented"](_rng(seed))
    found["alike"] = {key: np.array(np.ptp(_rng(seed).choice(BOTH, n)) == 0) for key, n in SIDED.items()}
    found["literal"] = given.grown(W, raised_literally(given.chi, W))
    found["labelled"] = read(labelled_means(given.chi, given.way), given.targets, given.new, given.new_way)
    found["population"] = read(given.targets, given.targets, given.new, given.new_way)
    return found


def few(name: str, seed: int) -> dict[str, Any]:
    """Let units learn where sensors are noisy or shifts larger, or the idle are pruned."""
    world, found = WORLDS[name], dict[str, Any]()
    pairs, new = world.pairs(N, N_PAIRS, [seed, 0]), _new(world)
    for ratio in RATIOS:
        variance = _variance(world, ratio)
        heard = _lesson(world, _noisy(pairs, variance, [seed, OWN, ratio]), _noisy(new, variance, [OWN, ratio]))
        found[f"noise_{ratio}"] = _grow_both(heard, seed)
        for key, filters in (("labelled", labelled_means(heard.chi, heard.way)), ("population", heard.targets)):
            found[f"noise_{ratio}"][key] = read(filters, heard.targets, heard.new, heard.new_way)
    for factor in FACTORS:
        larger = replace(world, max_shift=factor * world.max_shift)
        shown = _lesson(world, larger.pairs(N, N_PAIRS, [seed, 0]), _new(larger))
        found[f"shift_{factor}"] = _grow_both(shown, seed)
    given = _lesson(world, pairs, new)
    W = CROWDS["eight_sides"][0](_rng(seed))
    found["idle"] = given.grown(W, pruned(given.chi, W, 2, "idle").W)
    return found


def best(name: str) -> dict[str, float]:
    """Return the share of the new pairs whose direction Bayes tells, without noise ("none") and with it."""
    world = WORLDS[name]
    new = _new(world)
    shares = {"none": share_right(posterior(world, new).rightness(), new)}
    for ratio in RATIOS:
        variance = _variance(world, ratio)
        seen = _noisy(new, variance, [OWN, ratio])
        shares[str(ratio)] = share_right(posterior(world, seen, variance).rightness(), seen)
    return shares


def _grow(given: Lesson, draw: Draw, seed: int, **how: Any) -> Grown:
    W = draw(_rng(seed))
    return given.grown(W, raised(given.chi, W, **how).W)


def _grow_both(given: Lesson, seed: int) -> dict[str, Any]:
    return {key: _grow(given, STARTS[key], seed) for key in ("oriented", "random")}


@cache
def _new(world: World) -> FramePairs:
    return world.pairs(N, N_TEST, [10**6])


def _lesson(world: World, pairs: FramePairs, new: FramePairs) -> Lesson:
    whitening = ZCAWhitening(0.0).fit(pairs)
    chi, unseen = (outer_products(whitening.transform(shown), world.feature) for shown in (pairs, new))
    return Lesson(scaled(chi), leftward(pairs), unseen, leftward(new), _targets(world))


@cache
def _targets(world: World) -> np.ndarray:
    rightward = world.population(N).components(1)[1][0]
    rightward = rightward * np.sign(np.sum(rightward * derivative_operator((N,))))
    return np.stack([rightward, -rightward])


def _variance(world: World, ratio: float) -> float:
    return float(covariance(world, 1)[0, 0]) * 10 ** (-ratio / 10)


def _noisy(pairs: FramePairs, variance: float, seed: list[int]) -> FramePairs:
    noise = np.sqrt(variance) * np.random.default_rng(seed).normal(size=(2, *pairs.before.shape))
    return FramePairs(pairs.before + noise[0], pairs.after + noise[1], pairs.motion)


def _waves(world: World, seed: int) -> dict[str, OuterProducts]:
    """Return samples of smooth waves, whitened as they are: of both directions mixed, and in bouts of one."""
    scene = SmoothNoise(WAVE_LENGTH, period=4096.0, random_state=[seed, OWN, 1])
    motion = Translation(WAVE_SHIFT, ndim=1)
    pairs = sample_pairs(scene, world.eye(N), motion, 2 * N_WAVES, random_state=[seed, OWN, 2])
    chi = outer_products(ZCAWhitening(1e-3).fit(pairs).transform(pairs), world.feature)
    left = np.asarray(pairs.motion)[:, 0] < 0
    one_way = [np.nonzero(left == way)[0][: N_WAVES // 2].reshape(-1, BOUT) for way in (False, True)]
    return {"waves": scaled(chi[:N_WAVES]), "bouts": scaled(chi[np.stack(one_way, axis=1).ravel()])}

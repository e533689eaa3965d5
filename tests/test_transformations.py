"""Rotations, translations, affine motions and turns are learned: claims at a small size, and what scores them."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from flymotion.claims import transformations, turns
from flymotion.claims.transformations.lessons import early_vision, learn, succeeded
from flymotion.claims.transformations.planes import PLANES
from flymotion.claims.turns import EYE, MOTION, derivatives, learn_turns
from flymotion.claims.work import in_turn, on_cores
from flymotion.generators import Generators, cosine, derivative_operator
from flymotion.photoreceptors import LogIntensity
from flymotion.similarity.features import OuterProducts
from flymotion.world.eyes import FLY_SIGMA, Sphere
from flymotion.world.motions import CARDINAL, Turn
from flymotion.world.scenes import SphericalNoise, panorama

PANORAMAS = Path(__file__).parents[2] / "shared" / "data" / "panoramas" / "luminance_f16.npz"

QUICK = {
    transformations: (transformations.Config.quick(), {"C10", "C12", "C13", "C29", "C32"}),
    turns: (turns.Config.quick(), {"C27"}),
}


@pytest.fixture(scope="module")
def result_of():
    """Run an experiment at its quick size, once."""
    results = {}

    def get(module):
        if module not in results:
            results[module] = module.run(QUICK[module][0])
        return results[module]

    return get


@pytest.mark.parametrize("module", QUICK, ids=lambda module: module.__name__.rpartition(".")[2])
def test_claims_hold(module, result_of):
    rows = module.check(result_of(module))
    assert [row for row in rows if row.holds is False] == []
    assert {row.id.partition(".")[0] for row in rows} == QUICK[module][1]
    assert len({row.id for row in rows}) == len(rows)
    assert all(np.isfinite(row.value) for row in rows)
    assert all(row.seeds <= 1 for row in rows)


def test_seeds_are_jobs_and_the_affine_world_has_no_more_than_asked_for():
    assert len(transformations.jobs(transformations.Config(n_seeds=2))) == 6
    assert len(transformations.jobs(transformations.Config(n_seeds=7, n_seeds_affine=3))) == 17
    assert len(turns.jobs(turns.Config(n_seeds=4))) == 4


@pytest.mark.parametrize(
    "work",
    [
        transformations.jobs(transformations.Config(n_seeds=1, n_test=500))[1:2],
        turns.jobs(turns.Config(n_seeds=2, n_scenes=2, n_pairs=1200, n_test=200)),
    ],
    ids=["plane", "sphere"],
)
def test_cores_give_the_same(work):
    for one, other in zip(on_cores(2)(work), in_turn(work), strict=True):
        for a, b in zip(arrays(one), arrays(other), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


def arrays(nested):
    """Flatten nested tuples of arrays."""
    return [nested] if isinstance(nested, np.ndarray | np.generic) else [a for part in nested for a in arrays(part)]


# -- what is kept ------------------------------------------------------------------------------------------------


def test_filters_are_in_the_order_of_the_ways(result_of):
    filters = result_of(transformations).nsm["translation"].filters[0]
    directions = Generators(filters, PLANES["translation"].eye).directions()
    away = (directions - CARDINAL + 180) % 360 - 180
    assert np.abs(away).max() < 10


def test_analytic_generators_are_those_of_the_parameters(result_of):
    analytic = result_of(transformations).nsm["translation"].analytic[0]
    right, down = derivative_operator((5, 5), 0.0), derivative_operator((5, 5), 270.0)
    cosines = cosine(analytic[:, None], np.stack([right, down]))
    assert np.diag(cosines).min() > 0.7
    assert abs(cosines[0, 1]) < 0.1 > abs(cosines[1, 0])


def test_where_changes_belong_to_other_frames_nothing_is_learned():
    given, analytic = small_lesson()
    other = np.random.default_rng(0).permutation(len(given.chi))
    learned = learn(given._replace(chi=OuterProducts(given.chi.u[other], given.chi.v)), analytic)
    assert np.abs(learned.cosines).max() < 0.5
    assert learned.accuracy < 0.8
    assert succeeded(type(learned)(*(np.stack([part]) for part in learned))) == [False]


def test_a_lesson_is_learned():
    learned = learn(*small_lesson())
    assert learned.cosines.min() > 0.95
    assert learned.accuracy > 0.98 < learned.ideal
    assert learned.found == 2
    np.testing.assert_allclose(np.linalg.norm(learned.filters, axis=(1, 2)), 1)


def small_lesson():
    """A lesson in rotations, and their generator."""
    plane = replace(PLANES["rotation"], n_pairs=4000)
    given = plane.lesson(1000, 0)
    return given, plane.generators(given.Z)


@pytest.mark.parametrize(
    ("found", "least", "accuracy", "good"),
    [(2, 0.9, 0.99, True), (1, 0.9, 0.99, False), (2, 0.5, 0.99, False), (2, 0.9, 0.7, False)],
)
def test_success_needs_every_way_likeness_and_accuracy(result_of, found, least, accuracy, good):
    learned = result_of(transformations).nsm["rotation"]
    changed = learned._replace(
        found=np.array([found]), cosines=np.array([[0.95, least]]), accuracy=np.array([accuracy])
    )
    assert succeeded(changed, accuracy=0.9) == [good]


# -- spheres -----------------------------------------------------------------------------------------------------


def test_derivatives_act_on_whitened_frames_as_the_operators_on_raw_ones():
    rng = np.random.default_rng(0)
    n = len(EYE.positions)
    root = rng.standard_normal((n, n))
    Z, frame = root @ root.T / n + np.eye(n), rng.standard_normal(n)
    raw = derivatives(np.eye(n), EYE, MOTION)
    np.testing.assert_allclose(derivatives(Z, EYE, MOTION) @ (Z @ frame), raw @ frame @ Z, rtol=1e-8)


def test_scenes_have_as_many_pairs_each_or_none_is_learned_from():
    scenes = [SphericalNoise(20.0, random_state=k) for k in range(3)]
    with pytest.raises(ValueError, match="2 pairs in 3 scenes; expected at least one in each"):
        learn_turns(scenes, scenes, EYE, MOTION, lambda Z: derivatives(Z, EYE, MOTION), n_pairs=2, n_test=3, seed=0)


@pytest.mark.slow
@pytest.mark.skipif(not PANORAMAS.exists(), reason="the shared panoramas are not here")
def test_roll_pitch_and_yaw_are_learned_in_real_scenes():
    """Twelve real panoramas, in log luminance; optics as wide, for the spacing of the pixels, as a fly's."""
    with np.load(PANORAMAS) as images:
        scenes = [panorama(images[name]) for name in images.files]
    spacing = math.degrees(math.sqrt(4 * math.pi / 120))
    eye, motion = Sphere.evenly(120, FLY_SIGMA * spacing), Turn(10.0)
    successes = []
    for seed in range(20):
        vision = make_pipeline(LogIntensity(), *(step for _, step in early_vision(1e-2).steps))
        sizes = {"n_pairs": 12_000, "n_test": 3600}
        learned = learn_turns(
            scenes, scenes, eye, motion, lambda Z: derivatives(Z, eye, motion), seed=seed, vision=vision, **sizes
        )
        least, accuracy = learned.cosines.min(), float(learned.accuracy)
        print(f"seed {seed}: found {learned.found}, cosine {least:.3f}, {accuracy:.4f} (ideal {learned.ideal:.4f})")
        successes.append(learned.found == 6 and least > 0.5 and accuracy > 0.9)
    assert sum(successes) >= 18

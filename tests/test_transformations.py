"""Rotations, translations, affine motions and turns are learned: claims at a small size, and what scores them."""

import io
import math

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from flymotion.claims import transformations, turns
from flymotion.claims.running import on_cores, run, stack
from flymotion.claims.transformations import PLANES
from flymotion.claims.turns import EYE, MOTION, derivatives, learn_turns
from flymotion.claims.ways import early_vision, learn, succeeded
from flymotion.generators import Generators, cosine, derivative_operator
from flymotion.photoreceptors import LogIntensity
from flymotion.similarity.features import OuterProducts
from flymotion.world.eyes import FLY_SIGMA, Sphere
from flymotion.world.motions import CARDINAL, Turn
from flymotion.world.scenes import SphericalNoise, panorama

QUICK = {module: module.Config(**module.QUICK) for module in (transformations, turns)}


@pytest.fixture(scope="module")
def found_by():
    """Do the work of a group at its quick size, once."""
    found = {}

    def get(module):
        if module not in found:
            found[module] = run(module.work(QUICK[module]))
        return found[module]

    return get


by_group = pytest.mark.parametrize("module", QUICK, ids=lambda module: module.__name__.rpartition(".")[2])


@by_group
def test_claims_hold(module, found_by):
    rows = list(module.check(found_by(module), QUICK[module]))
    assert [row for row in rows if row.holds is False] == []
    assert {row.id.partition(".")[0] for row in rows} == set(module.CLAIMS)
    assert len({row.id for row in rows}) == len(rows)
    assert all(np.isfinite(row.value) for row in rows)
    assert all(row.seeds <= 1 for row in rows)


@by_group
def test_quick_has_only_fewer_seeds(module):
    assert set(module.QUICK) == {"n_seeds"}
    assert QUICK[module].n_seeds < module.Config().n_seeds


@pytest.mark.parametrize(("n_seeds", "few"), [(2, 2), (7, 3)])
def test_seeds_are_pieces_and_the_affine_world_has_no_more_than_asked_for(n_seeds, few):
    work = transformations.work(transformations.Config(n_seeds=n_seeds, n_seeds_affine=3))
    assert {world: len(pieces) for world, pieces in work.items()} == dict.fromkeys(PLANES, n_seeds) | {"affine": few}


def test_cores_give_the_same():
    plane = transformations.work(transformations.Config(n_seeds=1, n_test=500))["rotation"]
    sphere = turns.work(turns.Config(n_seeds=2, n_scenes=2, n_pairs=600, n_test=200))
    work = {"plane": plane, "sphere": sphere}
    for a, b in zip(arrays(run(work, on_cores(2))), arrays(run(work)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


def arrays(nested):
    """Flatten nested mappings and tuples of arrays."""
    parts = nested.values() if isinstance(nested, dict) else nested
    return [nested] if isinstance(nested, np.ndarray | np.generic) else [a for part in parts for a in arrays(part)]


# -- what is kept ------------------------------------------------------------------------------------------------


def test_filters_are_in_the_order_of_the_ways(found_by):
    filters = found_by(transformations)["translation"]["nsm"].filters[0]
    directions = Generators(filters, PLANES["translation"].eye).directions()
    away = (directions - CARDINAL + 180) % 360 - 180
    assert np.abs(away).max() < 10


def test_analytic_generators_are_those_of_the_parameters(found_by):
    analytic = found_by(transformations)["translation"]["nsm"].analytic[0]
    right, down = derivative_operator((5, 5), 0.0), derivative_operator((5, 5), 270.0)
    cosines = cosine(analytic[:, None], np.stack([right, down]))
    assert np.diag(cosines).min() > 0.7
    assert abs(cosines[0, 1]) < 0.1 > abs(cosines[1, 0])


def test_where_changes_belong_to_other_frames_nothing_is_learned():
    given = small_lesson()
    other = np.random.default_rng(0).permutation(len(given.chi))
    learned = learn(given._replace(chi=OuterProducts(given.chi.u[other], given.chi.v)))
    assert np.abs(learned.cosines).max() < 0.5
    assert learned.accuracy < 0.8
    assert succeeded(stack([learned])).tolist() == [False]


def test_a_lesson_is_learned():
    learned = learn(small_lesson())
    assert learned.cosines.min() > 0.95
    assert learned.accuracy > 0.98 < learned.ideal
    assert learned.found == 2
    np.testing.assert_allclose(np.linalg.norm(learned.filters, axis=(1, 2)), 1)


def small_lesson():
    """A lesson in rotations."""
    return PLANES["rotation"]._replace(n_pairs=4000).lesson(1000, 0)


@pytest.mark.parametrize(
    ("found", "least", "accuracy", "good"),
    [(2, 0.9, 0.99, True), (1, 0.9, 0.99, False), (2, 0.5, 0.99, False), (2, 0.9, 0.7, False)],
)
def test_success_needs_every_way_likeness_and_accuracy(found_by, found, least, accuracy, good):
    learned = found_by(transformations)["rotation"]["nsm"]
    changed = learned._replace(
        found=np.array([found]), cosines=np.array([[0.95, least]]), accuracy=np.array([accuracy])
    )
    assert succeeded(changed, accuracy=0.9).tolist() == [good]


# -- figures -----------------------------------------------------------------------------------------------------


@by_group
def test_each_way_has_a_panel_with_its_name(module, found_by):
    motions = {f"filters_{world}": plane.motion for world, plane in PLANES.items()} | {"filters_turns": MOTION}
    for name, figure in module.figures(found_by(module), QUICK[module]).items():
        figure.savefig(io.BytesIO(), dpi=40)
        titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
        assert titles == [motions[name].called(way) for way in motions[name].ways]


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
def test_roll_pitch_and_yaw_are_learned_in_real_scenes(real_panoramas):
    """Twelve real panoramas, in log luminance; optics as wide, for the spacing of the pixels, as a fly's."""
    scenes = [panorama(image) for image in real_panoramas]
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

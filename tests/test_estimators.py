"""Every estimator keeps the contract: of scikit-learn, and of this package, as ``estimator_checks`` spells it out."""

import importlib
import inspect
import itertools
import pkgutil

import estimator_checks as checks
import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import flymotion
from flymotion.circuits import T4T5Circuit
from flymotion.learner import MotionLearner
from flymotion.learner.video_noise import GivenWhitening
from flymotion.photoreceptors import (
    ContrastNormalization,
    DivisiveNormalization,
    LogIntensity,
    OnOff,
    SensorNoise,
    WeberContrast,
    ZCAWhitening,
)
from flymotion.photoreceptors.stage import EarlyVision
from flymotion.relations import PairLearner
from flymotion.similarity.networks import NonnegativeSimilarityMatching, SimilarityMatching
from flymotion.similarity.online import OnlineNetwork
from flymotion.similarity.rivals import (
    CCIPCA,
    AdaOja,
    FastSimilarityMatching,
    OjaSubspace,
    OuterProductKMeans,
    OuterProductPCA,
    ReconstructionNetwork,
    WrittenOut,
)
from flymotion.similarity.rivals.stream_learner import StreamLearner

FILTERS = np.random.default_rng(5).standard_normal((3, 12))
NETWORKS = [
    SimilarityMatching(3, warm_up=70),
    NonnegativeSimilarityMatching(3, warm_up=70),
    SimilarityMatching(3, warm_up=70, forgetting=0.97),
    NonnegativeSimilarityMatching(3, init=FILTERS),
]
RIVALS = [OuterProductPCA(3), OuterProductKMeans(3, n_init=2, random_state=0)]
STREAMED = [
    OjaSubspace(3, random_state=0),
    OjaSubspace(3, init=FILTERS, ordered=True, decay=0.5),
    CCIPCA(3),
    AdaOja(3, block_size=64, random_state=0),
    FastSimilarityMatching(3, random_state=0),
]
OF_VECTORS = [ReconstructionNetwork(3, random_state=0), ReconstructionNetwork(3, init=FILTERS, learning_rate=0.1)]

POOLED = DivisiveNormalization(pool=1.5, eye=(2, 3))
RELATIVE = [WeberContrast(), LogIntensity(), ZCAWhitening(), ContrastNormalization()]
PIXEL_BY_PIXEL = [*RELATIVE, DivisiveNormalization(), POOLED]
SURE = [*PIXEL_BY_PIXEL, OnOff()]
STAGES = [*SURE, SensorNoise(0.3, random_state=5), SensorNoise(0.3, "photon", random_state=5)]
SINGLE_FRAMES = [stage for stage in SURE if not isinstance(stage, ContrastNormalization)]

OF_ANY = [*NETWORKS, *RIVALS, *STREAMED]
EVERY = [*NETWORKS, *RIVALS, *STREAMED, *OF_VECTORS, *STAGES]
OF_FORGETTING = checks.forgetting_counts_from_when_it_was_set
LIKE_ALL = [
    checks.float32_stays_float32,
    checks.attributes_have_the_shapes_of_the_docstring,
    checks.layout_and_container_do_not_matter,
]
OF_STREAMS = [check for check in checks.STREAM if check is not OF_FORGETTING]
FROM_FILES = checks.read_only_maps_of_files_do_for_samples_and_for_what_was_learned

VECTORS, PRODUCTS, SAMPLES = ["vectors"], ["rank 1", "rank 2"], ["vectors", "rank 1", "rank 2"]
FRAMES, PAIRS = ["frames"], ["pairs"]


ROWS = {
    checks.unsigned_integers_never_wrap: ["B02"],
    checks.the_unit_of_intensity_does_not_matter: ["B08"],
    checks.what_is_handed_in_is_left_as_it_was: ["B10"],
    checks.layout_and_container_do_not_matter: ["B10", "B32"],
    checks.what_is_not_finite_is_refused_before_any_change: ["B11"],
    checks.same_samples_same_result_and_the_global_stream_left_alone: ["B18"],
    checks.fit_forgets_what_was_learned_before: ["B19"],
    checks.another_size_is_refused_by_both_numbers: ["B19"],
    checks.as_many_features_otherwise_arranged_are_refused: ["B19"],
    checks.fit_transform_is_fit_then_transform: ["B29"],
    checks.batches_give_the_state_of_fit: ["B04", "B09", "B18"],
    checks.masked_samples_are_refused: ["B32"],
    checks.of_longer_floats_float64_is_made: ["B32"],
    checks.fit_to_nothing_is_an_error: ["B34"],
    checks.nothing_is_answered_before_fit: ["B34"],
    checks.nothing_has_no_outputs: ["B34"],
}
"""Rows of the inputs that software got wrong, by the check that keeps them right."""


def cases(which, estimators, kinds):
    return [
        pytest.param(
            check,
            estimator,
            kind,
            id=f"{check.__name__}-{estimator.__repr__(N_CHAR_MAX=40)}-{kind}",
            marks=[pytest.mark.case(row) for row in ROWS.get(check, [])],
        )
        for check, estimator, kind in itertools.product(which, estimators, kinds)
    ]


@pytest.fixture
def maker(make_samples, make_frame_pairs):
    makers = {
        "frames": lambda **how: make_frame_pairs(**how).before,
        "pairs": lambda **how: make_frame_pairs(pixels=(2, 3), **how),
    }
    return lambda kind: makers.get(kind, lambda **how: make_samples(kind, **how)[0])


@pytest.mark.parametrize(
    "check, estimator, kind",
    [
        *cases([*checks.ANY, *checks.PLAIN, *checks.LEARNING], [*NETWORKS, *RIVALS], SAMPLES),
        *cases([*checks.ANY, *checks.PLAIN, *checks.LEARNING], STREAMED, SAMPLES[:2]),
        *cases([*checks.ANY, *checks.PLAIN, *checks.LEARNING], OF_VECTORS, VECTORS),
        *cases(checks.PRODUCTS, OF_ANY, PRODUCTS),
        *cases(checks.STREAM, NETWORKS, SAMPLES),
        *cases(OF_STREAMS, STREAMED, SAMPLES[:2]),
        *cases(OF_STREAMS, OF_VECTORS, VECTORS),
        *cases([checks.samples_of_any_size_leave_it_finite], OF_ANY, SAMPLES),
        *cases([checks.samples_of_any_size_leave_it_finite], OF_VECTORS, VECTORS),
        *cases([checks.samples_of_any_size_leave_it_finite], [*SURE, SensorNoise(0.3, random_state=5)], FRAMES + PAIRS),
        *cases([checks.a_large_offset_costs_float32_nothing], [*NETWORKS[:3], *RIVALS, *STREAMED], SAMPLES),
        *cases([checks.a_large_offset_costs_float32_nothing], OF_VECTORS[:1], VECTORS),
        *cases([checks.float32_stays_float32], OF_ANY, SAMPLES),
        *cases([checks.attributes_have_the_shapes_of_the_docstring], OF_ANY, SAMPLES),
        *cases(LIKE_ALL, OF_VECTORS, VECTORS),
        *cases([checks.layout_and_container_do_not_matter], OF_ANY, VECTORS),
        *cases(checks.ANY, STAGES, FRAMES + PAIRS),
        *cases([*checks.PLAIN, checks.layout_and_container_do_not_matter], STAGES, FRAMES),
        *cases([checks.float32_stays_float32], STAGES, FRAMES + PAIRS),
        *cases([checks.attributes_have_the_shapes_of_the_docstring], PIXEL_BY_PIXEL, FRAMES),
        *cases([checks.pairs_keep_motion_and_names], STAGES, PAIRS),
        *cases([checks.pairs_keep_the_shape_of_their_frames], PIXEL_BY_PIXEL, PAIRS),
        *cases([checks.pairs_are_fitted_on_their_first_frames], SURE, PAIRS),
        *cases([checks.time_reversal_swaps_the_frames_and_nothing_else], SURE, PAIRS),
        *cases([checks.pairs_are_their_frames_transformed], SINGLE_FRAMES, PAIRS),
        *cases([checks.the_unit_of_intensity_does_not_matter], RELATIVE, PAIRS),
    ],
)
def test_contract(maker, check, estimator, kind):
    check(clone(estimator), maker(kind))


CHECKED = [
    SimilarityMatching(),
    NonnegativeSimilarityMatching(),
    OuterProductPCA(2),
    OuterProductKMeans(2, n_init=2, random_state=0),
    *[OjaSubspace(), CCIPCA(), AdaOja(), FastSimilarityMatching(), ReconstructionNetwork(2)],
    *[*RELATIVE, DivisiveNormalization(), OnOff(), SensorNoise(), SensorNoise(kind="photon")],
]


@pytest.mark.parametrize(
    "check, estimator, kind",
    [
        *cases([FROM_FILES], OF_ANY, SAMPLES),
        *cases([FROM_FILES], OF_VECTORS, VECTORS),
        *cases([FROM_FILES], STAGES, FRAMES + PAIRS),
        *cases([checks.a_read_only_map_of_a_file_learns_on], [*NETWORKS, *STREAMED], SAMPLES),
        *cases([checks.a_read_only_map_of_a_file_learns_on], OF_VECTORS, VECTORS),
    ],
)
def test_contract_of_what_is_kept_in_files(maker, tmp_path, check, estimator, kind):
    check(clone(estimator), maker(kind), tmp_path)


def estimators_of_the_package():
    """All classes that learn from samples or frames, found by looking into every module."""
    modules = [importlib.import_module(found.name) for found in pkgutil.walk_packages(flymotion.__path__, "flymotion.")]
    classes = {value for module in modules for value in vars(module).values() if inspect.isclass(value)}
    return {each for each in classes if issubclass(each, BaseEstimator) and each.__module__.startswith("flymotion.")}


def test_no_estimator_is_left_out():
    """What others derive from, and what other files check, is named here; of pairs, ``test_pair_learners.py``."""
    elsewhere = {T4T5Circuit, EarlyVision, OnlineNetwork, StreamLearner, GivenWhitening, MotionLearner, WrittenOut}
    of_pairs = {each for each in estimators_of_the_package() if issubclass(each, PairLearner)}
    assert estimators_of_the_package() - elsewhere - of_pairs == {type(estimator) for estimator in EVERY}


@pytest.mark.case("B21")
@parametrize_with_checks(CHECKED)
def test_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.case("B21")
def test_scikit_learn_checks_every_estimator():
    assert {type(estimator) for estimator in CHECKED} == {type(estimator) for estimator in EVERY}

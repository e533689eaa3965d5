"""The T4/T5 circuit: its inputs, what it learns, what it answers, and how it is kept."""

import pickle
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone

from flymotion.circuits import PREFERRED
from flymotion.circuits.column_signals import ColumnSignals, receptive_field
from flymotion.circuits.competing_columns import Columns, respond
from flymotion.circuits.decorrelating import Decorrelation, normalised_covariance
from flymotion.circuits.input_neurons import INPUTS, PATHWAYS
from flymotion.circuits.lobula_plate import lobula_plate
from flymotion.circuits.patches import Patches
from flymotion.circuits.schooling import attitudes, folded_panorama, photographs, schooling, wandering
from flymotion.circuits.t4t5 import T4T5Circuit
from flymotion.detectors.temporal import HighPass, LowPass
from flymotion.models.packing import Given
from flymotion.world import CompoundEye, Hexagon, Sphere, render
from flymotion.world.scenes import Grating, SmoothNoise

EYE = Hexagon(2)
NOISE = SmoothNoise(2.0, ndim=2, period=50.0, random_state=0)


@cache
def lessons(n_clips=2, duration=4.0, eye=EYE, seed=0):
    clips = list(schooling(eye, n_clips=n_clips, duration=duration, scenes=[NOISE], random_state=seed))
    for clip in clips:
        clip.setflags(write=False)
    return clips


def taught(clips=None, **how):
    circuit = T4T5Circuit(EYE, **{"contrasts": True, "random_state": 0} | how)
    for clip in lessons() if clips is None else clips:
        circuit.partial_fit(clip)
    return circuit


def drifting(direction, eye=EYE, n_frames=200, dt=0.02):
    """A grating of 30 degrees at 1 Hz, on lenses 5 degrees apart."""
    way = np.cumsum(np.full(n_frames, dt * 6.0))[:, None] * [np.cos(direction), -np.sin(direction)]
    return render(Grating(6.0, direction=float(np.degrees(direction)), ndim=2), eye, -way)


# -- inputs ----------------------------------------------------------------------------------------------------------


def test_published_filters_and_what_is_assumed():
    assert INPUTS["Mi1"].chain == (HighPass(0.318), LowPass(0.054))
    assert INPUTS["Mi9"].polarity == INPUTS["Tm9"].polarity == -1
    assert {name for name, neuron in INPUTS.items() if neuron.assumed} == {"CT1 (M10)", "CT1 (Lo1)", "C3", "TmY15"}
    for pathway in PATHWAYS.values():
        assert sum(pathway.change.values()) == pytest.approx(1)
        assert {INPUTS[name].polarity for name in pathway.change} == {pathway.polarity}


def test_on_and_off_changes_are_of_steps_up_and_down():
    movie = np.ones((100, EYE.shape[0]))
    movie[10:] = 1.5
    up = ColumnSignals(EYE, 0.01, contrasts=True).push(movie).change
    assert up[0].max() > 0.2 and up[1].max() < 1e-12
    down = ColumnSignals(EYE, 0.01, contrasts=True).push(3 - movie).change
    assert down[1].max() > 0.2 and down[0].max() < 1e-12


def test_luminance_of_any_unit_gives_the_same_contrast():
    movie = 2 + np.random.default_rng(0).random((50, EYE.shape[0]))
    one, other = (ColumnSignals(EYE, 0.01).push(scale * movie) for scale in (1.0, 255.0))
    np.testing.assert_allclose(one.intensity, other.intensity, atol=1e-12)


def test_a_receptive_field_is_a_centre_less_a_surround():
    field = receptive_field(INPUTS["Mi4"], Hexagon(5)).toarray()
    share = 0.132 * (16.14 / 6.47) ** 2
    np.testing.assert_allclose(field.sum(axis=1), 1 - share, atol=1e-12)
    assert field[45, 45] > 0 > field[45, 46]


# -- decorrelation and competition -----------------------------------------------------------------------------------


def test_decorrelated_patches_are_white_and_know_nothing_of_the_centre():
    rng = np.random.default_rng(0)
    patches = rng.standard_normal((50_000, 7)) @ (np.eye(7) + 0.5)
    C = np.cov(patches, rowvar=False)
    seen = Decorrelation.fitted(C, np.ones((1, 7), dtype=bool), 3)(patches.T[..., None])[..., 0]
    assert not seen[3].any()
    about = np.delete(seen, 3, axis=0)
    assert np.abs(about @ patches[:, 3]).max() / len(patches) < 0.05
    assert np.abs(np.cov(about) - np.eye(6)).max() < 0.1


def test_normalised_patches_are_white_whatever_their_contrast():
    """Tyler 1987: scatter does not depend on how samples are scaled."""
    rng = np.random.default_rng(0)
    patches = rng.standard_normal((20_000, 7)) @ (np.eye(7) + 0.5)
    scaled = patches * np.exp(rng.standard_normal((20_000, 1)))
    one, other = (normalised_covariance(x, 3, 1e-3) for x in (patches, scaled))
    np.testing.assert_allclose(one / np.trace(one), other / np.trace(other), atol=1e-3)


def test_outputs_are_those_of_the_nonnegative_problem():
    """Eq. 15 against its optimality conditions: theta >= 0, slope >= 0, and one of the two 0."""
    rng = np.random.default_rng(0)
    A = rng.random((4, 6, 30))
    R = np.einsum("kin,lin->kln", A, A) + 3 * np.eye(4)[:, :, None]
    network = Columns(np.zeros((4, 7, 30)), R)
    drive = rng.standard_normal((4, 30))
    theta = respond(drive, network.M)
    slope = theta + np.einsum("kln,ln->kn", network.M, theta) - drive
    assert theta.min() >= 0 and slope.min() > -5e-3 and np.abs(theta * slope).max() < 5e-3


def test_learning_is_the_rule_column_by_column():
    """A literal transcription of Eqs. 15 to 18 for one column after another."""
    rng = np.random.default_rng(0)
    W, chi = rng.standard_normal((4, 7, 3)), 0.1 * rng.standard_normal((20, 7, 3))
    network = Columns.of_weights(W.copy(), 20.0)
    for frame in chi:
        network.learn(frame, 1.0)
    for n in range(3):
        w, M, strength = W[:, :, n].copy(), np.zeros((4, 4)), np.full(4, 20.0)
        for frame in chi[:, :, n]:
            theta = np.zeros(4)
            for _ in range(50):
                for k in range(4):
                    theta[k] = max(w[k] @ frame - M[k] @ theta, 0)
            strength += theta**2
            w += theta[:, None] * (frame - theta[:, None] * w) / strength[:, None]
            M += theta[:, None] * (theta - theta[:, None] * M) / strength[:, None]
            np.fill_diagonal(M, 0)
        np.testing.assert_allclose(network.W[:, :, n], w, atol=1e-6)


# -- patches ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("half", [0, 1])
def test_oriented_dendrites_reach_to_where_content_comes_from(half):
    azimuth, elevation = np.radians(np.stack(5 * EYE.positions.T))
    directions = np.stack(
        [np.cos(elevation) * np.cos(azimuth), -np.cos(elevation) * np.sin(azimuth), -np.sin(elevation)]
    )
    eye = CompoundEye(directions.T, axial=EYE.axial, half=np.full(EYE.shape, half))
    patches = Patches(eye, 1)
    found = patches.directions(patches.oriented().transpose(2, 0, 1))
    middle = EYE.shape[0] // 2
    expected = np.radians([180.0 * (half == 0), 180.0 * (half == 1), 90.0, 270.0])
    np.testing.assert_allclose(found[middle], np.stack([np.cos(expected), np.sin(expected)], axis=1), atol=0.05)
    order, four = patches.named(found)
    assert four[middle] and order[middle].tolist() == [0, 1, 2, 3]


def test_cells_are_named_by_what_they_prefer():
    patches = Patches(EYE, 1)
    ways = patches.preferred[:, [2, 0, 3, 1]]
    order, four = patches.named(ways)
    assert four.all() and (order == [1, 3, 0, 2]).all()
    assert not patches.named(ways[:, [0, 0, 2, 3]])[1].any()


# -- the circuit -----------------------------------------------------------------------------------------------------


def test_cells_answer_motion_in_the_direction_that_they_are_named_for():
    circuit = taught(lessons(6))
    middle = np.flatnonzero(circuit.patches_.there.all(axis=1))
    answers = [
        circuit.transform(drifting(np.radians(PREFERRED[name])))[100:, middle].mean(axis=(0, 1)) for name in "abcd"
    ]
    for kind in (0, 4):
        found = np.array(answers)[:, kind : kind + 4]
        assert (found.argmax(axis=1) == np.arange(4)).all()
    local = lobula_plate(np.array(answers)[:, None]).local[:, 0]
    assert local[0, 0] < 0 < local[1, 0] and local[3, 1] < 0 < local[2, 1]


def test_any_split_of_a_movie_gives_the_same_responses():
    circuit, movie = taught(), lessons()[0][:70]
    stream = circuit.stream()
    np.testing.assert_allclose([stream.push(frame) for frame in movie], circuit.transform(movie), atol=1e-12)


def test_a_lens_that_sees_nothing_neither_answers_nor_teaches():
    clip = lessons()[0].copy()
    clip[:, 0] = np.nan
    circuit = taught([clip])
    patches = circuit.patches_
    blind = (patches.around == 0).any(axis=1)
    lost = np.isnan(circuit.transform(clip))
    assert lost[:, blind].all() and not lost[:, ~blind].any()
    order = np.take_along_axis(circuit.networks_[0].W, circuit.order_[0].T[:, None], axis=0)
    start = np.take_along_axis(circuit.started_[0], circuit.order_[0].T[:, None], axis=0)
    np.testing.assert_allclose(order[..., blind], start[..., blind])
    assert not np.allclose(order[..., ~blind], start[..., ~blind])


def test_what_is_learned_has_the_shapes_that_are_said():
    circuit = taught()
    n = EYE.shape[0]
    assert circuit.weights_.shape == circuit.start_.shape == (n, 8, 7)
    assert (np.isnan(circuit.weights_) == (circuit.patches_.around < 0)[:, None]).all()
    assert circuit.lateral_.shape == (n, 2, 4, 4) and (circuit.lateral_ >= 0).all()
    assert circuit.named_.shape == (n, 2)


def test_effective_weights_are_those_of_the_responses():
    """Before cells compete, responses are changes times weights times intensities, less the same of the mean."""
    circuit = taught()
    movie = lessons()[1][:60]
    signals = circuit.signals(circuit.dt).push(movie)
    for k in (0, 1):
        inputs = circuit.inputs_[k]
        patches = circuit.patches_.gather(signals.intensity[k])
        chi = inputs(signals.change[k], patches)
        size = inputs.decorrelation(patches)
        gain = signals.change[k] / np.sqrt(
            (signals.change[k] ** 2 + inputs.scale**2) * ((size**2).sum(axis=0) + inputs.size)
        )
        onto = np.nan_to_num(circuit.weights_[:, 4 * k : 4 * k + 4])
        W = np.take_along_axis(circuit.networks_[k].W, circuit.order_[k].T[:, None], axis=0)
        direct = np.einsum("kin,itn->ktn", W, chi)
        changed = signals.change[k] / np.hypot(signals.change[k], inputs.scale)
        mean = np.einsum("kin,in->kn", W, inputs.mean)[:, None] * changed
        np.testing.assert_allclose(np.einsum("nki,itn->ktn", onto, patches) * gain - mean, direct, atol=1e-9)


def test_a_change_alone_tells_nothing():
    """Of what whole columns multiply, the mean over neighbours and frames is 0, in the clips of early vision."""
    circuit = T4T5Circuit(Hexagon(2))
    clips = lessons()[:4]
    circuit._begin(clips)
    whole = circuit.patches_.there.all(axis=1)
    for k, inputs in enumerate(circuit.inputs_):
        signals = [circuit.signals(circuit.dt).push(clip) for clip in clips]
        chi = [inputs(one.change[k], circuit.patches_.gather(one.intensity[k]))[..., whole] for one in signals]
        mean, size = np.mean(chi), np.std(chi)
        assert abs(inputs.mean).max() > 0.02 and abs(mean) < 0.01 * size


@pytest.mark.parametrize(
    "how", [{"pooled": True}, {"decorrelation": "surround"}, {"decorrelation": "none"}, {"n_rings": 2}]
)
def test_every_variant_learns_and_answers(how):
    circuit = taught(**how)
    assert (circuit.transform(lessons()[0][:20]) >= 0).all()
    assert not np.allclose(circuit.weights_, circuit.start_, equal_nan=True)


def test_fit_is_partial_fit_of_its_clips_where_early_vision_is_the_same():
    clip = lessons()[0]
    fitted = T4T5Circuit(EYE, contrasts=True, random_state=0).fit([clip])
    np.testing.assert_array_equal(fitted.weights_, taught([clip]).weights_)


def test_a_circuit_is_cloned_pickled_and_packed_whole():
    circuit = taught()
    assert clone(circuit).get_params()["contrasts"] is True and "contrasts=True" in repr(circuit)
    given = Given(*circuit.pack())
    for other in (pickle.loads(pickle.dumps(circuit)), T4T5Circuit.unpack(given)):
        other.partial_fit(lessons()[0])
        np.testing.assert_array_equal(other.weights_, taught([*lessons(), lessons()[0]]).weights_)
    given.finish()


def test_the_mean_column_is_a_detector_of_its_directions():
    detector = taught(lessons(6)).detector()
    assert detector.directions == (180.0, 0.0, 90.0, 270.0) * 2
    right, left = (detector(drifting(a), 0.02, eye=EYE)[100:].mean(axis=(0, 1)) for a in (0.0, np.pi))
    assert (right[[1, 5]] > right[[0, 4]]).all() and (left[[1, 5]] < left[[0, 4]]).all()


def test_few_columns_with_four_directions_are_warned_of():
    still = np.ones((50, EYE.shape[0]))
    with pytest.warns(RuntimeWarning, match="do not prefer four directions"):
        T4T5Circuit(EYE, start="random", random_state=0).fit(still)


@pytest.mark.parametrize(
    ("how", "movie", "match"),
    [
        ({}, np.ones((5, 3)), r"shape \(5, 3\); expected \(n_frames, 19\)"),
        ({}, -np.ones((5, 19)), "expected luminance"),
        ({"every": 0}, np.ones((5, 19)), "every is 0"),
        ({"forgetting": 2.0}, np.ones((5, 19)), "forgetting is 2.0"),
        ({"start": "round"}, np.ones((5, 19)), "start is 'round'; expected one of oriented, random"),
        ({}, [], "no movies to learn from"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(how, movie, match):
    with pytest.raises(ValueError, match=match):
        T4T5Circuit(EYE, **how).fit(movie)


def test_an_eye_without_a_lattice_and_frames_of_another_eye_are_refused():
    with pytest.raises(ValueError, match="no hexagonal lattice"):
        T4T5Circuit(Sphere.evenly(5)).fit(np.ones((5, 5)))
    with pytest.raises(ValueError, match=r"the frame has shape \(3,\); expected \(19,\)"):
        taught().stream().push(np.ones(3))


# -- lobula plate, and lessons ---------------------------------------------------------------------------------------


def test_sums_leave_out_columns_that_saw_nothing():
    responses = np.ones((3, 8))
    responses[1] = np.nan
    found = lobula_plate(responses)
    assert found.layers.tolist() == [4.0] * 4 and not found.opponent.any() and np.isnan(found.local[1]).all()
    with pytest.raises(ValueError, match=r"shape \(8,\); expected"):
        lobula_plate(np.ones(8))


def test_back_to_front_is_to_the_left_in_a_right_eye():
    responses = np.zeros((19, 8))
    responses[:, 1] = 1.0
    places = np.concatenate([EYE.positions / 10, np.ones((19, 1))], axis=1)
    eye = CompoundEye(places, axial=EYE.axial, half=np.arange(19) % 2)
    found = lobula_plate(responses, eye)
    assert found.local[:, 0].tolist() == [1.0, -1.0] * 9 + [1.0] and found.layers.tolist() == [0, 19, 0, 0]
    with pytest.raises(ValueError, match="responses of 18 columns, an eye of 19 lenses"):
        lobula_plate(responses[1:], eye)


def test_ways_are_smooth_and_all_directions_alike():
    v = wandering(50_000, 3, 0.02, 100.0, 0.2, 0)
    assert np.sqrt((v**2).sum(axis=1).mean()) == pytest.approx(100, rel=0.03)
    np.testing.assert_allclose(v.std(axis=0), 100 / np.sqrt(3), rtol=0.05)
    assert np.abs(np.diff(v, axis=0)).mean() < 0.2 * np.abs(v).mean()


def test_an_eye_turns_as_fast_as_it_is_told():
    turned = attitudes(np.full((3, 3), [0.0, 0.0, 50.0]), 0.02, 0)
    step = turned[0].T @ turned[1]
    np.testing.assert_allclose(step[0, :2], [np.cos(np.radians(1)), -np.sin(np.radians(1))], atol=1e-12)


def test_a_folded_panorama_has_no_seam():
    scene = folded_panorama(photographs()[0])
    ahead = np.array([[1.0, 1e-3, 0.2], [1.0, -1e-3, 0.2], [-1.0, 1e-3, 0.2], [1e-3, 0.0, 1.0], [-1e-3, 0.0, 1.0]])
    seen = scene.sample(ahead, 2.4)
    np.testing.assert_allclose(seen[[1, 2, 4]], seen[[0, 0, 3]], atol=1e-2)
    assert 0 < seen.min() < seen.max() < 1

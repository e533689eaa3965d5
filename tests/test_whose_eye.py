"""Whose frames they are: the eye goes with pairs, learners, what they learned and their files, and none is mixed up."""

import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose

from flymotion.detecting import detect
from flymotion.detectors import of_learner, three_pixel
from flymotion.frames import FramePairs, pair_up, random_patches
from flymotion.generators import Generators, by_channel, derivative_operator
from flymotion.keeping import ModelError, load, save
from flymotion.learner import MotionLearner
from flymotion.photoreceptors import ContrastNormalization, DivisiveNormalization, OnOff, ZCAWhitening
from flymotion.plots import draw_filters, filter_sheet
from flymotion.stimuli import drifting_grating
from flymotion.tuning import EXPERIMENTS, characterise, experiment, preferred_direction, tune
from flymotion.tuning.recordings import compare, published
from flymotion.world.channels import CHANNELS, TwoChannels
from flymotion.world.eyes import FLY_SIGMA, Grid, Hexagon, Line, Sphere
from flymotion.world.motions import Translation, Turn
from flymotion.world.rendering import render, sample_pairs
from flymotion.world.scenes import ExponentialNoise, SmoothNoise, SphericalNoise

EYES = {
    "line": Line(19, 0.6),
    "grid": Grid(4, 5, 0.6),
    "hexagon": Hexagon(2, 0.6),
    "sphere": Sphere.evenly(20, 12.0),
}


@pytest.fixture(scope="session")
def seen_by():
    """Pairs that an eye saw, of known motion, by the eye's name."""

    @cache
    def make(name, n_pairs=60):
        eye = EYES[name]
        ndim = eye.positions.shape[1]
        scene, motion = {
            1: lambda: (ExponentialNoise(3.0, random_state=0), Translation(0.3, ndim=1)),
            2: lambda: (SmoothNoise(2.0, ndim=2, period=64.0, random_state=0), Translation(0.3)),
            3: lambda: (SphericalNoise(20.0, random_state=0), Turn(5.0)),
        }[ndim]()
        return sample_pairs(scene, eye, motion, n_pairs, random_state=0)

    return make


@pytest.fixture
def make_learner():
    return lambda **how: MotionLearner(2, **{"warm_up": 20, "patch": 3, "random_state": 0} | how)


# Pairs


KEEPING = {
    "rows": lambda pairs: pairs[3:7],
    "one row": lambda pairs: pairs[3],
    "map": lambda pairs: pairs.map(lambda frames: 2 * frames),
    "flat": lambda pairs: pairs.flat(),
    "flat and back": lambda pairs: pairs.flat().as_seen(),
    "reversed": lambda pairs: pairs.reversed(),
    "joined": lambda pairs: FramePairs.concatenate([pairs, pairs]),
    "joined with others": lambda pairs: FramePairs.concatenate([replace(pairs, eye=None), pairs]),
    "whitened": lambda pairs: ZCAWhitening().fit_transform(pairs),
    "normalised": lambda pairs: ContrastNormalization().fit_transform(pairs),
    "pickled": lambda pairs: pickle.loads(pickle.dumps(pairs)),
    "paired up": lambda pairs: pair_up(pairs.before, cuts=[3], eye=pairs.eye),
}


@pytest.mark.parametrize("do", KEEPING.values(), ids=KEEPING)
@pytest.mark.parametrize("name", EYES)
def test_the_eye_goes_with_its_pairs(seen_by, name, do):
    assert do(seen_by(name)).eye == EYES[name]


def test_a_patch_is_seen_by_a_part_of_the_eye(seen_by):
    patches = random_patches(seen_by("grid").flat(), (2, 3), 4, seed=0)
    assert (patches.eye, patches.pixels) == (Grid(2, 3, 0.6), (2, 3))


@pytest.mark.parametrize("name", EYES)
def test_frames_of_other_pixels_are_no_longer_the_eyes(seen_by, name):
    with pytest.warns(UserWarning, match=rf"frames of \d+ pixels are no longer those of {name.capitalize()}"):
        assert seen_by(name).map(lambda x: x[..., :2]).eye is None


def test_an_eye_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"frames have shape \(6,\), and the eye \(19,\); expected as many pixels"):
        pair_up(np.zeros((4, 6)), eye=Hexagon(2))


def test_pairs_of_two_eyes_are_not_joined(seen_by):
    with pytest.raises(
        ValueError, match=r"^pairs of Line\(n=19.*\) and of Hexagon\(radius=2.*\); expected those of one"
    ):
        FramePairs.concatenate([seen_by("line"), seen_by("hexagon")])


def test_spheres_are_equal_that_look_the_same_way():
    one, same, other, blurred = Sphere.evenly(20), Sphere.evenly(20), Sphere.evenly(21), Sphere.evenly(20, 5.0)
    assert (one == same, hash(one) == hash(same), one == other, one == blurred) == (True, True, False, False)
    assert one != Line(20)


# Learners


LEARNING = {
    "fit": lambda learner, pairs: learner.fit(pairs),
    "fit on flat pairs": lambda learner, pairs: learner.fit(pairs.flat()),
    "partial_fit": lambda learner, pairs: learner.partial_fit(pairs[:9]).partial_fit(pairs[9:]).finish(),
    "partial_fit, others first": lambda learner, pairs: (
        learner.partial_fit(replace(pairs, eye=None)).partial_fit(pairs).partial_fit(pairs.after).finish()
    ),
}


@pytest.mark.parametrize("learn", LEARNING.values(), ids=LEARNING)
@pytest.mark.parametrize("name", EYES)
def test_what_is_learned_is_of_the_eye(seen_by, make_learner, tmp_path, name, learn):
    """Directly, pickled, and from a file."""
    learner = learn(make_learner(), seen_by(name))
    loaded = load(save(learner, tmp_path / "model"))
    for each in (learner, pickle.loads(pickle.dumps(learner)), loaded):
        assert each.eye_ == each.generators_.eye == EYES[name]
    assert loaded.partial_fit(seen_by(name)).eye_ == EYES[name]


@pytest.mark.parametrize("name", ["hexagon", "sphere"])
def test_without_known_motion_there_are_names_for_lines_and_grids_alone(seen_by, make_learner, name):
    """Shifts are simulated of frames as they are in a picture: those of a hexagon, in a row, would be nonsense."""
    learner = make_learner().fit(replace(seen_by(name), motion=None, names=None))
    assert learner.transform(seen_by(name)).shape == (60, 2)
    for ask in (lambda: learner.labels_, lambda: learner.gain_, lambda: learner.predict(seen_by(name))):
        with pytest.raises(ValueError, match=r"^what detectors of .* mean is not known: .* expected pairs of frames"):
            ask()


@pytest.mark.parametrize("names", [None, [("right", "left"), ("down", "up")]], ids=["without names", "misnamed"])
def test_a_sphere_has_no_directions_whatever_its_motions_are_called(seen_by, make_learner, names):
    pairs = seen_by("sphere")
    learner = make_learner().fit(replace(pairs, motion=pairs.motion[:, :2], names=names))
    assert not learner.state_.tells_directions
    assert not hasattr(learner, "directions_")
    assert learner.motions_ == tuple(names or (("+0", "-0"), ("+1", "-1")))
    with pytest.raises(ValueError, match="a spherical eye has no one direction of content"):
        learner.generators_.directions()


@pytest.mark.parametrize("name", EYES)
def test_the_eye_is_known_before_anything_is_learned(seen_by, make_learner, tmp_path, name):
    learner = make_learner().partial_fit(seen_by(name)[:3])
    assert load(save(learner, tmp_path / "model")).eye_ == learner.eye_ == EYES[name]


def test_patches_are_learned_as_of_a_part_of_the_eye(make_learner, tmp_path):
    scene, places = SmoothNoise(2.0, ndim=2, period=64.0, random_state=0), np.linspace(0, 9, 60)[:, None] * [1, 2]
    pairs = pair_up(render(scene, Grid(8, 9, 0.6), places), eye=Grid(8, 9, 0.6))
    learner = make_learner(patches_per_pair=5).fit(pairs)
    for each in (learner, load(save(learner, tmp_path / "model"))):
        assert (each.eye_, each.generators_.eye) == (Grid(8, 9, 0.6), Grid(3, 3, 0.6))
        assert each.transform(pair_up(np.zeros((2, 6, 9)), eye=Grid(6, 9, 0.6))).shape == (1, 2)  # tiles of it


def test_frames_alone_have_no_eye(make_learner):
    learner = make_learner().fit(np.random.default_rng(0).normal(size=(60, 19)))
    assert (learner.eye_, learner.generators_.eye) == (None, Line(19))


OTHERS = {"line": Hexagon(2, 0.6), "grid": Grid(4, 5, 0.5), "hexagon": Line(19, 0.6), "sphere": Line(20, 0.6)}
USES = {
    "partial_fit": lambda learner, pairs: learner.partial_fit(pairs),
    "transform": lambda learner, pairs: learner.transform(pairs),
    "predict": lambda learner, pairs: learner.predict(pairs),
    "score": lambda learner, pairs: learner.score(pairs),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("name", EYES)
def test_pairs_of_another_eye_are_refused_and_change_nothing(seen_by, make_learner, tmp_path, name, use):
    pairs, other = seen_by(name), replace(seen_by(name), eye=OTHERS[name])
    learner = make_learner().fit(pairs)
    before = save(learner, tmp_path / "before").read_bytes()
    with pytest.raises(
        ValueError, match=r"^the pairs are of .*, and this learner has seen those of .*; expected these$"
    ):
        use(learner, other)
    assert save(learner, tmp_path / "after").read_bytes() == before
    use(learner, pairs)
    use(learner, replace(pairs, eye=None))  # taken to be of the learner's


def test_fit_starts_anew_with_another_eye(seen_by, make_learner):
    assert make_learner().fit(seen_by("hexagon")).fit(seen_by("line")).eye_ == EYES["line"]


ESTIMATES = {
    "fitted": lambda generators, pairs: generators.fitted(pairs),
    "estimate": lambda generators, pairs: generators.on_raw_frames().estimate(pairs),
    "register": lambda generators, pairs: generators.on_raw_frames().register(pairs, windows=[np.ones(19)]),
    "refined": lambda generators, pairs: generators.on_raw_frames().refined(pairs),
    "scaled": lambda generators, pairs: generators.on_raw_frames().scaled(pairs),
}


@pytest.mark.parametrize("estimate", ESTIMATES.values(), ids=ESTIMATES)
def test_operators_refuse_pairs_of_other_places(seen_by, estimate):
    pairs, rng = seen_by("hexagon"), np.random.default_rng(0)
    learned = Generators(rng.normal(size=(2, 19, 19)), Hexagon(2, 0.1))  # through other optics, at the same places
    with pytest.raises(ValueError, match=r"the pairs are of Line\(n=19.*, and the operators for frames of Hexagon"):
        estimate(learned, replace(pairs, eye=Line(19)))
    estimate(learned, replace(pairs, eye=None))
    estimate(learned, pairs)


@pytest.mark.parametrize("use", ["fit", "transform"])
def test_a_stage_of_one_eye_refuses_pairs_of_another(seen_by, use):
    """Of a pool that weighs pixels by their distance."""
    stage, pairs = DivisiveNormalization(pool=2.0, eye=Hexagon(2)), seen_by("hexagon")
    stage.fit(pairs).transform(replace(pairs, eye=None))
    with pytest.raises(
        ValueError, match=r"^the pairs are of Line\(n=19.*, and this stage was made for Hexagon\(radius=2"
    ):
        getattr(stage, use)(replace(pairs, eye=Line(19)))


class OwnEye(Line):
    """An eye that this package does not know."""


def test_an_eye_that_a_file_cannot_hold_is_refused(make_learner, tmp_path):
    learner = make_learner().partial_fit(pair_up(np.zeros((3, 5)), eye=OwnEye(5)))
    with pytest.raises(ValueError, match=r"eye\.kind is 'OwnEye'; expected one of Line, Grid, Hexagon, Sphere"):
        save(learner, tmp_path / "model")


def test_a_hexagon_learns_the_directions_of_the_plane(seen_by):
    learner = MotionLearner(4, random_state=0).fit(seen_by("hexagon", 8000))
    assert sorted(learner.labels_) == ["down", "left", "right", "up"]
    for told in (learner.directions_, learner.generators_.directions()):
        off = [told[learner.labels_.index(name)] - angle for name, angle in (("right", 0), ("up", 90), ("left", 180))]
        assert_allclose((np.array(off) + 180) % 360 - 180, 0, atol=10)


# ON and OFF


@pytest.mark.parametrize("name", EYES)
def test_after_on_and_off_pairs_know_their_eye_and_its_two_channels(seen_by, name):
    """A derivative is one of each channel: content moves over both alike, and over neither into the other."""
    pairs = OnOff().fit_transform(seen_by(name))
    assert (pairs.eye, pairs.pixels) == (TwoChannels(EYES[name]), pairs.eye.shape)
    velocity = np.eye(EYES[name].positions.shape[1])[0]
    once = derivative_operator(EYES[name], velocity)
    assert_allclose(derivative_operator(pairs.eye, velocity), np.kron(np.eye(2), once), atol=1e-12)


@pytest.mark.parametrize("name", EYES)
def test_what_is_learned_of_on_and_off_is_kept_read_and_drawn(seen_by, make_learner, tmp_path, name):
    learner = make_learner().fit(OnOff().fit_transform(seen_by(name)))
    found = load(save(learner, tmp_path / "model")).generators_
    assert found.eye == learner.eye_ == TwoChannels(EYES[name])
    parts = by_channel(found)
    whole = np.block([[parts[row, column].operators for column in CHANNELS] for row in CHANNELS])
    np.testing.assert_array_equal(whole, found.operators)
    drawn = filter_sheet(found, ["a", "b"]).axes
    assert sum("OFF change, ON intensity" in axes.get_title() for axes in drawn) == 2
    with pytest.raises(
        ValueError, match=r"^the generators are of ON and OFF parts of frames; expected those of frames"
    ):
        of_learner(learner)


def test_filters_of_on_and_off_are_named_by_their_direction():
    eye = TwoChannels(EYES["hexagon"])
    up = Generators(derivative_operator(eye, 90.0)[None], eye)
    assert_allclose(up.directions(), 90, atol=1e-9)
    assert_allclose(up.toeplitz_share(), 1)
    assert "up (90 deg):" in filter_sheet(up).axes[0].get_title()
    on_alone = Generators(np.kron([[1, 0], [0, 0]], derivative_operator(eye.eye, 90.0))[None], eye)
    assert_allclose(on_alone.toeplitz_share(), 1)  # the same at every pixel of each channel


def test_only_two_channels_are_taken_apart():
    with pytest.raises(ValueError, match=r"^the generators are of Line; expected those of two channels, ON and OFF$"):
        by_channel(Generators(np.zeros((1, 3, 3)), (3,)))


# What learners become


@pytest.mark.parametrize(("sigma", "spacing"), [(FLY_SIGMA, 5.1), (0.6, 5.7 / 2.3548 / 0.6), (0.0, 5.0)])
@pytest.mark.parametrize("name", ["line", "grid", "hexagon"])
def test_as_detectors_they_have_the_eyes_lattice_and_optics(seen_by, make_learner, tmp_path, name, sigma, spacing):
    """Pixels are as far apart as makes their acceptance functions 5.7 degrees wide."""
    eye = replace(EYES[name], sigma=sigma)
    learner = make_learner().fit(replace(seen_by(name), eye=eye))
    for each in (learner, load(save(learner, tmp_path / "model"))):
        detector = of_learner(each)
        assert (detector.acceptance, detector.spacing) == (5.7, pytest.approx(spacing, rel=1e-4))
        assert len(detector.positions(eye)) == 1
        assert_allclose(
            np.ptp(detector.displacements[:, : eye.positions.shape[1]], axis=0), np.ptp(eye.positions, axis=0)
        )


def test_frames_without_an_eye_are_five_degrees_apart(make_learner):
    learner = make_learner().fit(np.random.default_rng(0).normal(size=(60, 5)))
    assert (of_learner(learner).spacing, of_learner(learner, spacing=4.0).spacing) == (5.0, 4.0)


def test_a_sphere_is_no_detector(seen_by, make_learner):
    with pytest.raises(
        ValueError,
        match=r"^the generators are of a spherical eye; expected a line, a grid or a hexagon, such as sees the patches",
    ):
        of_learner(make_learner().fit(seen_by("sphere")))


@pytest.mark.parametrize("command", ["tune", "compare"])
def test_a_model_of_a_sphere_is_refused_by_its_name(command, seen_by, make_learner, tmp_path, run):
    path = save(make_learner().fit(seen_by("sphere")), tmp_path / "sph.safetensors")
    status, _, err = run(command, path, "--out", tmp_path / "out")
    assert status == 2
    assert "sph.safetensors: the generators are of a spherical eye; expected a line" in err


@pytest.mark.parametrize("name", ["line", "hexagon", "sphere"])
def test_video_is_not_looked_at_with_another_eye(seen_by, make_learner, tmp_path, name):
    learner = make_learner().fit(seen_by(name))
    path = save(learner, tmp_path / "model")
    for model in (learner, path):
        with pytest.raises(
            ModelError, match=rf"has detectors of {type(EYES[name]).__name__}\(.*; expected square patches"
        ):
            detect(np.zeros((3, 40, 40)), model=model)


def test_a_hexagons_model_is_tuned_as_one(seen_by, tmp_path, run):
    """From the file on: the preferred direction of the unit called up is up."""
    learner = MotionLearner(4, random_state=0).fit(seen_by("hexagon", 8000))
    path = save(learner, tmp_path / "hexagon.npz")
    status, _, err = run("tune", path, "--experiment", "direction", "--out", tmp_path / "out")
    assert status == 0, err
    assert len([*(tmp_path / "out").glob("*.png")]) == 1
    with xr.open_dataset(tmp_path / "out" / "hexagon-direction.nc", engine="scipy") as tuning:
        tuning.load()
    k = learner.labels_.index("up")
    up = tuning.isel(unit=k)
    assert tuning.attrs["eye"].startswith("Hexagon(radius=2")
    assert preferred_direction(up) == pytest.approx(90, abs=10)
    beside = compare(tuning, published())
    assert abs(float(beside.turned.sel(cell="T4c"))) < 15 and int(beside.unit.sel(cell="T4c")) == k


@pytest.mark.parametrize("command", ["tune", "compare", "detect"])
def test_a_spheres_model_is_refused_in_one_line(seen_by, make_learner, tmp_path, run, command):
    path = save(make_learner().fit(seen_by("sphere")), tmp_path / "sphere.npz")
    np.save(tmp_path / "frames.npy", np.zeros((3, 40, 40)))
    asked = [tmp_path / "frames.npy", "--model", path] if command == "detect" else [path]
    status, _, error = run(command, *asked, "--out", tmp_path / "out")
    assert (status, error.count("\n")) == (2, 1)
    assert "a spherical eye" in error or "has detectors of Sphere(" in error
    assert not (tmp_path / "out").exists()


EXPERIMENTS_OF = {
    "tune": lambda eye: tune(three_pixel(), drifting_grating, {"contrast": [0.5]}, dt=0.01, eye=eye),
    "characterise": lambda eye: characterise(three_pixel(), eye=eye),
    **{name: lambda eye, name=name: experiment(name, three_pixel(), eye=eye) for name in EXPERIMENTS},
}


@pytest.mark.parametrize("do", EXPERIMENTS_OF.values(), ids=EXPERIMENTS_OF)
def test_a_sphere_without_a_lattice_is_shown_no_experiment(do):
    with pytest.raises(
        ValueError, match=r"^the eye is Sphere\(.*\), whose lattice nobody worked out; expected a CompoundEye, such as"
    ):
        do(EYES["sphere"])


# How they are drawn


def test_filters_of_a_hexagon_are_drawn_as_hexagons(seen_by, make_learner):
    learner = make_learner().fit(seen_by("hexagon"))
    [first, *_] = filter_sheet(learner.generators_, learner.labels_).axes
    assert first.collections[0].get_array().size == 19 * 19
    assert not first.images


@pytest.mark.parametrize("name", EYES)
@pytest.mark.parametrize("draw", [draw_filters, filter_sheet])
def test_whatever_draws_filters_draws_generators(seen_by, make_learner, draw, name):
    generators = make_learner().fit(seen_by(name)).generators_
    assert len(draw(generators, ["a", "b"]).axes) >= 2

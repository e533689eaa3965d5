"""Plain functions, ``movie, dt -> responses``, wherever a detector is taken; and models that remember, refused."""

import inspect
from functools import partial

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import flymotion.tuning
from flymotion.detectors import FunctionDetector, as_detector, hassenstein_reichardt, rectified
from flymotion.detectors.temporal import LowPass
from flymotion.photoreceptors import SensorNoise, WeberContrast
from flymotion.stimuli import drifting_grating
from flymotion.tuning import EXPERIMENTS, characterise, dt_for, experiment, eye_for, tune
from flymotion.tuning.recordings import compare, published
from flymotion.world.eyes import Grid, Line

HRD = hassenstein_reichardt(LowPass(0.05))
EYE = Line(7)
HOW = {"eye": EYE, "dt": 0.02, "repeats": 2}


def plain(movie, dt):
    return HRD(movie, dt)


ENTRIES = {
    "tune": lambda detector: tune(detector, drifting_grating, {"direction": [0.0, 180.0]}, **HOW),
    "experiment": lambda detector: experiment("contrast", detector, **HOW),
    "characterise": lambda detector: characterise(detector, duration=1.5, **HOW).numbers,
    "eye_for": lambda detector: eye_for(detector, 3),
    "dt_for": dt_for,
}


MEASURES = [name for name in ENTRIES if name not in ("eye_for", "dt_for")]


def test_all_that_takes_a_detector_is_tried():
    public = {name: getattr(flymotion.tuning, name) for name in flymotion.tuning.__all__}
    functions = {name: thing for name, thing in public.items() if inspect.isfunction(thing)}
    assert {name for name, f in functions.items() if "detector" in inspect.signature(f).parameters} == set(ENTRIES)


@pytest.mark.parametrize("name", ["tune", "experiment", "characterise"])
def test_a_function_measures_as_the_detector_that_it_calls(name):
    xr.testing.assert_allclose(ENTRIES[name](plain), ENTRIES[name](HRD), rtol=1e-9)


def test_what_a_function_is_shown_by_default():
    eye = eye_for(plain, 3)
    assert (eye.shape, dt_for(plain)) == ((26,), 0.005)
    assert eye.sigma == eye_for(HRD).sigma
    assert tune(plain, drifting_grating, {}, dt=0.02).attrs["eye"].startswith("Line(n=24,")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_takes_a_function(name):
    result = experiment(name, plain, dt=0.025, repeats=1)
    assert np.isfinite(result.response).all()
    assert (result.attrs["detector"], result.attrs["preferred"]) == ("plain", 0.0)


def test_a_function_is_compared_with_recordings():
    theirs, ours = (compare(experiment("direction", d, **HOW), published()) for d in (plain, HRD))
    assert_allclose(theirs.correlation, ours.correlation, rtol=1e-9)


def test_a_function_may_have_units_a_spacing_and_a_name_of_its_own():
    def both(movie, dt):
        return np.stack([HRD(movie, dt), -HRD(movie, dt)], axis=-1)

    detector = FunctionDetector(both, spacing=4.0, directions=(0.0, 180.0), name="pair", unit="mV", opponent=True)
    result = experiment("contrast", detector, contrast=[0.5], **HOW)
    assert (result.attrs["detector"], result.response.attrs["units"], result.attrs["opponent"]) == ("pair", "mV", 1)
    assert_allclose(result.response.sel(motion="preferred"), [[0.02, 0.02]], rtol=0.9)
    assert_allclose(*result.response.sel(motion="preferred").values.T, rtol=1e-9)
    near = tune(partial(plain), drifting_grating, {}, **HOW).response
    assert_allclose(tune(FunctionDetector(plain), drifting_grating, {}, **HOW).response, near)
    assert tune(FunctionDetector(plain, spacing=3.0), drifting_grating, {}, **HOW).response < 0.9 * near


def test_a_function_sees_one_movie_at_a_time_and_cannot_change_it():
    shapes = set()

    def greedy(movie, dt):
        shapes.add(movie.shape[1:])
        responses = movie.reshape(len(movie), -1).copy()
        movie *= 0
        return responses

    tune(greedy, drifting_grating, {}, eye=Grid(2, 3), dt=0.02)
    assert shapes == {(2, 3)}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda movie, dt: movie[1:],
        lambda movie, dt: 1.0,
        lambda movie, dt: movie[:, 0],
        lambda movie, dt: movie[:, :0],
        lambda m, dt: m[..., None],
    ],
    ids=["a frame less", "one number", "one a frame", "no position", "units"],
)
@pytest.mark.parametrize("seen_as", [lambda function: function, rectified], ids=["plain", "rectified"])
@pytest.mark.parametrize("entry", MEASURES)
def test_refuses_functions_of_other_shapes(wrong, seen_as, entry):
    expected = r"returned shape .*; expected \(\d+, n_positions\), a response for each frame and position"
    with pytest.raises(ValueError, match=expected):
        ENTRIES[entry](seen_as(wrong))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda movie, dt: None,
        lambda movie, dt: movie + 1j,
        lambda movie, dt: np.full(movie.shape, "a"),
        lambda movie, dt: [[0.0]] * (len(movie) - 1) + [[0.0, 1.0]],
    ],
    ids=["nothing", "complex", "text", "ragged"],
)
@pytest.mark.parametrize("entry", MEASURES)
def test_refuses_functions_that_return_no_numbers(wrong, entry):
    with pytest.raises(ValueError, match=r"returned no real numbers of one shape; expected \(\d+, n_positions\)"):
        ENTRIES[entry](wrong)


def late(movie, dt):
    """NaN in the last frames only."""
    responses = movie.copy()
    responses[-3:] = np.nan
    return responses


@pytest.mark.parametrize("wrong", [lambda movie, dt: movie * np.nan, late, lambda movie, dt: movie + np.inf])
@pytest.mark.parametrize("settle", [None, 0.5])
@pytest.mark.parametrize("entry", MEASURES)
def test_responses_that_are_not_finite_are_told_as_that(wrong, settle, entry, monkeypatch):
    monkeypatch.setitem(HOW, "settle", settle)
    with pytest.raises(
        ValueError, match=r"answers with NaN or infinite numbers, first in frame \d+ of a movie; expected"
    ):
        ENTRIES[entry](wrong)


def test_a_formula_that_gives_no_number_is_told_as_that():
    with pytest.raises(ValueError, match="the detector answers with NaN"):
        ENTRIES["tune"](of_formula(lambda tap: tap("fast") * np.nan))


def test_what_a_function_leaves_out_at_the_start_is_not_in_the_mean():
    def starting(movie, dt):
        return np.where(np.arange(len(movie))[:, None] < 2, np.nan, movie + 2)

    with pytest.warns(UserWarning, match="settle within inf s"):
        assert_allclose(tune(starting, drifting_grating, {}, settle=1.0, **HOW).response, 2, atol=1e-9)


@pytest.mark.parametrize("name", ENTRIES)
def test_refuses_what_is_neither(name):
    with pytest.raises(TypeError, match="the detector is 'hrd'; expected a Detector, or a function of movie and dt"):
        ENTRIES[name]("hrd")
    assert as_detector(HRD) is HRD


# What remembers


def remembering():
    """A function that goes on from where its last call ended."""
    state = {}

    def detector(movie, dt):
        level, out = state.get("level", 0.0), np.empty_like(movie)
        for k, frame in enumerate(movie):
            out[k] = level = 0.9 * level + 0.1 * frame
        state["level"] = level
        return out

    return detector


def noisy(movie, dt):
    return movie + np.random.default_rng().normal(size=movie.shape)


def of_formula(combine):
    return HRD.__class__(HRD.arms, HRD.displacements, combine)


WHOLE = {
    "remembers": remembering(),
    "draws": noisy,
    "along time": of_formula(lambda tap: tap("fast") - tap("fast").mean(axis=-2, keepdims=True)),
    "ahead": of_formula(lambda tap: tap("fast")[..., ::-1, :]),
    "across movies": of_formula(lambda tap: tap("fast") - tap("fast").mean(axis=tuple(range(tap("fast").ndim - 2)))),
}


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("entry", MEASURES)
def test_refuses_what_answers_a_movie_otherwise_alone_or_in_pieces(name, entry):
    with pytest.raises(ValueError, match=r"answers a movie otherwise .*; expected the same"):
        ENTRIES[entry](WHOLE[name])


class Adapting(TransformerMixin, BaseEstimator):
    """Takes the running mean away: in every call anew, or, if it keeps it, from where the last one ended."""

    def __init__(self, keeps=False, tau=0.2, dt=0.02):
        self.keeps, self.tau, self.dt = keeps, tau, dt

    def fit(self, X, y=None):
        self.level_, self.n_features_in_ = None, X.shape[1]
        return self

    def transform(self, X):
        level = X[0] if self.level_ is None else self.level_
        out, share = np.empty_like(X), np.exp(-self.dt / self.tau)
        for k, frame in enumerate(X):
            level = share * level + (1 - share) * frame
            out[k] = frame - level
        self.level_ = level if self.keeps else None
        return out


def test_early_vision_that_filters_in_time_begins_anew_with_every_movie():
    design = {"contrast": [0.2, 0.5, 0.8]}
    together = tune(HRD, drifting_grating, design, early_vision=Adapting(), **HOW)
    apart = [tune(HRD, drifting_grating, {"contrast": [c]}, early_vision=Adapting(), **HOW) for c in design["contrast"]]
    xr.testing.assert_equal(together.response, xr.concat(apart, "contrast").response)


@pytest.mark.parametrize("entry", MEASURES)
def test_refuses_early_vision_that_remembers_the_movie_before(entry, monkeypatch):
    monkeypatch.setitem(HOW, "early_vision", make_pipeline(Adapting(keeps=True)))
    with pytest.raises(ValueError, match="early vision sees a movie otherwise when it is shown again"):
        ENTRIES[entry](HRD)


AHEAD = {
    "less the mean over time": lambda X: X - X.mean(axis=0),
    "over the largest": lambda X: X / np.abs(X).max(),
    "backwards": lambda X: X[::-1],
    "smoothed": lambda X: np.gradient(X, axis=0),
    "less the last frame": lambda X: X - X[-1],
}


@pytest.mark.parametrize("frequency", [1.0, 3.0])
@pytest.mark.parametrize("look", AHEAD.values(), ids=AHEAD)
@pytest.mark.parametrize("settle", [None, 0.5])
@pytest.mark.parametrize("entry", MEASURES)
def test_refuses_early_vision_that_looks_at_the_whole_movie(look, frequency, settle, entry, monkeypatch):
    """Also of movies of whole cycles, whose thirds have the mean of all."""
    for name, value in (("early_vision", FunctionTransformer(look)), ("settle", settle)):
        monkeypatch.setitem(HOW, name, value)
    monkeypatch.setitem(globals(), "drifting_grating", partial(drifting_grating, temporal_frequency=frequency))
    with pytest.raises(
        ValueError, match=r"sees the first \d+ frames of a movie otherwise without the \d+ after them, so"
    ):
        ENTRIES[entry](HRD)


def test_early_vision_that_sums_up_the_whole_movie_is_told_as_that():
    sums = FunctionTransformer(partial(np.cumsum, axis=0))
    with pytest.raises(ValueError, match=r"early vision has not settled .* no memory of the whole movie"):
        tune(HRD, drifting_grating, {}, early_vision=sums, **HOW)
    with pytest.warns(UserWarning, match="settle within inf s"):
        tune(HRD, drifting_grating, {}, early_vision=sums, settle=0.5, **HOW)


@pytest.mark.parametrize("look", [lambda X: X[1:], lambda X: X[:, 0], lambda X: X + 1j, lambda X: X[0]])
@pytest.mark.parametrize("settle", [None, 0.5])
def test_refuses_early_vision_that_makes_no_frames(look, settle):
    with pytest.raises(ValueError, match=r"early vision made .* of shape .*; expected real numbers of the same shape"):
        tune(HRD, drifting_grating, {}, early_vision=FunctionTransformer(look), settle=settle, **HOW)


def test_noise_of_sensors_is_no_memory():
    noise = make_pipeline(WeberContrast(), SensorNoise(0.1, random_state=0))
    assert np.isfinite(tune(HRD, drifting_grating, {}, mean=1.0, early_vision=noise, **HOW).response)

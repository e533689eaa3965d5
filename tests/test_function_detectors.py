"""Plain functions, ``movie, dt -> responses``, wherever a detector is taken; and models that remember, refused."""

import inspect
from functools import partial

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline

import flymotion.tuning
from flymotion.detectors import FunctionDetector, as_detector, hassenstein_reichardt
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
    [lambda movie, dt: movie[1:], lambda movie, dt: 1.0, lambda movie, dt: movie[:, :0], lambda m, dt: m[..., None]],
)
def test_refuses_functions_of_other_shapes(wrong):
    with pytest.raises(ValueError, match=r"returned shape .*; expected .* a response for each frame and position"):
        tune(wrong, drifting_grating, {}, dt=0.02)


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
@pytest.mark.parametrize("entry", [name for name in ENTRIES if name not in ("eye_for", "dt_for")])
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


@pytest.mark.parametrize("entry", [name for name in ENTRIES if name not in ("eye_for", "dt_for")])
def test_refuses_early_vision_that_remembers_the_movie_before(entry, monkeypatch):
    monkeypatch.setitem(HOW, "early_vision", make_pipeline(Adapting(keeps=True)))
    with pytest.raises(ValueError, match="early vision sees a movie otherwise when it is shown again"):
        ENTRIES[entry](HRD)


def test_noise_of_sensors_is_no_memory():
    noise = make_pipeline(WeberContrast(), SensorNoise(0.1, random_state=0))
    assert np.isfinite(tune(HRD, drifting_grating, {}, mean=1.0, early_vision=noise, **HOW).response)

"""Settling: as long as the slowest filter needs, of detectors, functions and early vision, and a word."""

import math
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_function_detectors import Adapting

from flymotion.detectors import DETECTORS, hassenstein_reichardt
from flymotion.detectors.temporal import Delay, Gamma, GammaSlope, HighPass, LowPass, Rectify
from flymotion.photoreceptors import SensorNoise, WeberContrast
from flymotion.stimuli import Stimulus, drifting_grating, flashed_bar, moving_edge, reverse_phi, velocity_steps
from flymotion.tuning import EXPERIMENTS, dt_for, experiment, eye_for, peak, tune
from flymotion.tuning.settling import settling_of, settling_of_stages
from flymotion.world.eyes import Line

EYE = Line(3)


def settling(*chain, dt=0.01):
    return settling_of(hassenstein_reichardt(LowPass(1e-3), chain), dt, EYE)


@pytest.mark.parametrize("tau", [0.05, 1.0, 20.0])
def test_a_low_or_high_pass_settles_when_a_two_hundredth_is_left(tau):
    for step in (LowPass(tau), HighPass(tau)):
        assert_allclose(settling(step), tau * math.log(200), rtol=1e-2, atol=0.011)
    assert settling(Rectify(-1), LowPass(tau), Rectify(1)) == settling(LowPass(tau))


def test_slower_filters_and_longer_chains_settle_later():
    low = settling(LowPass(0.2))
    assert low < settling(LowPass(0.2), LowPass(0.2)) < settling(LowPass(0.2), LowPass(0.2), LowPass(0.2))
    assert low < settling(Gamma(0.2))
    assert settling(GammaSlope(0.2)) > low
    assert_allclose(settling(Delay(0.5), LowPass(0.2)), low + 0.5, atol=0.02)
    assert_allclose(settling(Delay(3.0)), 3.0)
    assert settling() == 0.01  # of the other arm, a millisecond


def test_what_never_settles_is_refused_unless_a_time_is_given():
    with pytest.raises(ValueError, match=r"has not settled after 10485\.8 s, 1048576 frames; expected settle"):
        settling(LowPass(1e6))
    detector = hassenstein_reichardt(LowPass(1e6))
    with pytest.raises(ValueError, match="has not settled"):
        tune(detector, drifting_grating, {}, dt=0.01)
    with pytest.warns(UserWarning, match="settle is 1 s, and the filters of hrd settle within inf s"):
        tune(detector, drifting_grating, {}, dt=0.01, settle=1.0)


def test_a_function_settles_as_the_detector_that_it_calls():
    for detector in (hassenstein_reichardt(LowPass(0.4)), hassenstein_reichardt(LowPass(0.1))):
        found = settling_of(lambda movie, dt, d=detector: d(movie, dt), 0.01, EYE)
        assert_allclose(found, settling_of(detector, 0.01, EYE), atol=0.02)


def test_early_vision_counts():
    slow = Adapting(tau=0.5).fit(np.zeros((1, 3)))
    assert_allclose(settling_of_stages(slow, 0.02, EYE, 0.0), 0.5 * math.log(200), atol=0.05)
    assert settling_of_stages(WeberContrast().fit(np.ones((1, 3))), 0.02, EYE, 1.0) == 0
    assert settling_of_stages(SensorNoise(0.1).fit(np.zeros((1, 3))), 0.02, EYE, 0.0) == 0
    how = {"dt": 0.02, "repeats": 2}
    tuned = tune(hassenstein_reichardt(LowPass(0.1)), drifting_grating, {}, early_vision=Adapting(tau=0.5), **how)
    assert_allclose(tuned.attrs["settle"], 0.1 * math.log(200) + 0.5 * math.log(200), atol=0.1)


@pytest.mark.parametrize("tau", [0.15, 1.0, 3.0])
def test_the_hrd_has_its_optimum_whatever_its_time_constant(tau):
    """1 / (2 pi tau): with a second to settle, at 0.216 Hz instead of 0.159 for 1 s."""
    best = 1 / (2 * math.pi * tau)
    design = {"temporal_frequency": np.geomspace(best / 4, best * 4, 17)}
    tuned = tune(hassenstein_reichardt(LowPass(tau)), drifting_grating, design, dt=0.01)
    assert_allclose(peak(tuned, "temporal_frequency").position, best, rtol=0.03)
    longer = partial(drifting_grating, duration=15 * tau + 1)
    long = tune(hassenstein_reichardt(LowPass(tau)), longer, design, dt=0.01, settle=15 * tau)
    assert_allclose(tuned.response, long.response, atol=TOLERATED * float(long.response.max()))


TOLERATED = 1e-2


@pytest.mark.parametrize("name", [name for name, e in EXPERIMENTS.items() if not e.transient])
def test_every_experiment_that_goes_on_settles_and_lasts_longer_for_slow_filters(name):
    fast, slow = (experiment(name, hassenstein_reichardt(LowPass(tau)), dt=0.025, repeats=1) for tau in (0.1, 0.5))
    assert fast.attrs["settle"] == 1.0
    assert_allclose(slow.attrs["settle"], 0.5 * math.log(200), atol=0.03)
    longer = slow.attrs["stimulus_duration"] - fast.attrs["stimulus_duration"]
    assert_allclose(longer, slow.attrs["settle"] - 1, atol=1e-9)


@pytest.mark.parametrize("name", [name for name, e in EXPERIMENTS.items() if e.transient])
def test_what_happens_once_begins_settled(name):
    result = experiment(name, hassenstein_reichardt(LowPass(0.5)), dt=0.025, settle=EXPERIMENTS[name].setup["settle"])
    assert result.attrs["stimulus_duration"] == EXPERIMENTS[name].fixed.get("duration", 2.0)


@pytest.mark.parametrize(("stimulus", "settle"), [(flashed_bar, 0.5), (moving_edge, 0.0)])
def test_stimuli_that_begin_at_rest_need_no_settling(stimulus, settle):
    assert tune(hassenstein_reichardt(LowPass(0.5)), stimulus, {}, dt=0.02, settle=settle).attrs["settling"] == 0
    assert tune(hassenstein_reichardt(LowPass(0.5)), stimulus, {}, dt=0.02).attrs["settle"] == 1.0


@pytest.mark.parametrize("stimulus", [drifting_grating, reverse_phi, lambda: drifting_grating(phase=0.3)])
def test_a_time_too_short_is_taken_with_a_warning(stimulus):
    with pytest.warns(UserWarning, match=r"settle is 0\.5 s, and the filters of hrd settle within 0\.8"):
        found = tune(hassenstein_reichardt(), stimulus, {}, dt=0.02, settle=0.5)
    assert found.attrs["settle"] == 0.5
    with pytest.warns(UserWarning, match="settle is 0 s"):
        experiment("contrast", hassenstein_reichardt(), dt=0.02, settle=0.0)


def test_a_stimulus_that_cannot_last_longer_is_refused():
    slow = hassenstein_reichardt(LowPass(0.5))
    for stimulus, design in ((drifting_grating, {"duration": [2.0]}), (lambda: drifting_grating(phase=0.0), {})):
        with pytest.raises(
            ValueError, match=r"a stimulus lasts 2 s, and responses settle for 2\.6.* s; expected a longer"
        ):
            tune(slow, stimulus, design, dt=0.02)
    assert isinstance(velocity_steps(), Stimulus)


@pytest.mark.parametrize("name", DETECTORS)
def test_published_detectors_settle_within_three_seconds(name):
    detector = DETECTORS[name]()
    assert settling_of(detector, dt_for(detector), eye_for(detector)) < 3

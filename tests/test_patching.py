"""Frames of hexagonal eyes, cut into each pixel with its neighbours, and what is learned from them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from test_between_axes import on_a_sphere

from flymotion.detectors import of_learner
from flymotion.frames import FramePairs
from flymotion.learner import MotionLearner
from flymotion.stimuli import rotating_grating
from flymotion.world import Grid, Hexagon, Sphere, Translation, Turn, around_pixels, buchner, sample_pairs
from flymotion.world.lattices import lattice_of
from flymotion.world.scenes import SmoothNoise, SphericalNoise


def test_patches_are_what_pixels_and_their_neighbours_see():
    eye = Hexagon(3)
    pairs = sample_pairs(SmoothNoise(2.0, ndim=2, random_state=0), eye, Translation(0.3), 4, random_state=0)
    patches, inner = around_pixels(pairs, 2), Hexagon(1)
    assert (patches.eye, patches.names) == (Hexagon(2), pairs.names)
    assert_array_equal(patches.motion, np.repeat(pairs.motion, 7, axis=0))
    for k, middle in enumerate(inner.axial):
        pixels = [eye.axial.tolist().index((middle + step).tolist()) for step in Hexagon(2).axial]
        assert_array_equal(patches.before[k::7], pairs.before[:, pixels])
        assert_array_equal(patches.after[k::7], pairs.after[:, pixels])


def test_on_the_sphere_turns_are_shifts_at_every_pixel():
    """An eye that turns to the left by 2 degrees sees content go to the right, less so the higher; that nods, up."""
    eye = on_a_sphere(Hexagon(3), ahead=(1.0, 0.0, 0.0))
    lattice, frames = lattice_of(eye), np.zeros((2, 37))
    turns = np.array([[0.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    patches = around_pixels(FramePairs(frames, frames, turns, Turn(1.0).names, eye))
    inner = np.flatnonzero((lattice.neighbours >= 0).all(axis=1))
    yaw, pitch = patches.motion.reshape(2, 19, 2) * lattice.spacings[inner][:, None]
    height = eye.directions[inner, 2]
    assert_allclose(yaw, np.stack([2 * np.sqrt(1 - height**2), np.zeros(19)], axis=1), atol=1e-12)
    assert_allclose(pitch[9], [0.0, -3.0], atol=1e-12)
    assert patches.names == Translation(1.0).names
    assert patches.eye.sigma == pytest.approx(Hexagon(1).sigma, rel=0.01)


def test_motions_that_no_pixel_sees_alike_are_left_out():
    eye = on_a_sphere(Hexagon(2))
    frames = np.zeros((3, len(eye.directions)))
    for pairs in (FramePairs(frames, frames, np.ones((3, 3)), eye=eye), FramePairs(frames, frames, eye=eye)):
        assert around_pixels(pairs).motion is around_pixels(pairs).names is None


@pytest.mark.parametrize(
    ("eye", "message"),
    [
        (None, r"^pairs of which nobody says whose frames they are; expected pairs with an eye$"),
        (Grid(2, 4), r"^Grid is no hexagonal lattice; expected a Hexagon or a CompoundEye$"),
        (Sphere.evenly(8), r"^Sphere is no hexagonal lattice; expected a Hexagon or a CompoundEye$"),
    ],
)
def test_pairs_without_a_lattice_are_refused(eye, message):
    with pytest.raises(ValueError, match=message):
        around_pixels(FramePairs(np.zeros((2, 8)), np.zeros((2, 8)), eye=eye))


def test_an_eye_that_holds_no_patch_is_refused():
    with pytest.raises(
        ValueError, match=r"^no pixel of Hexagon\(.*\) has 2 ring\(s\) of neighbours about it; expected"
    ):
        around_pixels(FramePairs(np.zeros((2, 7)), np.zeros((2, 7)), eye=Hexagon(1)), 2)


def test_a_fly_that_turns_learns_patches_that_tell_right_from_left_at_every_lens():
    """Within 50 degrees of the horizon; each patch put back where it came from, along the axes there."""
    eye, yaw = buchner("left"), Turn(1.5, axes=[[0.0, 0.0, 1.0]])
    seen = [sample_pairs(SphericalNoise(10.0, random_state=k), eye, yaw, 5, random_state=k) for k in range(4)]
    patches = [around_pixels(pairs) for pairs in seen]
    order = np.random.default_rng(0).permutation(4 * len(patches[0]))
    before, after, motion = (
        np.concatenate([getattr(p, name) for p in patches])[order] for name in ("before", "after", "motion")
    )
    learner = MotionLearner(2, random_state=0).fit(FramePairs(before, after, motion, patches[0].names, patches[0].eye))
    assert sorted(learner.labels_) == ["left", "right"]
    detector = of_learner(learner)
    drums = [rotating_grating(wavelength=60.0, phase=phase).movie(eye, 0.02) for phase in (0.0, np.pi / 2)]
    responses = detector(np.array(drums), 0.02, eye=eye)[:, 50:].mean(axis=(0, 1))
    near = np.abs(eye.directions[detector.positions(eye), 2]) < np.sin(np.radians(50))
    k = learner.labels_.index("right")
    assert (responses[near, k] > 0).all() and (responses[near, 1 - k] < 0).all()

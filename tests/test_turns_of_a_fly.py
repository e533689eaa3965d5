"""Turns of a fly's eyes: scenes as sums of harmonics are what is rendered, and their generators the population's."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from flymotion.claims.turns.fly_eyes import mirrored_panoramas, principal_whitening
from flymotion.claims.turns.harmonic_scenes import HarmonicScenes, real_harmonics
from flymotion.generators.theory import population
from flymotion.world.compound_eyes import CompoundEye
from flymotion.world.eyes import Hexagon, Sphere
from flymotion.world.motions import Turn
from flymotion.world.rendering import render
from flymotion.world.scenes import SphericalScene, spherical_covariance

MOTION = Turn(8.0)
SMALL = Sphere.evenly(30, sigma=6.0)


def compound_eye():
    directions = [[1.0, -0.1 * x, -0.1 * y] for x, y in Hexagon(2).positions]
    return CompoundEye(directions, np.linspace(2.0, 9.0, 19), axial=Hexagon(2).axial)


def scene_of(a, degree):
    """The scene with real coefficients: a cosine's is sqrt(2) times the real part, a sine's minus the imaginary one."""
    coefficients = np.zeros((degree + 1, degree + 1), dtype=complex)
    for n in range(degree + 1):
        own = a[n**2 : (n + 1) ** 2]
        coefficients[n, : n + 1] = np.append(own[0], (own[1::2] - 1j * own[2::2]) / math.sqrt(2))
    return SphericalScene(coefficients)


def test_harmonics_are_orthonormal():
    Y = real_harmonics(Sphere.evenly(4000).directions, 6)
    assert_allclose(Y.T @ Y * 4 * math.pi / 4000, np.eye(49), atol=5e-3)


@pytest.mark.parametrize("axis", range(3))
def test_pairs_are_what_an_eye_sees_that_turns_in_a_scene(axis):
    scenes = HarmonicScenes(20.0, compound_eye())
    a = np.random.default_rng(axis).standard_normal((1, len(scenes.C))) * np.sqrt(scenes.C)
    step = -7.0 * np.eye(3)[[axis]]
    poses = np.stack([np.eye(3), Rotation.from_rotvec(np.radians(step[0])).as_matrix()])
    seen = np.concatenate([a, scenes.turned(a, step)]) @ scenes.E.T
    assert_allclose(seen, render(scene_of(a[0], scenes.degree), scenes.eye, poses), atol=1e-7)


def test_pairs_are_of_unit_variance_before_the_optics():
    scenes = HarmonicScenes(20.0, Sphere.evenly(5, sigma=0.0))
    pairs = scenes.pairs(MOTION, 4000, np.random.default_rng(0))
    assert_allclose(np.concatenate([pairs.before, pairs.after]).var(axis=0), 1, atol=0.05)


def test_generators_are_the_populations():
    covariance = spherical_covariance(20.0, SMALL.sigma)
    pop = population(covariance, SMALL, MOTION, whitening=None, regularization=1e-3)
    found = HarmonicScenes(20.0, SMALL).generators(np.eye(30), pop.ridge)
    expected = pop.generators().operators
    assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())


def test_whitened_components_are_white_but_for_the_ridge():
    rng = np.random.default_rng(0)
    frames = rng.standard_normal((500, 4)) @ rng.standard_normal((4, 12))
    P, added = principal_whitening(frames, 1e-3)
    seen = (frames - frames.mean(axis=0)) @ P.T
    values = np.linalg.eigvalsh(np.cov(frames.T, bias=True))[-4:]
    assert added == pytest.approx(1e-3 * values.sum() / 12)
    assert_allclose(np.cov(seen.T, bias=True), np.diag(values / (values + added)), atol=1e-9)


def test_panoramas_of_photographs_are_mirror_images_of_mean_0():
    d = Sphere.evenly(60, sigma=6.0).directions
    looking, mirrored = (Sphere(each, sigma=6.0) for each in (d, d * [1, -1, 1]))
    scenes = mirrored_panoramas()
    assert len(scenes) == 8
    for scene in scenes[::3]:
        assert scene.coefficients[0, 0] == 0
        assert_allclose(*(render(scene, eye, np.eye(3)[None]) for eye in (looking, mirrored)), atol=1e-9)

r"""Scenes: what there is to see, static and continuous.

A scene answers one question, ``sample(points, sigma)``: its intensity at ``points`` seen through a Gaussian acceptance
function of standard deviation ``sigma``, both in pixel spacings of the eye; or through elliptic ones, a covariance for
each frame, which is what a round one becomes when content zooms or shears. The answer is exact: gratings, edges and
dots in closed form, noise and photographs as Fourier series whose modes the optics damp by
:math:`\exp(-\sigma^2 \omega^2 / 2)`, summed at any points to 1e-12 by a nonuniform fast Fourier transform (finufft).
No pixel values are ever interpolated.

Coordinates are (x right, y down). Angles are in degrees: 0 = right, 90 = up. Scenes all round are functions of the
direction, a unit vector (x forward, y left, z up), and their optics are in degrees.
"""

from flymotion.world.scenes.covariance import exponential_covariance, smooth_covariance
from flymotion.world.scenes.dots import Dot
from flymotion.world.scenes.drums import Drum
from flymotion.world.scenes.flat_noise import ExponentialNoise, SmoothNoise
from flymotion.world.scenes.fourier import FourierScene, photograph
from flymotion.world.scenes.scene import FlatScene, Scene
from flymotion.world.scenes.sphere import SphericalNoise, SphericalScene, panorama, spherical_covariance
from flymotion.world.scenes.straight import Bar, Edge, Grating, SquareGrating

__all__ = [
    "Bar",
    "Dot",
    "Drum",
    "Edge",
    "ExponentialNoise",
    "FlatScene",
    "FourierScene",
    "Grating",
    "Scene",
    "SmoothNoise",
    "SphericalNoise",
    "SphericalScene",
    "SquareGrating",
    "exponential_covariance",
    "panorama",
    "photograph",
    "smooth_covariance",
    "spherical_covariance",
]

"""Scenes all round that turn about an eye."""

from __future__ import annotations

from typing import Any

from flymotion.stimuli.arguments import checked
from flymotion.stimuli.paths import Turning
from flymotion.stimuli.stimulus import Part, Stimulus
from flymotion.world.conventions import as_generator, positive
from flymotion.world.scenes import SphericalNoise, SphericalScene

__all__ = ["rotating_panorama"]


@checked
def rotating_panorama(
    *,
    scene: SphericalScene | None = None,
    speed: float = 30.0,
    heading: float | None = None,
    duration: float = 2.0,
    random_state: Any = 0,
) -> Stimulus:
    """Return a scene all round that turns about the vertical, to the right as an upright eye sees the horizon.

    For flat eyes, wrapped on the globe, and for spherical ones.

    Parameters
    ----------
    scene : SphericalScene, optional
        Such as :func:`~flymotion.world.scenes.panorama` makes of an image, shown with the intensities that it has; by
        default Gaussian noise of variance 1, always the same, with a correlation angle of 10 degrees.
    speed : float
        Of the content, to the right [deg/s].
    heading : float, optional
        What is straight ahead at time 0: how far it is to the left in the scene [deg]; by default drawn from
        ``random_state``.
    duration : float
        [s].
    random_state : int, Generator, RandomState or None
        Source of the heading.

    Raises
    ------
    ValueError
        A duration that is not positive.
    """
    positive(duration=duration)
    if scene is None:
        scene = SphericalNoise(10.0, random_state=0)
    if heading is None:
        heading = as_generator(random_state).uniform(0, 360)
    return Stimulus((Part(scene, Turning(speed, heading)),), duration)

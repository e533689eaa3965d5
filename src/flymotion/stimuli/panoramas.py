"""Scenes all round that turn about an eye: pictures, and the inside of a drum.

For spherical eyes, and for flat ones, wrapped on the globe.
"""

from __future__ import annotations

import math
from typing import Any

from flymotion.stimuli.arguments import checked, takes
from flymotion.stimuli.gratings import Wave
from flymotion.stimuli.paths import Turning
from flymotion.stimuli.stimulus import Part, Stimulus
from flymotion.world.conventions import as_generator, positive
from flymotion.world.scenes import Drum, Grating, Scene, SphericalNoise, SquareGrating

__all__ = ["rotating_grating", "rotating_panorama", "sweeping_edge"]

AROUND = 360.0


@checked
def rotating_panorama(
    *,
    scene: Scene | None = None,
    speed: float = 30.0,
    heading: float | None = None,
    duration: float = 2.0,
    random_state: Any = 0,
) -> Stimulus:
    """Return a scene all round that turns about the vertical, to the right as an upright eye sees the horizon.

    Parameters
    ----------
    scene : Scene, optional
        One all round, such as :func:`~flymotion.world.scenes.panorama` makes of an image, shown with the intensities
        that it has; by default Gaussian noise of variance 1, always the same, with a correlation angle of 10 degrees.
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

    Examples
    --------
    >>> from flymotion.world.eyes import Sphere
    >>> left_ahead_right = Sphere([[0, 1, 0], [1, 0, 0], [0, -1, 0]])
    >>> turning = rotating_panorama(speed=90.0, heading=0.0, duration=2.0)
    >>> turning.movie(left_ahead_right, dt=1.0).round(2)  # what is on the left is ahead a second later
    array([[ 0.73, -0.14,  0.18],
           [-0.35,  0.73, -0.14]])
    """
    positive(duration=duration)
    if scene is None:
        scene = SphericalNoise(10.0, random_state=0)
    if heading is None:
        heading = as_generator(random_state).uniform(0, AROUND)
    return Stimulus((Part(scene, Turning(speed, heading)),), duration)


@takes(Wave)
def rotating_grating(wave: Wave) -> Stimulus:
    """Return the inside of a drum with a sine grating, which turns at ``temporal_frequency * wavelength`` deg/s.

    What is straight ahead moves along ``direction``: to the right as by default, of a drum that turns about the
    vertical. Other parameters are those of :class:`Wave`, the wavelength in degrees of longitude about the drum's axis.

    Raises
    ------
    ValueError
        A wavelength of which no whole number is 360 degrees, or what :class:`Wave` refuses.

    Examples
    --------
    >>> from flymotion.world.eyes import Sphere
    >>> ahead_left_up = Sphere([[1, 0, 0], [0, 1, 0], [0, 0, 1]], sigma=1.0)
    >>> grating = rotating_grating(wavelength=90.0, phase=0.0, contrast=0.5, duration=1.0)
    >>> grating.movie(ahead_left_up, dt=0.5).round(2) + 0.0
    array([[ 0.5,  0.5,  0. ],
           [-0.5, -0.5,  0. ]])
    """
    periods = AROUND / wave.wavelength
    if not (periods >= 0.5 and abs(periods - round(periods)) < 1e-6):
        raise ValueError(f"wavelength is {wave.wavelength}; expected a whole part of the drum's 360 deg, such as 30")
    scene = Drum(Grating(wave.wavelength, wave.contrast, phase=wave.phase or 0.0))
    return Stimulus((Part(scene, Turning(wave.path.speed, direction=wave.direction)),), wave.duration)


@checked
def sweeping_edge(
    *, speed: float = 60.0, direction: float = 0.0, contrast: float = 1.0, duration: float = 6.0
) -> Stimulus:
    """Return an edge that sweeps all round, with another one of opposite sign on the opposite side.

    Half of the world is at ``contrast`` and half at 0, and the border between them turns: the edge, with the half at
    ``contrast`` behind it, passes straight ahead at ``duration / 2``, the end of that half where the edge is straight
    behind. As by default, in one turn every direction sees one ON and one OFF edge.

    Parameters
    ----------
    speed : float
        Of what is ahead [deg/s].
    direction : float
        In which what is ahead moves [deg]: 0 = right, about the vertical; 90 = up.
    contrast : float
        Weber contrast: positive for an ON edge, whose bright side arrives; negative for an OFF edge.
    duration : float
        [s].

    Raises
    ------
    ValueError
        A speed or duration that is not positive.

    Examples
    --------
    >>> from flymotion.world.eyes import Sphere
    >>> left_ahead_right = Sphere([[0, 1, 0], [1, 0, 0], [0, -1, 0]], sigma=1.0)
    >>> sweeping_edge().movie(left_ahead_right, dt=1.0).round(6) + 0.0
    array([[0. , 0.5, 1. ],
           [0. , 0. , 1. ],
           [1. , 0. , 1. ],
           [1. , 0.5, 0. ],
           [1. , 1. , 0. ],
           [0. , 1. , 0. ]])
    """
    positive(speed=speed, duration=duration)
    front = math.remainder(speed * duration / 2 + AROUND / 4, AROUND)  # how far left of where the bright half is even
    scene = Drum(SquareGrating(AROUND, contrast / 2, phase=math.radians(front), mean=contrast / 2))
    return Stimulus((Part(scene, Turning(speed, direction=direction)),), duration)

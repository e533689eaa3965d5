"""Edges and bars, in Weber contrast: intensities relative to a background of 0."""

from __future__ import annotations

from flymotion.stimuli.arguments import checked
from flymotion.stimuli.paths import Window
from flymotion.stimuli.stimulus import Drift, Part, Stimulus
from flymotion.world.conventions import positive
from flymotion.world.scenes import Bar, Edge

__all__ = ["apparent_motion", "flashed_bar", "moving_bar", "moving_edge"]


@checked
def moving_edge(
    *, speed: float = 30.0, direction: float = 0.0, contrast: float = 1.0, duration: float = 2.0
) -> Stimulus:
    """Return an edge that moves over the background, which is left behind it at ``contrast``.

    It passes the origin at ``duration / 2``.

    Parameters
    ----------
    speed : float
        [deg/s].
    direction : float
        Of motion [deg]: 0 = right, 90 = up.
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
    >>> from flymotion.world.eyes import Line
    >>> moving_edge(speed=10.0).movie(Line(3, sigma=0.0), dt=0.5, spacing=5.0)
    array([[0. , 0. , 0. ],
           [0.5, 0. , 0. ],
           [1. , 0.5, 0. ],
           [1. , 1. , 0.5]])
    """
    positive(speed=speed, duration=duration)
    scene = Edge(-speed * duration / 2, -contrast, direction, ndim=2, mean=contrast / 2)
    return Stimulus((Part(scene, Drift(speed, direction)),), duration)


@checked
def moving_bar(
    *,
    width: float = 10.0,
    speed: float = 30.0,
    direction: float = 0.0,
    contrast: float = 1.0,
    duration: float = 2.0,
) -> Stimulus:
    """Return a bar that moves, endless across its direction; its middle passes the origin at ``duration / 2``.

    Parameters
    ----------
    width : float
        Of the bar [deg].
    speed : float
        [deg/s].
    direction : float
        Of motion [deg]: 0 = right, 90 = up.
    contrast : float
        Weber contrast: negative for a dark (OFF) bar.
    duration : float
        [s].

    Raises
    ------
    ValueError
        A width, speed or duration that is not positive.

    Examples
    --------
    >>> from flymotion.world.eyes import Line
    >>> moving_bar(width=5.0, speed=10.0).movie(Line(5, sigma=0.0), dt=0.5, spacing=5.0)
    array([[1., 0., 0., 0., 0.],
           [0., 1., 0., 0., 0.],
           [0., 0., 1., 0., 0.],
           [0., 0., 0., 1., 0.]])
    """
    positive(width=width, speed=speed, duration=duration)
    scene = Bar(width, -speed * duration / 2, contrast, direction, ndim=2)
    return Stimulus((Part(scene, Drift(speed, direction)),), duration)


@checked
def flashed_bar(
    *,
    width: float = 5.0,
    position: float = 0.0,
    direction: float = 0.0,
    contrast: float = 1.0,
    onset: float = 0.5,
    on_time: float = 0.5,
    duration: float = 2.0,
) -> Stimulus:
    """Return a bar that appears, stays and disappears.

    Parameters
    ----------
    width : float
        Of the bar [deg].
    position : float
        Of its middle along ``direction``, from the origin [deg].
    direction : float
        Across the bar [deg].
    contrast : float
        Weber contrast: negative for a dark (OFF) bar.
    onset : float
        When it appears [s].
    on_time : float
        How long it is there [s].
    duration : float
        [s].

    Raises
    ------
    ValueError
        A width, time on or duration that is not positive.

    Examples
    --------
    >>> from flymotion.world.eyes import Line
    >>> flashed_bar(contrast=-1.0, duration=1.5).movie(Line(3, sigma=0.0), dt=0.5, spacing=5.0) + 0.0  # OFF, for 0.5 s
    array([[ 0.,  0.,  0.],
           [ 0., -1.,  0.],
           [ 0.,  0.,  0.]])
    """
    positive(width=width, on_time=on_time, duration=duration)
    scene = Bar(width, position, contrast, direction, ndim=2)
    return Stimulus((Part(scene, gain=Window(onset, onset + on_time)),), duration)


@checked
def apparent_motion(
    *,
    delay: float = 0.1,
    separation: float = 5.0,
    width: float = 5.0,
    direction: float = 0.0,
    first: float = 1.0,
    second: float = 1.0,
    onset: float = 0.5,
    duration: float = 2.0,
) -> Stimulus:
    """Return two bars that appear one after the other, on either side of the origin, and stay.

    Bars of the same sign seem to move along ``direction``; of opposite signs, against it (reverse phi).

    Parameters
    ----------
    delay : float
        From the first bar's appearance to the second's [s].
    separation : float
        From the first bar's middle along ``direction`` to the second's [deg].
    width : float
        Of either bar [deg].
    direction : float
        [deg]: 0 = right, 90 = up.
    first, second : float
        Weber contrast of either bar; the signs make four combinations of polarities.
    onset : float
        When the first bar appears [s].
    duration : float
        [s].

    Raises
    ------
    ValueError
        A width or duration that is not positive, or a delay below 0.

    Examples
    --------
    >>> from flymotion.world.eyes import Line
    >>> steps = apparent_motion(delay=0.5, separation=10.0, onset=0.5, second=-1.0)
    >>> steps.movie(Line(3, sigma=0.0), dt=0.5, spacing=5.0) + 0.0  # bright on the left, then dark on the right
    array([[ 0.,  0.,  0.],
           [ 1.,  0.,  0.],
           [ 1.,  0., -1.],
           [ 1.,  0., -1.]])
    """
    positive(width=width, duration=duration)
    if not delay >= 0:
        raise ValueError(f"delay is {delay}; expected 0 or more seconds from the first bar to the second")
    parts = tuple(
        Part(Bar(width, place, contrast, direction, ndim=2), gain=Window(appears))
        for place, contrast, appears in ((-separation / 2, first, onset), (separation / 2, second, onset + delay))
    )
    return Stimulus(parts, duration)

"""Movies of many stimuli; of gratings that differ in phase only, at the cost of two."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import cast

import numpy as np

from flymotion.stimuli import Drift, Part, Stimulus, Turning
from flymotion.world.eyes import Eye
from flymotion.world.scenes import Drum, Grating, Scene

__all__ = ["rendered"]

BATCH = 2**20
"""Numbers that the movies shown at once may hold."""


MOST = 2**28
"""Numbers that movies of one point of a design may hold."""


def rendered(shows: Iterable[list[Stimulus]], eye: Eye, spacing: float, dt: float) -> Iterator[np.ndarray]:
    """Render what lasts equally long together, as much as a batch holds, in order; shape (n, n_frames, *eye.shape).

    Stimuli come as lists, one a point of the design, of those that differ in phase or seed only.

    Raises
    ------
    ValueError
        More than 2^28 numbers a point.
    """
    for (n_frames, n), alike in itertools.groupby(shows, key=lambda show: (show[0].n_frames(dt), len(show))):
        if n * n_frames * math.prod(eye.shape) > MOST:
            raise ValueError(
                f"{n} repeats of {n_frames:g} frames of {math.prod(eye.shape)} pixels; expected {MOST} numbers at "
                "most: fewer repeats, or a longer time between frames"
            )
        size = max(1, BATCH // max(1, n * n_frames * math.prod(eye.shape)))
        while some := list(itertools.islice(alike, size)):
            yield np.concatenate([_movies(show, eye, spacing, dt) for show in some])


def _movies(show: list[Stimulus], eye: Eye, spacing: float, dt: float) -> np.ndarray:
    r"""Render stimuli of one length, shape (n, n_frames, *eye.shape); what differs in the phase of gratings only, fast.

    A grating of phase p is :math:`\cos(p)` times that of phase 0 plus :math:`\sin(p)` times that of phase
    :math:`\pi / 2`, so two renderings do for all.
    """
    first, phases = show[0], _phases(show)
    if phases is None:
        return np.stack([stimulus.movie(eye, dt, spacing=spacing) for stimulus in show])
    movies = np.full((len(show), first.n_frames(dt), *eye.shape), first.mean, dtype=float)
    for part, angles in zip(first.parts, phases.T, strict=True):
        both = [replace(first, parts=(_at_phase(part, angle),), mean=0.0) for angle in (0.0, math.pi / 2)]
        basis = np.stack([stimulus.movie(eye, dt, spacing=spacing) for stimulus in both])
        movies += np.tensordot(np.stack([np.cos(angles), np.sin(angles)], axis=1), basis, 1)
    return movies


def _phases(show: list[Stimulus]) -> np.ndarray | None:
    """Return the phases of stimuli that differ in nothing else, shape (n, n_parts); None of what is not so simple."""
    if len(show) < 3 or not all(_is_plain(part) for stimulus in show for part in stimulus.parts):
        return None
    still = [[_at_phase(part, 0.0) for part in stimulus.parts] for stimulus in show]
    what = [(s.mean, s.toward, [(p.scene, p.path) for p in parts]) for s, parts in zip(show, still, strict=True)]
    if not what[0][-1] or any(other != what[0] for other in what):
        return None
    return np.array([[_wave(part.scene).phase for part in stimulus.parts] for stimulus in show])


def _wave(scene: Scene) -> Grating:
    """Return the grating that a scene is, or that is on a drum."""
    return cast(Grating, scene.scene if isinstance(scene, Drum) else scene)


def _is_plain(part: Part) -> bool:
    """Whether a part is a grating of mean 0, flat or on a drum, that moves steadily or stands."""
    moves = part.path is None or isinstance(part.path, (Drift, Turning))
    return moves and part.gain is None and isinstance(wave := _wave(part.scene), Grating) and wave.mean == 0


def _at_phase(part: Part, phase: float) -> Part:
    wave = replace(_wave(part.scene), phase=phase)
    return replace(part, scene=replace(part.scene, scene=wave) if isinstance(part.scene, Drum) else wave)

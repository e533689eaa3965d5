"""A fly that watches: its circuit trained, drawn, animated, and written down.

A trained circuit is shown a scene (:func:`turning`) or a video, and what it answers (:func:`watch`, :class:`Watched`)
becomes labelled arrays, an animation, and figures.
"""

from __future__ import annotations

from flymotion.flying.film import Film, write_film
from flymotion.flying.labels import labelled, write_labelled
from flymotion.flying.scenery import SHOWN, turning
from flymotion.flying.unrolled import Unrolled
from flymotion.flying.watched import Watched, watch

__all__ = [
    "SHOWN",
    "Film",
    "Unrolled",
    "Watched",
    "labelled",
    "turning",
    "watch",
    "write_film",
    "write_labelled",
]

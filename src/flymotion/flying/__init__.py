"""A fly that watches: its circuit trained, drawn, animated, and written down.

A fly grows up by turning in panoramas of photographs (:func:`seen_in_flight`), is shown a scene or a video, and what
its circuit answers (:func:`watch`, :class:`Watched`) becomes labelled arrays, an animation, and figures.
"""

from __future__ import annotations

from flymotion.flying.film import write_film
from flymotion.flying.labelled import labelled, write_labelled
from flymotion.flying.scenery import PHOTOGRAPHS, SHOWN, seen_in_flight, turning
from flymotion.flying.unrolled import Unrolled
from flymotion.flying.watched import Watched, watch

__all__ = [
    "PHOTOGRAPHS",
    "SHOWN",
    "Unrolled",
    "Watched",
    "labelled",
    "seen_in_flight",
    "turning",
    "watch",
    "write_film",
    "write_labelled",
]

"""Video in, motion out: detection over a movie, and where its results go.

:func:`detect` reads a movie of any source and yields a :class:`Detection` a frame: the field of local detectors, and
the motion of the frame as a whole. What takes them is a context manager with a method ``write``: :class:`MotionTable`
(CSV), :class:`ZarrFields`, :class:`NpzFields`, and :class:`flymotion.detecting.overlay.OverlayVideo`. A file is in its
place when its ``with`` statement ends well. After Ctrl-C what there is by then is in the folder ``unfinished`` beside,
but of a live movie, which does not end otherwise, in its place; after an error there is none.
"""

from flymotion.detecting.detection import Detecting, Detection, detect
from flymotion.detecting.fields import SINKS, NpzFields, ZarrFields
from flymotion.detecting.tables import MotionTable, Trace, read_trace, write_directions

__all__ = [
    "SINKS",
    "Detecting",
    "Detection",
    "MotionTable",
    "NpzFields",
    "Trace",
    "ZarrFields",
    "detect",
    "read_trace",
    "write_directions",
]

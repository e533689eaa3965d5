"""Frames in, labelled motion out: everything between a movie and detectors with names and units.

``estimator`` is the learner, ``starting`` what it starts from and ``learned_state`` all that it has learned;
``plain_vision`` and ``video_vision`` turn frames into the pairs of patches that its network sees. Of a video ``corpus``
chooses the patches and ``video_noise`` the whitening. ``intake`` takes any movie apart, ``seen`` and ``probing`` are
about what outputs mean, ``verdict`` and ``changes`` about whether learning has succeeded, and why not, and ``sources``
learns from what a user has.
"""

from flymotion.learner.changes import Changes
from flymotion.learner.estimator import MotionLearner
from flymotion.learner.learned_state import TRANSLATIONS
from flymotion.learner.seen import Watched
from flymotion.learner.sources import BUNDLED, Described, describe, learn, load_photographs
from flymotion.learner.verdict import Verdict

__all__ = [
    "BUNDLED",
    "TRANSLATIONS",
    "Changes",
    "Described",
    "MotionLearner",
    "Verdict",
    "Watched",
    "describe",
    "learn",
    "load_photographs",
]

"""Frames in, labelled motion out: everything between a movie and detectors with names and units.

``estimator`` is the learner, ``readout`` and ``probing`` what its outputs mean, ``tiling`` how frames become batches
and patches, ``saving`` the model file. ``sources`` learns from what a user has: photographs, or videos (``watching``),
of which ``corpus`` chooses the patches and ``video_noise`` the whitening.
"""

from flymotion.learner.estimator import MotionLearner

__all__ = ["MotionLearner"]

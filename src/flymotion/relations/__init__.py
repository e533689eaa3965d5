"""Learners of pairs of frames that chi is not enough for: what others proposed, as their authors would want it."""

from flymotion.relations.operator_reconstruction import OperatorReconstruction
from flymotion.relations.pair_learner import PairLearner
from flymotion.relations.slowness import SlowFeatures

__all__ = ["OperatorReconstruction", "PairLearner", "SlowFeatures"]

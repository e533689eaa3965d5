"""Learners of pairs of frames that chi is not enough for: what others proposed, as their authors would want it."""

from flymotion.relations.exponential_operators import ExponentialOperators
from flymotion.relations.operator_reconstruction import OperatorReconstruction
from flymotion.relations.pair_learner import PairLearner

__all__ = ["ExponentialOperators", "OperatorReconstruction", "PairLearner"]

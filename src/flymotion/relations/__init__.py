"""Learners of pairs of frames that chi is not enough for: what others proposed, as their authors would want it."""

from flymotion.relations.irreducible_rotations import IrreducibleRotations
from flymotion.relations.pair_learner import PairLearner

__all__ = ["IrreducibleRotations", "PairLearner"]

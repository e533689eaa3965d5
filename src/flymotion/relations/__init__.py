"""Learners of pairs of frames that chi is not enough for: what others proposed, as their authors would want it."""

from flymotion.relations.additive import AdditiveUnits
from flymotion.relations.diagonal_sums import DiagonalSums
from flymotion.relations.gated_boltzmann import GatedBoltzmann
from flymotion.relations.operator_reconstruction import OperatorReconstruction
from flymotion.relations.pair_learner import PairLearner
from flymotion.relations.slowness import SlowFeatures

__all__ = ["AdditiveUnits", "DiagonalSums", "GatedBoltzmann", "OperatorReconstruction", "PairLearner", "SlowFeatures"]

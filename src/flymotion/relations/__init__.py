"""Learners of pairs of frames that chi is not enough for: what others proposed, as their authors would want it."""

from flymotion.relations.additive import AdditiveUnits
from flymotion.relations.diagonal_sums import DiagonalSums
from flymotion.relations.exponential_operators import ExponentialOperators
from flymotion.relations.gated_boltzmann import GatedBoltzmann
from flymotion.relations.irreducible_rotations import IrreducibleRotations
from flymotion.relations.operator_reconstruction import OperatorReconstruction
from flymotion.relations.pair_learner import PairLearner
from flymotion.relations.slowness import SlowFeatures

__all__ = [
    "AdditiveUnits",
    "DiagonalSums",
    "ExponentialOperators",
    "GatedBoltzmann",
    "IrreducibleRotations",
    "OperatorReconstruction",
    "PairLearner",
    "SlowFeatures",
]

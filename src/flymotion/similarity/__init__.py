"""Similarity matching (Sections 1 and 2): product features, the two networks, and the optima that they seek.

``features`` holds chi as factors, ``vectors`` plain samples. ``state`` is what a network has learned, advanced by the
compiled ``recursion`` (Eqs. 15-18), of larger chi a ``few`` samples at a time, with outputs from ``inner_problem``, or
``side_by_side`` for more units;
``online`` the estimator around it, ``networks`` the two of the paper,
``initialisation`` their warm start; ``literal`` the same network of units and synapses, as printed, whose compiled life
is in ``rates``; ``optima`` the offline solutions and max-min forms; ``rivals`` what the paper holds
them against; ``samples`` the checks that all share, ``threads`` one thread for BLAS.
"""

from flymotion.similarity.features import FEATURES, OuterProducts, outer_products
from flymotion.similarity.literal import RateNetwork
from flymotion.similarity.networks import NonnegativeSimilarityMatching, SimilarityMatching

__all__ = [
    "FEATURES",
    "NonnegativeSimilarityMatching",
    "OuterProducts",
    "RateNetwork",
    "SimilarityMatching",
    "outer_products",
]

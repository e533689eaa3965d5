"""Similarity matching (Sections 1 and 2): product features, the two networks, and the optima that they seek.

``features`` holds chi as factors; ``networks`` the estimators, on the compiled ``recursion``; ``initialisation`` their
warm start; ``optima`` the offline solutions and max-min forms; ``rivals`` what the paper holds them against.
"""

from flymotion.similarity.features import FEATURES, OuterProducts, outer_products
from flymotion.similarity.networks import NonnegativeSimilarityMatching, SimilarityMatching

__all__ = ["FEATURES", "NonnegativeSimilarityMatching", "OuterProducts", "SimilarityMatching", "outer_products"]

"""Similarity matching (Sections 1 and 2): product features, the two networks, and the optima that they seek.

``features`` holds chi as factors, ``vectors`` plain samples. ``state`` is what a network has learned, advanced by the
compiled ``recursion`` (Eqs. 15-18), of larger chi a ``few`` samples at a time, with outputs from ``inner_problem``, or
``side_by_side`` for more units;
``online`` the estimator around it, ``networks`` the two of the paper,
``initialisation`` their warm start; ``literal`` the same network of units and synapses, as printed, whose compiled life
is in ``rates``; ``optima`` the offline solutions and max-min forms; ``rivals`` what the paper holds
them against; ``samples`` the checks that all share, ``threads`` one thread for BLAS.

The names below are imported when first used: whatever is compiled imports ``compilation`` from here, and what sees
motion in a video needs none of what learns.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_HOME_OF = {
    "FEATURES": "features",
    "NonnegativeSimilarityMatching": "networks",
    "OuterProducts": "features",
    "RateNetwork": "literal",
    "SimilarityMatching": "networks",
    "outer_products": "features",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    return value

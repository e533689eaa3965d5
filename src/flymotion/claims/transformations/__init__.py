"""Transformations of the plane: rotations, translations and affine motions, learned (C10, C12, C13, C29, C32).

``lessons``: what is learned, and how it is scored, in any world of one motion a pair. ``planes``: the worlds, and who
learns in them. ``statements``: the claims.
"""

from flymotion.claims.transformations.planes import PLANES, Config, Result, jobs, run
from flymotion.claims.transformations.statements import check

__all__ = ["PLANES", "Config", "Result", "check", "jobs", "run"]

r"""Generators: the learned operators as things one can score, read a direction from, and move images with.

A generator ``A`` is the linear operator of an infinitesimal motion, ``dx = theta A x`` (Eq. 8): row i holds the weights
onto the change at pixel i. For content that moves to the right by ``theta`` pixels it is *minus* the spatial
derivative, so ``A[i, i - 1] > 0 > A[i, i + 1]`` (Suppl. C, Eq. 31, prints the operator of self-motion: its negative).

What learners find are *filters*, proportional to the operator but without a scale: a unit's weights are correlations of
its output with change and intensity, and the output has arbitrary units. Learned on frames whitened by Z, a filter F
stands for two matrices on raw frames: the detector ``Z F Z`` (:meth:`Generators.in_pixels`), whose product with
``dx x'`` is the unit's input, and the operator ``c Z^-1 F Z`` (:class:`Operators`), which moves frames by one unit of
its parameter. The scale c is that which makes estimates right on pairs of known motion (:meth:`Generators.fitted`).
"""

from flymotion.generators.analytic import cosine, derivative_operator
from flymotion.generators.filters import Generators, Match, by_channel
from flymotion.generators.operators import Operators

__all__ = ["Generators", "Match", "Operators", "by_channel", "cosine", "derivative_operator"]

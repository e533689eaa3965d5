r"""Three-pixel, Hassenstein-Reichardt and shared-line detectors: equal in sum, unlike one by one (Suppl. E; C16, C20).

Supplement E, corrected, with the sign of content: f is the delayed signal, g the fast one, centres run from a to b,

.. math:: \sum_{i=a}^{b} (g_i - f_i)(g_{i-1} - g_{i+1}) = \sum_{i=a}^{b-1} (f_i g_{i+1} - g_i f_{i+1})
   + (g_a - f_a)\, g_{a-1} - (g_b - f_b)\, g_{b+1}

for any f. In a scene that is alike everywhere the two boundary products have on average the output of one detector, so
their share falls as one over the number of detectors. On a ring they cancel. A learned detector :math:`\Delta x' T f`
whose T is antisymmetric and the same everywhere (Toeplitz), with weights :math:`c_k` onto the pixel k to the left, has
none: :math:`\Delta x' T f = \sum_k c_k \sum_i (f_i g_{i+k} - g_i f_{i+k})`, a weighted sum of HRDs of every base
length k, on a ring and on one patch.

A single detector is another matter (Section 3.2). To a drifting grating the HRD's output is flat, and the other two
oscillate at twice the grating's frequency. With F the transfer function of the filter that makes f, their phases differ
by :math:`\arg(1 - F) - \arg F`, and the correlation is the cosine of that: 0 for a low-pass at any frequency, and
:math:`-\sin(\omega\tau/2)` for a delay: -0.71 at the frequency at which it responds best, :math:`1/4\tau`, and -1 at
twice that. So for a delay C20 holds on gratings up to 1.43 times the best frequency, and no further.
"""

from flymotion.claims.equivalence.movies import FILTERS, KINDS, Config
from flymotion.claims.equivalence.singles import Singles
from flymotion.claims.equivalence.statements import Result, check, jobs, run
from flymotion.claims.equivalence.sums import Fields, Learned, boundary, boundary_shares, toeplitz_antisymmetric

__all__ = [
    "FILTERS",
    "KINDS",
    "Config",
    "Fields",
    "Learned",
    "Result",
    "Singles",
    "boundary",
    "boundary_shares",
    "check",
    "jobs",
    "run",
    "toeplitz_antisymmetric",
]

r"""The literal network: rate units with their own synapses, as the paper prints them, one pair at a time.

It is algebraically the same as :class:`~flymotion.similarity.networks.SimilarityMatching` and
:class:`~flymotion.similarity.networks.NonnegativeSimilarityMatching`, which keep two sums and solve for the outputs.
Here nothing is kept but synapses, and nothing is solved: outputs are what the units' dynamics settle to, and each
synapse changes by what is at it.

===========================================================================================  =======================
``drive_a = sum_i u_i sum_j W_aij v_j``: one neuron a row i, gated by u_i                      Eq. 19
``tau dtheta_a/dt = -theta_a + drive_a - sum_c M_ac theta_c``, rectified for NSM               Eq. 15 at rest
``W_aij += theta_a (u_i v_j - theta_a W_aij) / That_a``                                        Eq. 16
``M_ac += theta_a (theta_c - theta_a M_ac) / That_a``, c other than a                          Eq. 17
``That_a += theta_a^2``                                                                        Eq. 18, done first
``tau dtheta_a/dt = (drive_a - sum_c M_ac theta_c) / M_aa``, rectified for NSM                 Eq. 5, see below
``W_aij += eta (theta_a u_i v_j - W_aij)``, ``M_ac += eta (theta_a theta_c - M_ac)``           Eq. 6
===========================================================================================  =======================

A pair is the change ``u = dx`` and the intensity ``v = x``; a plain vector x is the pair ``(1, x)``, and a single T4
sees that of one pixel's change and all intensities.

**Why it settles.** Let ``R_aa = That_a`` and ``R_ac = That_a M_ac``, or ``R = M`` where a rate is given. By Eqs. 17 and
18, or 6, it is the sum of ``theta theta'`` and what it was at the start: symmetric, without negative eigenvalues. With
``b_a = R_aa drive_a``, or ``b = drive``, the dynamics descend a convex function whose minimum is Eq. 15,

.. math:: E(\theta) = \tfrac12 \theta' R \theta - b' \theta, \qquad
          \frac{dE}{dt} \le -\sum_a R_{aa} \dot\theta_a^2,

with or without rectification. Since a matrix of K correlations has no eigenvalue above K, steps of a K-th of a time
constant descend it too, whatever was learned. Whole steps, the iteration of Eq. 15 itself, need not: no M that is
learned is [[0, 2], [2, 0]], as ``M_ac M_ca <= 1``, but from K = 3 on some diverge. Eq. 5 is integrated with the time
constant ``1 / M_aa`` of each unit's own leak, which changes when it arrives, not where.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from flymotion.frames import unmasked
from flymotion.photoreceptors.stage import MOST
from flymotion.similarity.samples import check_counts

__all__ = ["RateNetwork", "Settled"]

SYNAPSES = ("W", "M", "That")


class Settled(NamedTuple):
    """Outputs after the dynamics, shape (K,) or (n_samples, K), and the steps taken, each of ``tau / K``."""

    outputs: np.ndarray
    steps: np.ndarray


class RateNetwork:
    """Units of similarity matching with synapses of their own, Eqs. 5-6 and 15-19.

    Parameters
    ----------
    W : array-like, shape (K, n_u, n_v)
        Feedforward synapses to start with.
    strength : float
        That to start with (Eq. 18); with a ``rate``, the diagonal of M. Lateral synapses start at 0.
    rate : float, optional
        The constant rate eta of Eq. 6; by default synapses average (Eqs. 16-18).
    rectified : bool
        Whether outputs are nonnegative (NSM), or not (SM).
    tolerance : float
        Speed of the outputs at which they count as settled, relative to the largest drive per time constant.
    max_steps : int
        Most steps; a sample that takes all of them is learned from as it is, with a warning.

    Attributes
    ----------
    W : ndarray, shape (K, n_u, n_v)
        Feedforward synapses, from pixel j onto the neuron of row i of unit a.
    M : ndarray, shape (K, K)
        Lateral synapses, from unit c onto unit a, which inhibit; without a rate their diagonal is 0.
    That : ndarray, shape (K,)
        Each unit's sum of its squared outputs (Eq. 18); with a rate it stays as it was.

    Raises
    ------
    ValueError
        Synapses of another shape or not finite, a strength that is negative, or 0 with a rate, a rate or tolerance
        outside (0, 1), or no steps.

    Warns
    -----
    ConvergenceWarning
        From ``present``, ``learn`` and ``respond``: samples whose outputs did not settle. Those that grow without bound
        are answered with NaN and not learned from.

    Notes
    -----
    The three may be set, or changed in place, between pairs, as where inhibition is to be strong first. For the
    dynamics to settle ``That_a M_ac``, or M with a rate, has to stay symmetric, and with the leak free of negative
    eigenvalues.

    Examples
    --------
    >>> network = RateNetwork([[[0.5]], [[-0.5]]], strength=1.0)
    >>> network.present([1.0], [2.0]).outputs
    array([1., 0.])
    >>> network.W.ravel()
    array([ 1.25, -0.5 ])
    """

    def __init__(
        self,
        W: Any,
        *,
        strength: float = 1.0,
        rate: float | None = None,
        rectified: bool = True,
        tolerance: float = 1e-13,
        max_steps: int = 100_000,
    ) -> None:
        synapses = np.array(unmasked(W, "W", float), order="C")
        if synapses.ndim != 3 or not synapses.size or not np.isfinite(synapses).all():
            raise ValueError(f"W has shape {synapses.shape}; expected finite numbers of shape (K, n_u, n_v)")
        if not (0 <= strength < np.inf) or (rate is not None and strength == 0):
            raise ValueError(f"strength is {strength!r}; expected a positive number, or 0 without a rate")
        self.W = synapses
        self.M = np.zeros((len(synapses), len(synapses))) if rate is None else np.eye(len(synapses)) * strength
        self.That = np.full(len(synapses), float(strength))
        self.rate, self.rectified = rate, rectified
        self.tolerance, self.max_steps = tolerance, max_steps
        self._check_parameters()

    def __repr__(self) -> str:
        shape = " x ".join(map(str, np.shape(self.W)))
        return f"RateNetwork({shape} synapses, rate={self.rate!r}, rectified={self.rectified!r})"

    def present(self, u: Any, v: Any) -> Settled:
        """Answer one pair, shapes (n_u,) and (n_v,), and learn from it."""
        outputs, steps = self._live(unmasked(u, "u", float)[None], unmasked(v, "v", float)[None], learns=True)
        return Settled(outputs[0], steps[0])

    def learn(self, u: Any, v: Any) -> Settled:
        """Answer pairs one after the other, shapes (n_samples, n_u) and (n_samples, n_v), and learn from each."""
        return self._live(u, v, learns=True)

    def respond(self, u: Any, v: Any) -> Settled:
        """Answer pairs, shapes (n_samples, n_u) and (n_samples, n_v), the synapses held still."""
        return self._live(u, v, learns=False)

    def _live(self, u: Any, v: Any, *, learns: bool) -> Settled:
        from flymotion.similarity.rates import Rules, live

        self._check_parameters()
        self._check_synapses()
        u, v = self._check_pairs(u, v)
        rules = Rules(float(self.rate or 0.0), bool(self.rectified), learns, float(self.tolerance), int(self.max_steps))
        outputs, steps = np.zeros((len(u), len(self.W))), np.zeros(len(u), dtype=np.int64)
        live(u, v, self.W, self.M, self.That, rules, outputs, steps, *np.zeros((2, len(self.W))))
        if unsettled := int((steps == self.max_steps).sum()):
            grown = int(np.isnan(outputs).any(axis=1).sum())
            lost = f", and {grown} grew without bound and were not learned from" if grown else ""
            warnings.warn(
                f"the outputs of {unsettled} of {len(u)} samples did not settle in {self.max_steps} steps{lost}; raise "
                "max_steps, or see to it that That_a M_ac (M, with a rate) is symmetric without negative eigenvalues",
                ConvergenceWarning,
                stacklevel=3,
            )
        return Settled(outputs, steps)

    def _check_parameters(self) -> None:
        if self.rate is not None and not 0 < self.rate < 1:
            raise ValueError(f"rate is {self.rate!r}; expected one between 0 and 1")
        if not 0 < self.tolerance < 1:
            raise ValueError(f"tolerance is {self.tolerance!r}; expected a share of the drive, between 0 and 1")
        check_counts(max_steps=self.max_steps)

    def _check_synapses(self) -> None:
        """Check what may have been set since: compiled code looks at no bounds."""
        given = {name: np.require(unmasked(getattr(self, name), name, float), None, ["C", "W"]) for name in SYNAPSES}
        K, *pixels = np.shape(given["W"]) if given["W"].ndim == 3 else ("K", "n_u", "n_v")
        for (name, array), shape in zip(given.items(), ((K, *pixels), (K, K), (K,)), strict=True):
            if array.shape != shape or not np.isfinite(array).all():
                expected = str(shape).replace("'", "")
                raise ValueError(f"{name} has shape {array.shape}; expected finite numbers of shape {expected}")
        self.W, self.M, self.That = given.values()

    def _check_pairs(self, u: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
        u, v = (np.ascontiguousarray(unmasked(x, name, float)) for x, name in ((u, "u"), (v, "v")))
        shape = list(self.W.shape[1:])
        if u.ndim != 2 or v.ndim != 2 or len(u) != len(v) or [u.shape[1], v.shape[1]] != shape:
            expected = f"(n_samples, {shape[0]}) and (n_samples, {shape[1]})"
            raise ValueError(f"u and v have shapes {u.shape} and {v.shape}; expected {expected}, as W has")
        if not (np.isfinite(u).all() and np.isfinite(v).all()):
            raise ValueError("u or v has NaN or infinity in it; expected finite numbers")
        largest = [np.abs(x).max(initial=0.0) for x in (u, v)]
        if not max(*largest, largest[0] * largest[1]) <= MOST:
            raise ValueError(
                f"u and v have numbers up to {largest[0]:.0e} and {largest[1]:.0e}; expected them and their "
                f"product to be at most {MOST:.0e}: scale them"
            )
        return u, v

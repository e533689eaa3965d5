r"""Neurons of many compartments that multiply and learn (Section 3.1, Fig. 3).

What a neuron is to compute is :math:`\theta = \sum_{ij} W_{ij}\, \Delta x_i\, x_j`. A shunt multiplies by something
that is positive, and conductances are positive, so each factor comes in two parts, and so does what comes out:

===========================  ===========================================================================================
``dx_i = dx_i+ - dx_i-``     a pair of branches a pixel; the shunt of one falls with the change, of the other with its
                             negative
``x_j = [x_j]+ - [-x_j]+``   ON and OFF synapses on each branch
``W_ij = W_ij+ - W_ij-``     excitatory and inhibitory synapses on each branch
===========================  ===========================================================================================

**How many branches.** Of the eight products of one part each four are positive, and excite, and four are negative, and
inhibit. Current of both signs can enter one branch, as excitation and inhibition, and ON and OFF parts are never there
at once, so that one pair of branches a pixel is enough, and less is not: what a branch lets through is positive,
:math:`A(y) = A_0 + A_1 y + A_2 y^2 + \dots`, and only the difference of a pair, with opposite currents, is odd,

.. math:: A(y)\, I + A(-y)\,(-I) = 2 I\, (A_1 y + A_3 y^3 + \dots), \qquad I \propto (W x)_i.

Were each branch to have synapses of one sign alone, it would take two pairs. Without inhibition on the branches the
soma keeps what should cancel, :math:`A_0 \sum |W_{ij} x_j|`.

**When it is a product.** With a shunt of :math:`S\,(1 - y)`, :math:`k = 1 + 2c - c^2 / (1 + c)` and small synapses,

.. math:: A(y) - A(-y) \propto \frac{1}{k + S (1 - y)} - \frac{1}{k + S (1 + y)}
          = \frac{2 S y}{(k + S)^2 - S^2 y^2}
          = \frac{2 \epsilon y}{k + S}\,(1 + \epsilon^2 y^2 + \dots), \qquad \epsilon = \frac{S}{k + S}:

a product up to a relative error of :math:`\epsilon^2 y^2`, that is for *small* changes, whatever the shunt, and for any
change where the shunt is weak and vetoes nothing. With a strong shunt and a change that closes it, y = 1, a branch lets
:math:`1 + S / k` times as much through as at rest: a switch. And synapses must be small: where inhibition's reversal
potential is :math:`\rho` times nearer to rest than excitation's, inhibition takes :math:`\rho` times the conductance,
so that the two branches are loaded unequally, and beside the product stands a square that knows no direction,

.. math:: 2 A_0 I \Big(\epsilon y + \frac{d\,(\rho - 1)}{2}\,(e - h)\Big), \qquad
          d = \frac{1 + S + 2c}{(1 + c)(k + S)}, \qquad e - h \propto (W x)_i.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from flymotion.circuits.membranes import Membrane, Synapses
from flymotion.frames import unmasked
from flymotion.photoreceptors.stage import MOST
from flymotion.similarity.samples import check_counts

__all__ = ["CompartmentalNeurons", "Responses"]

SIGNS = np.array([[1.0, -1.0], [-1.0, 1.0]])
"""Of the product, at branch p of a pair and part q of an intensity."""

COMPETITION = ("branches", "parts")

KINDS = ("both", "kept", "excitatory")


class Responses(NamedTuple):
    """Of samples, shape (n_samples, K), or of one, (K,)."""

    rates: np.ndarray
    """Spike rates, in units of the product's: of ``u' W v``."""
    voltages: np.ndarray
    """Of the soma before competition [mV above rest]."""


class CompartmentalNeurons:
    r"""Neurons whose branches multiply by shunting, and that learn from what travels back into them (Section 3.1).

    Parameters
    ----------
    W : array-like, shape (K, n, n)
        Weights to start with, from the change at pixel i onto the intensity at pixel j, of any sign. Each is four
        synapses, :attr:`synapses`.
    membrane : Membrane, optional
        The circuit of a neuron.
    shunt : float
        Conductance of a shunting synapse where nothing changes, relative to a compartment's leak.
    size : float
        Conductance of a distal synapse of weight 1 at an intensity of 1, relative to the same. An inhibitory one has as
        much more as its reversal potential is nearer to rest.
    rectified : bool
        Whether a shunt falls with one sign of the change alone, and is full else; by default it also rises with the
        other.
    kinds : {"both", "kept", "excitatory"}
        Which synapses there are at a site: an excitatory and an inhibitory one, of which one is open; the one that is
        open at the start; or an excitatory one. None ever changes its sign (Dale's law); where there is one alone it
        closes.
    competition : sequence of {"branches", "parts"}
        Which synapses of one change and one intensity compete, so that what one gains the other loses: those on the two
        branches of a pair, and ON and OFF parts.
    strength : float
        That to start with (Eq. 18), of neurons and of interneurons.
    relays : array-like, shape (K, K), optional
        Synapses to start with from neuron a onto interneuron c, not below 0; by default interneuron c relays neuron c.
    tolerance : float
        Speed of the rates at which they count as settled, relative to the largest drive per time constant.
    max_steps : int
        Most steps of the rates; a sample that takes all of them is learned from as it is, with a warning.

    Attributes
    ----------
    synapses : ndarray, shape (K, n, 2, n, 2)
        Of neuron, pixel that changes, branch of its pair, pixel of the intensity, its ON or OFF part. Positive ones are
        excitatory, negative ones inhibitory.
    That : ndarray, shape (K,)
        Each neuron's sum of squared rates.
    Q, P, L : ndarray, shape (K, K)
        Synapses from interneuron c onto neuron a, which inhibit; from neuron a onto interneuron c, at ``P[c, a]``; and
        between interneurons. No interneuron inhibits itself, nor the neuron of its number.
    Zhat : ndarray, shape (K,)
        Each interneuron's sum of squared rates.

    Raises
    ------
    ValueError
        Weights or relays of another shape or not finite, a shunt, size or strength that is not positive, a competition
        that is not known, a tolerance outside (0, 1), or no steps.

    Warns
    -----
    ConvergenceWarning
        Of samples whose rates did not settle.

    Notes
    -----
    Changes u are in units of that which closes a shunt, and intensities v in any: with their size goes how much the
    synapses load a branch.

    *Learning.* A spike that travels back arrives at the synapses of a branch as :math:`\theta A_b`
    (:func:`~flymotion.circuits.membranes.let_through`), and each changes by that and by what it carries itself, with
    the normalisation of Eqs. 16 and 18. At four sites arrives :math:`A(\pm y_i) [\pm x_j]_+`, of which only a part is
    the product; the rest, :math:`A_0 |x_j|` and the like, is larger, and alike at sites that compete.

    *Interneurons* (Pehlevan & Chklovskii 2015) take the place of lateral synapses, by

    .. math:: \tfrac12 \|\Theta' \Theta\|^2 = \max_Z \operatorname{tr} \Theta' \Theta Z' Z - \tfrac12 \|Z' Z\|^2,

    whose maximum is where their rates are as alike as the neurons' are. Descent in the rates and ascent in theirs makes

    .. math:: Q_{ac} = \frac{\sum \theta_a z_c}{\sum \theta_a^2}, \quad P_{ca} = \frac{\sum z_c \theta_a}{\sum z_c^2},
              \quad L_{ce} = \frac{\sum z_c z_e}{\sum z_c^2},

    all of them local. That a neuron's own rate leaks, Eq. 15, is in place of its own interneuron's inhibition.

    For weak shunts and small synapses a neuron is a unit of
    :class:`~flymotion.similarity.literal.RateNetwork`, exactly.

    References
    ----------
    C. Pehlevan & D. B. Chklovskii, "A normative theory of adaptive dimensionality reduction in neural networks",
    Advances in Neural Information Processing Systems 28 (2015).
    V. Torre & T. Poggio, "A synaptic mechanism possibly underlying directional selectivity to motion", Proceedings of
    the Royal Society B 202 (1978).

    Examples
    --------
    >>> neurons = CompartmentalNeurons([[[0.5]], [[-0.5]]], size=1e-3)
    >>> neurons.respond([[0.1]], [[1.0]]).rates.round(3)
    array([[0.05, 0.  ]])
    """

    def __init__(
        self,
        W: Any,
        *,
        membrane: Membrane | None = None,
        shunt: float = 10.0,
        size: float = 0.25,
        rectified: bool = False,
        kinds: str = "both",
        competition: Sequence[str] = COMPETITION,
        strength: float = 1.0,
        relays: Any = None,
        tolerance: float = 1e-6,
        max_steps: int = 10_000,
    ) -> None:
        weights = unmasked(W, "W", float)
        if weights.ndim != 3 or not weights.size or weights.shape[1] != weights.shape[2] or not _finite(weights):
            raise ValueError(f"W has shape {weights.shape}; expected finite numbers of shape (K, n, n)")
        K = len(weights)
        between = np.eye(K) if relays is None else np.array(unmasked(relays, "relays", float))
        if between.shape != (K, K) or not _finite(between) or (between < 0).any():
            raise ValueError(f"relays have shape {between.shape}; expected numbers not below 0 of shape {(K, K)}")
        for name, value in (("shunt", shunt), ("size", size), ("strength", strength)):
            if not 0 < value <= MOST:
                raise ValueError(f"{name} is {value!r}; expected a positive number")
        if not 0 < tolerance < 1:
            raise ValueError(f"tolerance is {tolerance!r}; expected a share of the drive, between 0 and 1")
        if kinds not in KINDS:
            raise ValueError(f"kinds is {kinds!r}; expected one of {KINDS}")
        if unknown := set(competition) - set(COMPETITION):
            raise ValueError(f"competition has {sorted(unknown)[0]!r} in it; expected some of {COMPETITION}")
        check_counts(max_steps=max_steps)
        self.membrane = Membrane() if membrane is None else membrane
        self.shunt, self.size, self.rectified, self.kinds = shunt, size, rectified, kinds
        self.competition, self.tolerance, self.max_steps = tuple(competition), tolerance, max_steps
        signed = weights[:, :, None, :, None] * SIGNS[:, None, :]
        self.synapses = np.maximum(signed, 0.0) if kinds == "excitatory" else signed
        self._signs = {"both": 0 * signed, "kept": np.sign(signed), "excitatory": np.ones_like(signed)}[kinds]
        self.That, self.Zhat = np.full(K, float(strength)), np.full(K, float(strength))
        self.Q, self.P, self.L = np.zeros((K, K)), between, np.zeros((K, K))

    def __repr__(self) -> str:
        K, n = self.synapses.shape[:2]
        return f"CompartmentalNeurons({K} neurons of {2 * n} branches, shunt={self.shunt!r}, size={self.size!r})"

    @property
    def W(self) -> np.ndarray:
        """The weights of products, which the four synapses of each make together, shape (K, n, n)."""
        return np.einsum("aipjq,pq->aij", self.synapses, SIGNS) / SIGNS.size

    @property
    def unit(self) -> float:
        """Voltage of the soma that is a rate of 1, that of ``u' W v`` for small u and v [mV]."""
        c, proximal = self.membrane.axial, self._proximal
        load = self.membrane.soma + 2 * self.synapses.shape[1] * (c - c**2 / proximal)
        return self.size * self.membrane.excitation * self._slope / load

    @property
    def _proximal(self) -> float:
        """What stands before the proximal voltage where nothing changes: k + S."""
        c = self.membrane.axial
        return 1 + self.shunt + 2 * c - c**2 / (1 + c)

    @property
    def _slope(self) -> float:
        """Of what a pair of branches lets through, one less the other, in the change."""
        c = self.membrane.axial
        return c**2 * self.shunt / ((1 + c) * self._proximal**2) * (1 if self.rectified else 2)

    def conductances(self, u: Any, v: Any) -> Synapses:
        """Return the conductances of all branches, shape (n_samples, K, 2 n); the two of a pair follow one another."""
        u, v = self._check_pairs(u, v)
        parts = np.stack([np.maximum(v, 0), np.maximum(-v, 0)], axis=-1)
        excited, inhibited = (
            np.einsum("aipjq,tjq->taip", np.maximum(sign * self.synapses, 0), parts) * self.size for sign in (1, -1)
        )
        changes = np.stack([u, -u], axis=-1)
        shunted = self.shunt * np.maximum(1 - (np.maximum(changes, 0) if self.rectified else changes), 0)
        shape = (len(u), len(self.synapses), -1)
        ratio = -self.membrane.excitation / self.membrane.inhibition
        shunted = np.broadcast_to(shunted[:, None], excited.shape)
        return Synapses(excited.reshape(shape), ratio * inhibited.reshape(shape), shunted.reshape(shape))

    def present(self, u: Any, v: Any) -> Responses:
        """Answer one pair, a change and an intensity, shapes (n,), and learn from it."""
        rates, voltages = self._live(unmasked(u, "u", float)[None], unmasked(v, "v", float)[None], learns=True)
        return Responses(rates[0], voltages[0])

    def learn(self, u: Any, v: Any) -> Responses:
        """Answer pairs one after the other, shapes (n_samples, n), and learn from each."""
        return self._live(u, v, learns=True)

    def respond(self, u: Any, v: Any) -> Responses:
        """Answer pairs, shapes (n_samples, n), the synapses held still."""
        return self._live(u, v, learns=False)

    def _live(self, u: Any, v: Any, *, learns: bool) -> Responses:
        from flymotion.circuits.branch_rules import live

        u, v = self._check_pairs(u, v)
        K, n = self.synapses.shape[:2]
        rates, voltages, steps = np.zeros((len(u), K)), np.zeros((len(u), K)), np.zeros(len(u), dtype=np.int64)
        synapses = (self.synapses, self._signs, self.That, self.Q, self.P, self.L, self.Zhat)
        rooms = (np.zeros((K, n, 2)), *np.zeros((2, K)), np.zeros((2, K)), np.zeros((2, 2)))
        live(u, v, *synapses, self._branches(learns), rates, voltages, steps, *rooms)
        if unsettled := int((steps == self.max_steps).sum()):
            told = f"the rates of {unsettled} of {len(u)} samples did not settle in {self.max_steps} steps"
            warnings.warn(f"{told}; raise max_steps", ConvergenceWarning, stacklevel=3)
        return Responses(rates, voltages)

    def _branches(self, learns: bool) -> Any:
        """Return what is the same for all branches."""
        from flymotion.circuits.branch_rules import Branches

        m = self.membrane
        numbers = (m.axial, m.soma, m.excitation, m.inhibition, self.shunt, self.size, self.unit, self._slope)
        switches = (self.rectified, "branches" in self.competition, "parts" in self.competition, learns)
        return Branches._make([*map(float, numbers), *map(bool, switches), float(self.tolerance), int(self.max_steps)])

    def _check_pairs(self, u: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
        u, v = (np.ascontiguousarray(unmasked(x, name, float)) for x, name in ((u, "u"), (v, "v")))
        n = self.synapses.shape[1]
        if u.ndim != 2 or u.shape != v.shape or u.shape[1] != n:
            raise ValueError(f"u and v have shapes {u.shape} and {v.shape}; expected (n_samples, {n}) twice")
        if not (_finite(u) and _finite(v)):
            raise ValueError("u or v has NaN or infinity in it; expected finite numbers")
        if max(np.abs(x).max(initial=0.0) for x in (u, v)) > MOST:
            raise ValueError(f"u or v has numbers beyond {MOST:.0e}; scale them")
        return u, v


def _finite(x: np.ndarray) -> bool:
    return bool(np.isfinite(x).all())

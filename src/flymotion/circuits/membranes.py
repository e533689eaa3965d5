r"""A soma and its branches as an electrical circuit, solved (Section 3.1, Fig. 3).

A branch is two compartments: synapses that carry the intensity are on the *distal* one, and the shunting synapse on the
*proximal* one, between it and the soma ("on the path": Koch, Poggio & Torre 1983). Kirchhoff's law at each compartment,

.. math::

    \tau \dot d_b &= E_e e_b + E_h h_b - (1 + e_b + h_b)\, d_b + c\,(p_b - d_b) \\
    \tau \dot p_b &= -(1 + s_b)\, p_b + c\,(d_b - p_b) + c\,(v - p_b) \\
    \tau G \dot v &= I - G v + c \sum_b (p_b - v)

==============  ===============  ===================================================================================
``d, p, v``     (..., B), (...)  voltages of distal and proximal compartments and of the soma, above rest [mV]
``e, h``        (..., B)         conductances of excitatory and inhibitory synapses, relative to a compartment's leak
``s``           (..., B)         conductance of the shunting synapse, whose reversal potential is rest
``c, G``                         conductances between neighbours, and of the soma's leak, relative to the same
``I``           (...)            current into the soma [leak x mV]
``tau``                          time constant of the membrane, the same everywhere
==============  ===============  ===================================================================================

Given the conductances this is linear, and compartments form a tree, so that elimination from the tips to the soma
solves it exactly, at rest and for each step of implicit Euler, which is stable whatever the step. With :math:`D = 1 + c
+ e + h` and :math:`P = 1 + s + 2 c - c^2 / D`,

.. math:: v \Big(G + \sum_b \big(c - \tfrac{c^2}{P_b}\big)\Big) = I + \sum_b A_b\, (E_e e_b + E_h h_b), \qquad
          A_b = \frac{c^2}{D_b P_b}.

**What arrives at the synapses** of a spike of the soma, which holds it at v for a while, is :math:`A_b v`: by the same
:math:`A_b` that the branch's own current is let through with. Transfer resistances of a passive circuit are the same
both ways, so what gates the signal into the soma gates the one that travels back, by the same factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from flymotion.world.conventions import not_below_0

__all__ = ["Membrane", "Synapses", "Voltages", "implicit_euler", "let_through", "steady_state"]


@dataclass(frozen=True)
class Membrane:
    """What of the circuit does not change. Conductances are relative to the leak of one dendritic compartment.

    Parameters
    ----------
    axial : float
        Conductance between neighbouring compartments: ``1 / l^2`` where each is l space constants long; 4 is half of
        one.
    soma : float
        Leak of the soma.
    excitation, inhibition : float
        Reversal potentials of distal synapses [mV above rest]; by default those of Zavatone-Veth, Badwan & Clark
        (2020). The shunting synapse's is rest.
    tau : float
        Time constant of the membrane [ms].

    Raises
    ------
    ValueError
        A conductance or tau that is not positive, excitation that does not depolarise, or inhibition that does not
        hyperpolarise.

    References
    ----------
    C. Koch, T. Poggio & V. Torre, "Nonlinear interactions in a dendritic tree", PNAS 80 (1983).
    J. A. Zavatone-Veth, B. A. Badwan & D. A. Clark, "A minimal synaptic model for direction selective neurons in
    Drosophila", Journal of Vision 20 (2020).

    Examples
    --------
    >>> excited = Synapses(excited=np.ones((1, 1)), inhibited=np.zeros((1, 1)), shunted=np.zeros((1, 1)))
    >>> near, far = Membrane(axial=4.0), Membrane(axial=1.0)  # compartments half a space constant long, and a whole one
    >>> [round(float(steady_state(membrane, excited).soma[0]), 2) for membrane in (near, far)]  # mV above rest
    [2.2, 0.71]
    """

    axial: float = 4.0
    soma: float = 10.0
    excitation: float = 60.0
    inhibition: float = -30.0
    tau: float = 20.0

    def __post_init__(self) -> None:
        for name in ("axial", "soma", "excitation", "tau"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} is {getattr(self, name)!r}; expected a positive number")
        if not -np.inf < self.inhibition < 0:
            raise ValueError(f"inhibition is {self.inhibition!r} mV above rest; expected a negative number")


class Synapses(NamedTuple):
    """Conductances of the synapses of each branch, arrays of shape (..., B), relative to a compartment's leak."""

    excited: np.ndarray
    inhibited: np.ndarray
    shunted: np.ndarray


class Voltages(NamedTuple):
    """Voltages above rest [mV]."""

    soma: np.ndarray
    """Shape (...)."""
    proximal: np.ndarray
    """Shape (..., B)."""
    distal: np.ndarray
    """Shape (..., B)."""


def let_through(membrane: Membrane, synapses: Synapses) -> np.ndarray:
    """Return the share A of the soma's voltage that arrives at each distal compartment, shape (..., B).

    The same factor is in what a distal current makes of the soma's voltage.
    """
    distal, proximal = _eliminated(membrane, synapses, 0.0)
    return membrane.axial**2 / (distal * proximal)


def steady_state(membrane: Membrane, synapses: Synapses, *, current: float | np.ndarray = 0.0) -> Voltages:
    """Return the voltages at rest, in closed form.

    Parameters
    ----------
    membrane : Membrane
        The circuit.
    synapses : Synapses
        Conductances of B branches.
    current : float or ndarray, shape (...)
        Into the soma [leak x mV].

    Examples
    --------
    >>> branch = Synapses(np.ones((1, 1)), np.zeros((1, 1)), np.zeros((1, 1)))
    >>> steady_state(Membrane(), branch).soma.round(2)
    array([2.2])
    >>> steady_state(Membrane(), branch._replace(shunted=np.full((1, 1), 100.0))).soma.round(2)
    array([0.11])
    """
    rest = Voltages(*(np.zeros(()) for _ in range(3)))
    return _solved(membrane, synapses, rest, current, 0.0)


def implicit_euler(
    membrane: Membrane, synapses: Synapses, before: Voltages, dt: float, *, current: float | np.ndarray = 0.0
) -> Voltages:
    """Return the voltages a step of implicit Euler later, which does not overshoot, whatever its length.

    Parameters
    ----------
    membrane : Membrane
        The circuit.
    synapses : Synapses
        Conductances of B branches, as they are at the end of the step.
    before : Voltages
        At the beginning of the step.
    dt : float
        Length of the step [ms].
    current : float or ndarray, shape (...)
        Into the soma [leak x mV].

    Raises
    ------
    ValueError
        A step that is not positive.
    """
    if not 0 < dt < np.inf:
        raise ValueError(f"dt is {dt!r} ms; expected a positive number")
    return _solved(membrane, synapses, before, current, membrane.tau / dt)


def _eliminated(membrane: Membrane, synapses: Synapses, inertia: float) -> tuple[np.ndarray, np.ndarray]:
    """Return what stands before the voltages of distal and proximal compartments, those farther out eliminated."""
    excited, inhibited, shunted = synapses
    c = membrane.axial
    distal = 1 + inertia + c + excited + inhibited
    return distal, 1 + inertia + shunted + 2 * c - c**2 / distal


def _solved(
    membrane: Membrane, synapses: Synapses, before: Voltages, current: float | np.ndarray, inertia: float
) -> Voltages:
    """Solve Kirchhoff's equations, with ``inertia`` = tau / dt; 0 at rest."""
    for name, conductance in synapses._asdict().items():
        not_below_0(**{name: np.min(conductance, initial=0.0)})
    c, soma = membrane.axial, membrane.soma * (1 + inertia)
    D, P = _eliminated(membrane, synapses, inertia)
    at_tips = membrane.excitation * synapses.excited + membrane.inhibition * synapses.inhibited
    at_tips = at_tips + inertia * before.distal
    inwards = c / D * at_tips + inertia * before.proximal
    own = current + membrane.soma * inertia * before.soma
    v = (own + (c / P * inwards).sum(axis=-1)) / (soma + (c - c**2 / P).sum(axis=-1))
    p = (inwards + c * v[..., None]) / P
    return Voltages(v, p, (at_tips + c * p) / D)

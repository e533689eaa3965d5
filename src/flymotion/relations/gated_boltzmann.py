r"""Gating: the factored three-way Boltzmann machine, whose mapping units multiply two frames (Memisevic & Hinton 2010).

=========  ===========  ==============================================================================
``x``      (B, n)       frames before, one a row, in units of their size
``y``      (B, n)       frames after, or the changes to them, in units of theirs
``h``      (B, K)       activities of the mapping units
``U``      (n, F)       filters of the factors on the frame before
``V``      (n, F)       filters of the factors on the frame after
``W``      (K, F)       which factors each mapping unit pools
=========  ===========  ==============================================================================

Given the frame before, the energy of the frame after and of binary mapping units is

.. math:: E(y, h | x) = |y - b|^2 / 2 - c \cdot h - \sum_f (U'x)_f (V'y)_f (W'h)_f,

so that each mapping unit is on with probability :math:`\sigma(c_k + y' A_k x)`, :math:`A_k = \sum_f W_{kf} v_f u_f'`,
and the frame after, given mapping units, is :math:`\sum_k h_k A_k x` and noise of size 1: they name a linear map.

Where the frame after is nearly the frame before, the one map that all units have to name is the identity, and there is
nothing left to tell them apart. The change in its place, as in the paper's feature, leaves the identity out.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from flymotion.frames import FramePairs, as_frames
from flymotion.relations.pair_learner import PairLearner
from flymotion.similarity.samples import check_counts
from flymotion.world.conventions import as_generator

__all__ = ["GatedBoltzmann", "Gates", "contrastive_divergence"]

ONTO = ("next", "change")
"""What mapping units map the frame before onto."""

START = 0.1
"""Standard deviation of the weights at first."""

SMALLEST = 1e-12
"""Norm below which filters are not brought to the norm of the others."""


class Gates(NamedTuple):
    """Parameters of the machine, or their gradients; see the table above."""

    U: np.ndarray
    V: np.ndarray
    W: np.ndarray
    b: np.ndarray
    """Mean of the frames after, shape (n,)."""
    c: np.ndarray
    """Bias of the mapping units, shape (K,)."""

    def mapping(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the probabilities that mapping units are on, shape (B, K)."""
        return expit(self.c + (x @ self.U) * (y @ self.V) @ self.W.T)

    def after(self, x: np.ndarray, h: np.ndarray) -> np.ndarray:
        """Return the mean frame after that mapping units make of the frame before, shape (B, n)."""
        return self.b + (x @ self.U) * (h @ self.W) @ self.V.T


class GatedBoltzmann(PairLearner):
    r"""Factored gated Boltzmann machine of two frames, by contrastive divergence (Memisevic & Hinton 2010).

    No synapse of it is local: the gradient of :math:`u_{if}` is the mean of :math:`x_i (V'y)_f (W'h)_f` less the same
    of what the machine makes up itself. It takes the two other sums of its factor at the synapse, and the frame after
    and mapping units twice, once as seen and once as reconstructed.

    Parameters
    ----------
    n_components : int
        Mapping units K.
    n_factors : int
        Factors F.
    onto : {"next", "change"}
        What the frame before is mapped onto: the next frame, as its authors do, which takes shifts of whole pixels; or
        the change to it, which takes fractions of a pixel.
    n_passes : int
        Passes over the pairs.
    batch_size : int
        Pairs a step.
    learning_rate : float
        Size of a step, in (0, 1]; the same for all weights. With 150 factors and more, weights may grow without bounds,
        which is an error: take less then.
    momentum : float
        Share of each step that the next takes over, in [0, 1).
    weight_decay : float
        Pull of U, V and W to 0, per unit of the learning rate; larger ones (0.01) make filters
        sinusoids all over, and leave nothing where the change says little.
    random_state : int, Generator, RandomState or None
        Source of the first weights, of the order of pairs, and of the states of mapping units.

    Attributes
    ----------
    gates_ : Gates
        What was learned, for frames, and what they are mapped onto, in units of ``scales_``.
    generators_ : ndarray, shape (n_components, n_pixels, n_pixels)
        The bilinear filter of each mapping unit, :math:`A_k`, in the frames' own unit; row i = weights onto the next
        frame's pixel i, or the change there. What of it tells motion is the difference between units.
    scales_ : ndarray, shape (2,)
        Root mean squares of the pixels of frames before, and of what they are mapped onto: visible units have a
        variance of 1.

    Notes
    -----
    As its authors learn it: mini-batches with momentum, one step of reconstruction with sampled mapping units and a
    mean frame, weight decay, and filters of one norm, so that no factor dies. Frames are whitened before, by the
    caller. Left out: sparsity of mapping units, and biases that join two groups of units.

    References
    ----------
    Memisevic & Hinton, Neural Computation 2010; Taylor & Hinton, ICML 2009, for the factors.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(400, 6))
    >>> pairs = FramePairs(x, np.roll(x, 1, axis=1))
    >>> GatedBoltzmann(3, n_factors=8, random_state=0).fit(pairs).transform(pairs).shape
    (400, 3)
    """

    def __init__(
        self,
        n_components: int = 20,
        *,
        n_factors: int = 60,
        onto: str = "next",
        n_passes: int = 30,
        batch_size: int = 100,
        learning_rate: float = 0.03,
        momentum: float = 0.9,
        weight_decay: float = 0.001,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_factors = n_factors
        self.onto = onto
        self.n_passes = n_passes
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_counts(
            n_components=self.n_components,
            n_factors=self.n_factors,
            n_passes=self.n_passes,
            batch_size=self.batch_size,
        )
        if self.onto not in ONTO:
            raise ValueError(f"onto is {self.onto!r}; expected 'next' or 'change'")
        if not (isinstance(self.learning_rate, Real) and 0 < float(self.learning_rate) <= 1):
            raise ValueError(f"learning_rate is {self.learning_rate!r}; expected a rate in (0, 1]")
        if not (isinstance(self.momentum, Real) and 0 <= float(self.momentum) < 1):
            raise ValueError(f"momentum is {self.momentum!r}; expected a share in [0, 1)")
        if not (isinstance(self.weight_decay, Real) and 0 <= float(self.weight_decay) <= 1):
            raise ValueError(f"weight_decay is {self.weight_decay!r}; expected a number from 0 to 1")

    def _fit(self, before: np.ndarray, after: np.ndarray) -> None:
        rng = as_generator(self.random_state)
        onto = after - before if self.onto == "change" else after
        self.scales_ = np.array([np.sqrt((frames**2).mean()) or 1.0 for frames in (before, onto)])
        self.onto_ = self.onto
        x, y = self._visible(before, after)
        gates = _start(x.shape[1], self.n_factors, self.n_components, rng)
        speed = Gates(*map(np.zeros_like, gates))
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(self.n_passes):
                order = rng.permutation(len(x))
                for start in range(0, len(x), self.batch_size):
                    rows = order[start : start + self.batch_size]
                    gates, speed = self._step(gates, speed, contrastive_divergence(gates, x[rows], y[rows], rng))
        if not all(np.isfinite(each).all() for each in gates):
            raise ValueError(f"learning_rate is {self.learning_rate!r}, with which weights grew beyond all bounds")
        self.gates_ = gates

    def _step(self, gates: Gates, speed: Gates, gradient: Gates) -> tuple[Gates, Gates]:
        """Take a step with momentum, then bring filters to one norm."""
        decay = (self.weight_decay,) * 3 + (0.0,) * 2
        speed = Gates(
            *(
                self.momentum * v + self.learning_rate * (g - d * w)
                for v, g, w, d in zip(speed, gradient, gates, decay, strict=True)
            )
        )
        moved = Gates(*(w + v for w, v in zip(gates, speed, strict=True)))
        return moved._replace(U=_of_one_norm(moved.U), V=_of_one_norm(moved.V)), speed

    def _visible(self, before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return frames before, and what they are mapped onto, in units of their sizes."""
        onto = after - before if self.onto_ == "change" else after
        return before / self.scales_[0], onto / self.scales_[1]

    def _transform(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        return self.gates_.mapping(*self._visible(before, after))

    def analogies(self, X: FramePairs, frames: Any) -> np.ndarray:
        """Return what the transformation of each pair makes of another frame, shape (n_pairs, n_pixels).

        Parameters
        ----------
        X : FramePairs
            Pairs that show transformations.
        frames : array, shape (n_pairs, *pixels)
            A frame to transform for each pair.

        Raises
        ------
        ValueError
            Pairs that are none, or of another number of pixels than learned; frames that do not fit them.
        """
        h = self.transform(X)
        others = as_frames(frames, name="frames")
        others = others.reshape(len(others), -1)
        if others.shape != (len(X), self.n_features_in_):
            raise ValueError(f"frames have shape {others.shape}; expected {(len(X), self.n_features_in_)}, one a pair")
        made = self.scales_[1] * self.gates_.after(others / self.scales_[0], h)
        return others + made if self.onto_ == "change" else made

    @property
    def generators_(self) -> np.ndarray:
        """The bilinear filter of each mapping unit, shape (n_components, n_pixels, n_pixels)."""
        check_is_fitted(self)
        U, V, W = self.gates_[:3]
        return np.stack([(V * w) @ U.T for w in W]) / self.scales_.prod()

    @property
    def _n_features_out(self) -> int:
        return len(self.gates_.W)


def _start(n: int, n_factors: int, n_mapping: int, rng: np.random.Generator) -> Gates:
    U, V, W = (START * rng.standard_normal((rows, n_factors)) for rows in (n, n, n_mapping))
    return Gates(U, V, W, np.zeros(n), np.zeros(n_mapping))


def _of_one_norm(filters: np.ndarray) -> np.ndarray:
    """Bring all columns to their mean norm."""
    norms = np.sqrt((filters**2).sum(axis=0))
    return filters * (norms.mean() / np.maximum(norms, SMALLEST))


def contrastive_divergence(gates: Gates, x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Gates:
    """Return the gradient of one step of contrastive divergence: of what is seen less what is reconstructed.

    Parameters
    ----------
    gates : Gates
        Parameters.
    x, y : ndarray, shape (n_pairs, n_pixels)
        Frames before and after, in units of their size.
    rng : Generator
        Source of the states of mapping units.
    """
    X = x @ gates.U
    h = gates.mapping(x, y)
    states = (h > rng.random(h.shape)).astype(float)
    imagined = gates.b + (X * (states @ gates.W)) @ gates.V.T
    h_imagined = gates.mapping(x, imagined)
    Y, H = y @ gates.V, h @ gates.W
    Y_imagined, H_imagined = imagined @ gates.V, h_imagined @ gates.W
    return Gates(
        x.T @ (Y * H - Y_imagined * H_imagined) / len(x),
        (y.T @ (X * H) - imagined.T @ (X * H_imagined)) / len(x),
        (h.T @ (X * Y) - h_imagined.T @ (X * Y_imagined)) / len(x),
        (y - imagined).mean(axis=0),
        (h - h_imagined).mean(axis=0),
    )

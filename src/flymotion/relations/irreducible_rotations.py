r"""Motion as rotations of planes: the irreducible representations of commuting transformations (Genkin et al. 2022).

Where motion is an orthogonal transformation of frames, as turns and cyclic translations are, and all its amounts s
commute, :math:`x_{t+1} = \exp(s_t A) x_t` with an antisymmetric A, whose eigenvectors come in planes: motion turns
plane k by :math:`\omega_k s_t`. No code of that paper is public; this is worked out from its abstract. With
:math:`\bar x` the mean of both frames,

.. math:: x_{t+1} x_t' - x_t x_{t+1}' = \Delta x \bar x' - \bar x \Delta x', \qquad
   E[x_{t+1} x_t' - x_t x_{t+1}' | s] = \sum_k 2 \lambda_k \sin(\omega_k s) (v_k u_k' - u_k v_k')

for content of variance :math:`\lambda_k` in plane k. The mean over content that moves both ways is 0; but what the sign
of motion turns over in all planes at once is the leading *principal component* of the antisymmetrised outer product,
so that is what is taken apart. It has sampling errors, cross-products of planes that vanish only on average. Least
squares among antisymmetric operators has none: with :math:`s_t` from the operator so far,

.. math:: A S + S A = \sum_t s_t (x_{t+1} x_t' - x_t x_{t+1}'), \qquad S = \sum_t s_t^2 \bar x_t \bar x_t'

gives the next one: the antisymmetrised product, divided by the second moment.

==========  ==============  ==================================================================
``f``       (K, n)          the planes, as complex filters ``u + i v``
``z``       (n_pairs, K)    a frame's projections on the planes, as complex numbers
``A``       (n, n)          antisymmetric operator, ``dx = s A x``
==========  ==============  ==================================================================
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy.linalg import eigh
from sklearn.utils.validation import check_is_fitted

from flymotion.frames import FramePairs
from flymotion.relations.pair_learner import PairLearner
from flymotion.relations.plane_rates import FURTHEST, fit_rates, most_likely
from flymotion.similarity.features import FEATURES, OuterProducts
from flymotion.similarity.rivals import OuterProductPCA
from flymotion.similarity.samples import check_counts
from flymotion.similarity.vectors import signed

__all__ = ["METHODS", "IrreducibleRotations", "planes_of"]

RIDGE = 1e-2
"""Of the amounts of motion, relative to the mean square of what the operator makes of a frame."""


FORMED, BLOCK = 1000, 4096
"""Most entries above the diagonal for which their second moment is formed, and pairs at a time."""


class IrreducibleRotations(PairLearner):
    r"""Planes that motion turns, each by an angle of its own, learned without labels.

    Parameters
    ----------
    n_planes : int, optional
        How many planes K, those in which motion turns most; by default all, half as many as pixels.
    method : {"antisymmetric", "differences"}
        What planes are first found in: the principal component of the antisymmetrised outer product (one layer); or
        the 2 K principal components of frames' differences, of variance 1, paired by the principal component of
        *their* antisymmetrised outer product (two layers).
    n_refinements : int
        Rounds of least squares after that; with 0 planes are what a network would learn.
    furthest : float
        Largest motion that is tried, in learning rates and in telling velocity, in units of the mean size of all motion
        learned from. Planes that hardly turn tell little of small motions and let very large ones pass: where motion
        to be told is no larger than what was learned from, 5 leaves those out.

    Attributes
    ----------
    planes_ : ndarray, shape (n_planes, 2, n_pixels)
        Orthonormal pairs (u, v). All turn from u to v at once: which way is fixed by the largest entry of
        ``generator_``. The phase of a plane is free; v is 0, and u positive, at the pixel at which the plane is
        largest.
    generators_ : ndarray, shape (n_planes, n_pixels, n_pixels)
        ``v u' - u v'`` of each plane: ``dx = angle A x``.
    rates_ : ndarray, shape (n_planes,)
        How far each plane turns [rad] while content moves by 1, the mean size of all motion learned from.
    generator_ : ndarray, shape (n_pixels, n_pixels)
        The sum of all planes' generators, times their rates.
    noise_ : ndarray, shape (n_planes,)
        Mean square of what is left of each plane's change where it turns by its rate times the motion.
    mean_ : ndarray, shape (n_pixels,)
        Mean frame.

    Notes
    -----
    Where frames have a strong common level that differs from pair to pair, whiten them first, or learn from
    differences, which do not know it. Motions that are large against the finest detail may be read, but not learned
    from: see ``docs/irreducible-rotations.md``. Fits transformations of one parameter.

    References
    ----------
    Genkin, Lipshutz, Golkar, Tesileanu & Chklovskii, NeurIPS 2022; Cohen & Welling, ICML 2014; Bethge, Gerwinn & Macke,
    SPIE 2007.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> k, shifts = np.arange(1, 4), rng.uniform(-0.3, 0.3, 500)
    >>> waves = np.exp(2j * np.pi * np.outer(k, np.arange(7)) / 7)
    >>> content = rng.normal(size=(500, 3)) + 1j * rng.normal(size=(500, 3))
    >>> moved = content * np.exp(-2j * np.pi * np.outer(shifts, k) / 7)
    >>> pairs = FramePairs((content @ waves).real, (moved @ waves).real)
    >>> learner = IrreducibleRotations().fit(pairs)
    >>> (np.sort(learner.rates_) / learner.rates_.min()).round(1)
    array([1., 2., 3.])
    """

    def __init__(
        self,
        n_planes: int | None = None,
        *,
        method: str = "antisymmetric",
        n_refinements: int = 10,
        furthest: float = FURTHEST,
    ) -> None:
        self.n_planes = n_planes
        self.method = method
        self.n_refinements = n_refinements
        self.furthest = furthest

    def _check_parameters(self) -> None:
        if self.n_planes is not None:
            check_counts(n_planes=self.n_planes)
        rounds = self.n_refinements
        if not isinstance(rounds, int | np.integer) or isinstance(rounds, bool) or rounds < 0:
            raise ValueError(f"n_refinements is {rounds!r}; expected a whole number, 0 or more")
        if self.method not in tuple(METHODS):
            raise ValueError(f"method is {self.method!r}; expected one of {', '.join(map(repr, METHODS))}")
        if not (isinstance(self.furthest, Real) and 0 < float(self.furthest) < np.inf):
            raise ValueError(f"furthest is {self.furthest!r}; expected a positive number of mean motions")

    def _fit(self, before: np.ndarray, after: np.ndarray) -> None:
        most = before.shape[1] // 2
        if most == 0 or (self.n_planes is not None and self.n_planes > most):
            raise ValueError(f"n_planes is {self.n_planes}; frames of {before.shape[1]} pixel(s) have {most} plane(s)")
        K = most if self.n_planes is None else self.n_planes
        self.mean_ = (before.mean(axis=0) + after.mean(axis=0)) / 2
        x, x_next = before - self.mean_, after - self.mean_
        axes, A = METHODS[self.method](x, x_next, K)
        A = _refined(A, x @ axes.T, x_next @ axes.T, self.n_refinements)
        f, rates = _strongest(axes.T @ A @ axes, x, x_next, K)
        rates, self.noise_ = fit_rates(x @ f.T, x_next @ f.T, rates, float(self.furthest))
        f, self.rates_ = np.where(rates[:, None] < 0, f.conj(), f), np.abs(rates)
        self._orient(f)

    def _orient(self, f: np.ndarray) -> None:
        """Keep planes, shape (n_planes, n_pixels) as complex numbers, in the phases and the sign agreed on."""
        largest = np.take_along_axis(f, np.abs(f).argmax(axis=1)[:, None], axis=1)
        f = f * largest.conj() / np.abs(largest)
        self.planes_ = np.stack([f.real, f.imag], axis=1)
        if (signed(self.generator_.reshape(1, -1)) != self.generator_.reshape(1, -1)).any():
            self.planes_ = self.planes_ * np.array([1.0, -1.0])[:, None]

    @property
    def generators_(self) -> np.ndarray:
        """``v u' - u v'`` of each plane, shape (n_planes, n_pixels, n_pixels)."""
        check_is_fitted(self)
        u, v = self.planes_.swapaxes(0, 1)
        return v[:, :, None] * u[:, None] - u[:, :, None] * v[:, None]

    @property
    def generator_(self) -> np.ndarray:
        """The sum of ``generators_``, times ``rates_``, shape (n_pixels, n_pixels): of motion by 1."""
        return np.tensordot(self.rates_, self.generators_, axes=1)

    @property
    def _n_features_out(self) -> int:
        return len(self.planes_)

    def _transform(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        return np.angle(self._turns(before, after)) + 0.0

    def amplitudes(self, X: FramePairs) -> np.ndarray:
        """Return how sure each angle is, shape (n_pairs, n_planes): the product of both frames' sizes in the plane.

        Raises
        ------
        ValueError
            As ``transform``.
        """
        check_is_fitted(self)
        return np.abs(self._turns(*self._checked(X, reset=False)))

    def velocity(self, X: FramePairs) -> np.ndarray:
        """Return how far content has moved, by all planes together, shape (n_pairs,).

        In the unit of ``rates_``, and up to a sign; planes count by their amplitudes over their ``noise_``. Motion of
        half a turn of the slowest plane, or ``furthest``, is the largest that can be told.

        Raises
        ------
        ValueError
            As ``transform``.
        """
        check_is_fitted(self)
        return most_likely(self._turns(*self._checked(X, reset=False)) / self.noise_, self.rates_, float(self.furthest))

    def _turns(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Return ``z_next conj(z)``, shape (n_pairs, n_planes)."""
        f = self.planes_[:, 0] + 1j * self.planes_[:, 1]
        return ((after - self.mean_) @ f.T) * ((before - self.mean_) @ f.T).conj()


def planes_of(A: np.ndarray, n_planes: int) -> tuple[np.ndarray, np.ndarray]:
    r"""Take an antisymmetric operator apart into planes: :math:`A = \sum_k \omega_k (v_k u_k' - u_k v_k')`.

    Its singular vectors come in such pairs; they are the eigenvectors of :math:`i A`.

    Parameters
    ----------
    A : ndarray, shape (n, n)
        Such as a principal component of antisymmetrised outer products, learned by any learner of theirs. What of it is
        symmetric is left out.
    n_planes : int
        How many, from that of the largest singular value on; n / 2 at most.

    Returns
    -------
    planes : ndarray of complex, shape (n_planes, n)
        ``u + i v``, of orthonormal u and v. Where the operator is 0, any that are orthogonal to the others.
    rates : ndarray, shape (n_planes,)
        The singular values, each of which A has twice.
    """
    values, vectors = np.linalg.eigh(1j * (A - A.T) / 2)
    f, rates = np.sqrt(2) * vectors.T[::-1][:n_planes], values[::-1][:n_planes]
    turning = int(np.sum(rates > 1e-12 * max(rates.max(initial=0.0), 1e-300)))
    if turning < n_planes:  # eigenvectors of 0 may be real
        others = np.linalg.qr(np.concatenate([f[:turning].real, f[:turning].imag]).T, mode="complete")[0].T
        u, v = others[2 * turning :][: 2 * (n_planes - turning)].reshape(-1, 2, len(A)).swapaxes(0, 1)
        f = np.concatenate([f[:turning], u + 1j * v])
    return f, np.maximum(rates, 0)


def _one_layer(x: np.ndarray, x_next: np.ndarray, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the axes to work in, all, and the principal component of the antisymmetrised outer product."""
    return np.eye(x.shape[1]), _component(x, x_next)


def _two_layers(x: np.ndarray, x_next: np.ndarray, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the 2 K principal components of differences, shape (2 K, n), and what pairs them.

    Brought to variance 1, the differences of a plane's two components and their antisymmetrised product have the ratio
    ``cot(omega s / 2)``, whatever the content's spectrum: planes of different rates are told apart even where
    differences have a flat spectrum, and so no principal components of their own.
    """
    change = x_next - x
    values, vectors = np.linalg.eigh(change.T @ change / len(change))
    sizes, axes = np.sqrt(np.maximum(values[::-1][: 2 * K], 0)), vectors.T[::-1][: 2 * K]
    over = np.divide(1, sizes, out=np.zeros_like(sizes), where=sizes > 1e-7 * max(sizes[0], 1e-300))
    A = sizes[:, None] * _component(x @ axes.T * over, x_next @ axes.T * over) * over
    return axes, (A - A.T) / 2


METHODS = {"antisymmetric": _one_layer, "differences": _two_layers}
"""Where planes come from: axes to work in, shape (m, n), and an antisymmetric operator in them, shape (m, m)."""


def _component(x: np.ndarray, x_next: np.ndarray) -> np.ndarray:
    """Return the principal component of the antisymmetrised outer product (Eq. 24), shape (n, n), of norm 1, or 0."""
    n = x.shape[1]
    i, j = np.triu_indices(n, 1)
    if not (x.any() and x_next.any()):
        return np.zeros((n, n))
    if len(i) > FORMED:
        return OuterProductPCA(1).fit(OuterProducts(*FEATURES["antisymmetric"](x, x_next))).generators_[0]
    moment = np.zeros((len(i), len(i)))
    for start in range(0, len(x), BLOCK):
        a, b = x[start : start + BLOCK], x_next[start : start + BLOCK]
        above = b[:, i] * a[:, j] - a[:, i] * b[:, j]  # Eq. 24, above the diagonal
        moment += above.T @ above
    component = np.zeros((n, n))
    component[i, j] = eigh(moment, subset_by_index=[len(i) - 1, len(i) - 1])[1][:, 0]
    return (component - component.T) / np.sqrt(2)


def _amounts(A: np.ndarray, x: np.ndarray, x_next: np.ndarray) -> np.ndarray:
    """Return how far each pair moved by an operator, shape (n_pairs,), to first order."""
    predicted = (x + x_next) @ A.T / 2
    squares = (predicted**2).sum(axis=1)
    return (predicted * (x_next - x)).sum(axis=1) / np.maximum(squares + RIDGE * squares.mean(), 1e-300)


def _refined(A: np.ndarray, x: np.ndarray, x_next: np.ndarray, n_rounds: int) -> np.ndarray:
    """Return the antisymmetric operator of least squared error, by rounds of motion by operator and the converse."""
    change, middle = x_next - x, (x + x_next) / 2
    for _ in range(n_rounds):
        s = _amounts(A, x, x_next)[:, None]
        product = (s * change).T @ middle
        values, vectors = np.linalg.eigh((s * middle).T @ (s * middle))
        sums = values[:, None] + values
        B = vectors.T @ (product - product.T) @ vectors
        A = vectors @ (B / np.maximum(sums, 1e-9 * sums.max() + 1e-300)) @ vectors.T  # A S + S A = B
        A = (A - A.T) / 2
    return A


def _strongest(A: np.ndarray, x: np.ndarray, x_next: np.ndarray, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the K planes that turn most of the content's variance one way with the motion, and their rates.

    Rates are those for motion of mean size 1.
    """
    f, rates = planes_of(A, len(A) // 2)
    turns = (x_next @ f.T) * (x @ f.T).conj()
    s = _amounts(A, x, x_next)
    kept = np.argsort(-(s @ turns.imag), kind="stable")[:K]
    return f[kept], rates[kept] * np.abs(s).mean()

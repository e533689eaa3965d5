r"""Product features of pairs of frames, held as their factors.

The paper's feature is the outer product :math:`\chi_t = \Delta x_t x_t'` (Eq. 11), of :math:`n^2` entries. It never has
to exist: with rows :math:`u_t`, :math:`v_t` of two matrices, everything that learning needs is a matrix product,

======================================  ==========================================================
``project``                             :math:`A \cdot \chi_t = u_t' A v_t`
``gram``                                :math:`\chi_s \cdot \chi_t = (u_s \cdot u_t)(v_s \cdot v_t)`
``accumulate``                          :math:`\sum_t \theta_t \chi_t = U' diag(\theta) V`
``norms``                               :math:`|\chi_t|`
======================================  ==========================================================

Features of rank r are sums of r outer products. ``vec(chi)`` is the C-order ravel of ``outer(u, v)``: entry
``i * n + j`` joins the change at pixel i with the intensity at pixel j. :class:`~flymotion.similarity.vectors.Vectors`
gives plain vectors the same operations. Arrays may be of any array-API library: a torch tensor stays on its device.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from flymotion.frames import FramePairs, not_masked
from flymotion.models.packing import Given, Packed
from flymotion.similarity.vectors import Vectors, largest, to_numpy

__all__ = ["FEATURES", "OuterProducts", "check_feature", "outer_products", "unpack_samples"]

DENSE_LIMIT = 2**30
"""Bytes above which ``dense`` refuses to build chi."""


def alike(*factors: Any) -> list[Any]:
    """Return arrays of real numbers in their common floating-point precision, float32 or float64."""
    for factor in factors:
        not_masked(factor, "a factor", "samples")
    xp = array_namespace(*factors)
    for factor in factors:
        if not xp.isdtype(factor.dtype, ("bool", "integral", "real floating")):
            raise TypeError(f"a factor has dtype {factor.dtype}; expected real numbers")
    floats = [f if xp.isdtype(f.dtype, "real floating") else xp.astype(f, xp.float64) for f in factors]
    dtype = xp.result_type(xp.float32, *floats)
    dtype = dtype if dtype == xp.float32 else xp.float64  # of longer ones too
    with np.errstate(over="ignore"):  # what is too large for float64 becomes infinite, and is refused as that
        return [xp.astype(factor, dtype, copy=False) for factor in floats]


FORMED_FEATURES, FORMED_ENTRIES = 128, 2**24
"""Most entries of one chi, and of all, that ``formed`` builds."""


class OuterProducts:
    """Outer products ``chi_t = sum_r outer(u_tr, v_tr)``, held as factors.

    Parameters
    ----------
    u, v : array, shape (n_samples, n) or (n_samples, r, n)
        The factors; ``u`` and ``v`` may have different numbers of pixels.

    Raises
    ------
    ValueError
        Factors of different numbers of samples or ranks.

    Examples
    --------
    >>> import numpy as np
    >>> chi = OuterProducts(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    >>> chi.dense()
    array([[3., 4., 6., 8.]])
    >>> chi.project(np.array([[[0.0, 1.0], [-1.0, 0.0]]]))
    array([[-2.]])
    """

    def __init__(self, u: Any, v: Any) -> None:
        u, v = alike(u, v)
        if u.ndim not in (2, 3) or tuple(u.shape[:-1]) != tuple(v.shape[:-1]):
            raise ValueError(
                f"factors have shapes {tuple(u.shape)} and {tuple(v.shape)}; expected (n_samples, n) or "
                "(n_samples, r, n), alike but for n"
            )
        self.u, self.v = u, v

    # -- as a collection of samples ------------------------------------------------------------------------------

    @property
    def xp(self) -> Any:
        """The array-API namespace of the factors."""
        return array_namespace(self.u)

    @property
    def shape(self) -> tuple[int, int]:
        """``(n_samples, n_features)`` of chi."""
        return (int(self.u.shape[0]), int(self.u.shape[-1] * self.v.shape[-1]))

    @property
    def feature_shape(self) -> tuple[int, int]:
        """Shape of one chi as a matrix."""
        return (int(self.u.shape[-1]), int(self.v.shape[-1]))

    @property
    def dtype(self) -> Any:
        """Precision of the factors."""
        return self.u.dtype

    @property
    def device(self) -> Any:
        """Where the factors are."""
        return device(self.u)

    @property
    def ndim(self) -> int:
        """Always 2: samples by features."""
        return 2

    @property
    def arrays(self) -> tuple[Any, Any]:
        """What they are held as."""
        return self.u, self.v

    @property
    def peak(self) -> float:
        """No norm of a sample is above it; NaN or infinity if any number is."""
        n_u, n_v = self.feature_shape
        rank = self.u.shape[1] if self.u.ndim == 3 else 1
        return largest(self.u) * largest(self.v) * rank * math.sqrt(n_u * n_v)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> OuterProducts:
        """Return the samples of these rows (a slice, mask or index array)."""
        if isinstance(rows, (int, np.integer)):
            row = range(len(self))[rows]  # an IndexError ends a loop over samples
            rows = slice(row, row + 1)
        return OuterProducts(self.u[rows], self.v[rows])

    def astype(self, dtype: Any) -> OuterProducts:
        """Return the samples in another precision."""
        xp = self.xp
        return self if dtype == self.dtype else OuterProducts(xp.astype(self.u, dtype), xp.astype(self.v, dtype))

    def to_numpy(self) -> OuterProducts:
        """Return the samples as numpy arrays on the CPU."""
        return OuterProducts(to_numpy(self.u), to_numpy(self.v))

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the samples of again, as numpy arrays."""
        return {"kind": "OuterProducts"}, {"u": to_numpy(self.u), "v": to_numpy(self.v)}

    @classmethod
    def unpack(cls, given: Given) -> OuterProducts:
        """Return the samples that were packed.

        Raises
        ------
        ValueError
            What are no samples.
        """
        u, v = given.array("u"), given.array("v")
        if 0 in (*u.shape[1:], *v.shape[1:]) or u.dtype != v.dtype:
            raise given.wrong("u", f"{u.dtype} of shape {u.shape}, v {v.dtype} of {v.shape}", "factors of one type")
        return cls(u, v)

    @staticmethod
    def concatenate(parts: list[OuterProducts]) -> OuterProducts:
        """Join samples end to end."""
        xp = parts[0].xp
        return OuterProducts(xp.concat([p.u for p in parts]), xp.concat([p.v for p in parts]))

    def factors(self) -> tuple[Any, Any]:
        """Return the factors with their rank spelt out, shapes (n_samples, r, n_u) and (n_samples, r, n_v)."""
        return (self.u, self.v) if self.u.ndim == 3 else (self.u[:, None, :], self.v[:, None, :])

    # -- the four operations -------------------------------------------------------------------------------------

    def project(self, filters: Any) -> Any:
        """Inner products with filters, shape (K, n_u, n_v); returns shape (n_samples, K)."""
        k, n_u, n_v = filters.shape
        xp = self.xp
        # (..., n_v) @ (n_v, K n_u), then the row-wise dot with u
        pushed = xp.reshape(self.v @ xp.reshape(filters, (k * n_u, n_v)).T, (*self.v.shape[:-1], k, n_u))
        inner = xp.vecdot(pushed, self.u[..., None, :])  # Eqs. 10 and 19: sum_i dx_i sum_j W_ij x_j
        return inner if self.u.ndim == 2 else xp.sum(inner, axis=1)

    def gram(self, other: OuterProducts | None = None) -> Any:
        """Inner products of the samples with each other or with others; shape (n_samples, n_others)."""
        if other is None:  # in memory of its own: numpy takes u u' by syrk, but mirrors its triangle slowly
            other = OuterProducts(self.xp.asarray(self.u, copy=True), self.xp.asarray(self.v, copy=True))
        if self.u.ndim == 2:
            out = self.u @ other.u.T
            out *= self.v @ other.v.T
            return out
        ranks = [(r, s) for r in range(self.u.shape[1]) for s in range(other.u.shape[1])]
        return sum((self.u[:, r] @ other.u[:, s].T) * (self.v[:, r] @ other.v[:, s].T) for r, s in ranks)

    def accumulate(self, theta: Any) -> Any:
        """Sum of ``theta_tk chi_t`` over the samples, for theta (n_samples, K); returns shape (K, n_u, n_v)."""
        k, (n_u, n_v) = theta.shape[1], self.feature_shape
        weights = theta[:, :, None] if self.u.ndim == 2 else theta[:, None, :, None]
        weighted = self.xp.reshape(weights * self.u[..., None, :], (-1, k * n_u))
        return self.xp.reshape(weighted.T @ self.xp.reshape(self.v, (-1, n_v)), (k, n_u, n_v))

    def norms(self) -> Any:
        """Euclidean norm of each chi, shape (n_samples,)."""
        if self.u.ndim == 2:
            squares = self.xp.vecdot(self.u, self.u) * self.xp.vecdot(self.v, self.v)
        else:
            among_u = self.u @ self.xp.matrix_transpose(self.u)
            among_v = self.v @ self.xp.matrix_transpose(self.v)
            squares = self.xp.sum(among_u * among_v, axis=(1, 2))
        return self.xp.sqrt(self.xp.clip(squares, 0, None))

    # -- views ---------------------------------------------------------------------------------------------------

    def dense(self) -> Any:
        """Return chi itself, shape (n_samples, n_u * n_v).

        Raises
        ------
        ValueError
            More than 1 GiB of it.
        """
        n_bytes = int(np.prod(self.shape)) * self.u.dtype.itemsize
        if n_bytes > DENSE_LIMIT:
            raise ValueError(
                f"chi of {self.shape[0]} x {self.shape[1]} entries takes {n_bytes / 2**30:.1f} GiB; "
                "use its factors, smaller patches or fewer samples"
            )
        u, v = self.factors()
        matrices = u[:, 0, :, None] * v[:, 0, None, :]
        for r in range(1, u.shape[1]):
            matrices += u[:, r, :, None] * v[:, r, None, :]
        return self.xp.reshape(matrices, self.shape)


def _change(x: Any, x_next: Any) -> tuple[Any, Any]:
    return x_next - x, x  # Eq. 11


def _midpoint(x: Any, x_next: Any) -> tuple[Any, Any]:
    return x_next - x, (x + x_next) / 2  # Eq. 23, its cross-term


def _product(x: Any, x_next: Any) -> tuple[Any, Any]:
    return x_next, x


def _antisymmetric(x: Any, x_next: Any) -> tuple[Any, Any]:
    xp = array_namespace(x)
    return xp.stack([x_next, -x], axis=-2), xp.stack([x, x_next], axis=-2)  # Eq. 24


FEATURES = {"change": _change, "midpoint": _midpoint, "product": _product, "antisymmetric": _antisymmetric}
r"""Factors of each feature, from frames ``x`` and ``x_next`` of shape (n_pairs, n).

``change`` is the paper's :math:`\Delta x\, x'` (Eq. 11); ``midpoint`` is :math:`\Delta x (x + x_{next})'/2` (Eq. 23)
and ``antisymmetric`` is :math:`x_{next} x' - x x_{next}'` (Eq. 24; Suppl. A, after Bethge et al. 2007), both odd under
time reversal; ``product`` is :math:`x_{next} x'` (Memisevic 2011).
"""


def check_feature(feature: str) -> None:
    """Raise a ValueError unless there is such a feature."""
    if feature not in FEATURES:
        raise ValueError(f"feature is {feature!r}; expected one of {', '.join(map(repr, FEATURES))}")


def outer_products(pairs: FramePairs, feature: str = "midpoint") -> OuterProducts:
    """Return a feature of pairs of frames, each frame taken as one vector.

    Parameters
    ----------
    pairs : FramePairs
        Frames of n pixels.
    feature : {"change", "midpoint", "product", "antisymmetric"}
        Which one; see :data:`FEATURES`.

    Raises
    ------
    ValueError
        An unknown feature.

    Examples
    --------
    >>> from flymotion import pair_up
    >>> samples = outer_products(pair_up([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), "change")
    >>> samples.u, samples.v, samples.shape  # the change, the frame before, and their nine products
    (array([[ 0., -1.,  1.]]), array([[0., 1., 0.]]), (1, 9))
    """
    check_feature(feature)
    flat = pairs.flat()
    return OuterProducts(*FEATURES[feature](flat.before, flat.after))


def as_features(x: Any) -> OuterProducts | Vectors:
    """Return samples as something with ``project``, ``gram``, ``accumulate`` and ``norms``."""
    return x if isinstance(x, OuterProducts | Vectors) else Vectors(x)


def formed(samples: OuterProducts | Vectors) -> OuterProducts | Vectors:
    """Return small chi as plain vectors, which algorithms that go over all samples many times go over faster."""
    n_samples, n_features = samples.shape
    small = n_features <= FORMED_FEATURES and n_samples * n_features <= FORMED_ENTRIES
    return Vectors(samples.dense()) if small and isinstance(samples, OuterProducts) else samples


SAMPLES: dict[str, Any] = {"OuterProducts": OuterProducts, "Vectors": Vectors}
"""Kinds of samples that may wait for the warm-up, by the names that they are kept under."""


def unpack_samples(given: Given, shape: tuple[int, ...]) -> Any:
    """Return the samples that were packed, of either kind.

    Parameters
    ----------
    given : Given
        What a file has of them.
    shape : tuple of int
        Of one sample.

    Raises
    ------
    ValueError
        Samples of another shape, or none at all.
    """
    samples = SAMPLES[given.number("kind", str, among=SAMPLES)].unpack(given)
    if samples.feature_shape != shape:
        raise given.wrong("shape", str(samples.feature_shape), str(shape))
    return samples

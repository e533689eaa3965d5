"""Plain vectors, with the operations that product features have."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_array

from flymotion.models.packing import Given, Packed

__all__ = ["Vectors", "in_float64_if_needed", "in_usual_range", "largest", "power_of_two", "signed", "to_numpy"]

UNLIKE = 500
"""Ratio of the energies of units, or of components, from which float32 does not tell the weakest from rounding: its
outputs are off by about the power 3/2 of the ratio, times the rounding of float32, 6e-8."""

USUAL = (1e-6, 1e6)
"""Norms of samples between which float32 holds sums of products of three of them, of billions of samples."""


class Vectors:
    """Plain vectors, shape (n_samples, n_features), with the operations of outer products."""

    def __init__(self, x: Any) -> None:
        self.x = x

    @property
    def xp(self) -> Any:
        """The array-API namespace of the vectors."""
        return array_namespace(self.x)

    @property
    def shape(self) -> tuple[int, int]:
        """``(n_samples, n_features)``."""
        return (int(self.x.shape[0]), int(self.x.shape[1]))

    @property
    def feature_shape(self) -> tuple[int]:
        """Shape of one sample."""
        return (int(self.x.shape[1]),)

    @property
    def dtype(self) -> Any:
        """Precision of the vectors."""
        return self.x.dtype

    @property
    def device(self) -> Any:
        """Where the vectors are."""
        return device(self.x)

    @property
    def arrays(self) -> tuple[Any]:
        """What they are held as."""
        return (self.x,)

    @property
    def peak(self) -> float:
        """No norm of a sample is above it; NaN or infinity if any number is."""
        return largest(self.x) * math.sqrt(self.shape[1])

    def __len__(self) -> int:
        return int(self.x.shape[0])

    def __getitem__(self, rows: Any) -> Vectors:
        """Return the samples of these rows."""
        return Vectors(self.x[rows])

    def astype(self, dtype: Any) -> Vectors:
        """Return the samples in another precision."""
        return self if dtype == self.dtype else Vectors(self.xp.astype(self.x, dtype))

    def to_numpy(self) -> Vectors:
        """Return the samples as a numpy array on the CPU."""
        return Vectors(to_numpy(self.x))

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the samples of again, as a numpy array."""
        return {"kind": "Vectors"}, {"x": to_numpy(self.x)}

    @classmethod
    def unpack(cls, given: Given) -> Vectors:
        """Return the samples that were packed."""
        return cls(given.array("x", None, None))

    @staticmethod
    def concatenate(parts: list[Vectors]) -> Vectors:
        """Join samples end to end."""
        return Vectors(parts[0].xp.concat([p.x for p in parts]))

    def project(self, filters: Any) -> Any:
        """Inner products with filters, shape (K, n_features); returns shape (n_samples, K)."""
        return self.x @ filters.T

    def gram(self, other: Vectors | None = None) -> Any:
        """Inner products of the samples with each other or with others; shape (n_samples, n_others)."""
        return self.x @ (self if other is None else other).x.T

    def accumulate(self, theta: Any) -> Any:
        """Sum of ``theta_tk x_t`` over the samples, for theta (n_samples, K); returns shape (K, n_features)."""
        return theta.T @ self.x

    def norms(self) -> Any:
        """Euclidean norm of each vector, shape (n_samples,)."""
        return self.xp.sqrt(self.xp.vecdot(self.x, self.x))

    def dense(self) -> Any:
        """Return the vectors themselves, shape (n_samples, n_features)."""
        return self.x

    def factors(self) -> tuple[Any, Any]:
        """Return the vectors as outer products with 1, shapes (n_samples, 1, 1) and (n_samples, 1, n_features)."""
        return self.xp.ones_like(self.x[:, None, :1]), self.x[:, None, :]


def largest(array: Any) -> float:
    """Return the largest absolute value; NaN if any is, and 0 of nothing."""
    if math.prod(array.shape) == 0:
        return 0.0
    return max(float(array.max()), -float(array.min()))


def in_usual_range(samples: Any) -> bool:
    """Say whether the precision of samples holds the products that learning makes of them."""
    return samples.dtype == samples.xp.float64 or USUAL[0] < samples.peak < USUAL[1]


def in_float64_if_needed(samples: Any) -> Any:
    """Return samples in float64 where their own precision does not hold the products that learning makes of them."""
    return samples if in_usual_range(samples) else samples.astype(samples.xp.float64)


def power_of_two(number: float) -> float:
    """Return the power of two near a positive number, to divide by without rounding."""
    return 2.0 ** round(math.log2(number))


def signed(rows: np.ndarray) -> np.ndarray:
    """Return rows, shape (n_rows, m), with the signs that make the largest entry of each positive."""
    largest = np.take_along_axis(rows, np.abs(rows).argmax(axis=1)[:, None], axis=1)
    return rows * np.where(largest < 0, -1.0, 1.0)


def to_numpy(array: Any) -> np.ndarray:
    """Return any array as a numpy one, on the CPU."""
    return array if is_numpy_array(array) else np.asarray(array.detach().cpu() if hasattr(array, "detach") else array)

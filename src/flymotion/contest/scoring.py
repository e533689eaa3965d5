r"""How learners are measured, all alike, whatever their outputs mean.

Outputs have no names of their own. Labels of pairs to learn from give them some, after learning: each output, over its
root mean square, is given to the way to move in which its mean is largest, an output with a sign as two opposite ones.
Outputs with a level of their own, as probabilities, are taken from that level first. Means and readouts are of outputs
whose largest and least hundredth are brought in: magnitudes that are quotients, as of reconstruction, have no mean.
New pairs are then named by the output that answers most.

==================  ====================================================================================================
``match``           for each parameter of the motion, the largest :math:`|\cos|` of a filter with the analytic generator
``span``            for each parameter, the share of the generator that lies in the span of the filters, as a cosine
``found``           ways whose new pairs are named right more often than half-way between chance and always
``accuracy``        share of the new pairs that are named right; those to which all outputs answer alike are not
``velocity``        correlation of a linear readout of all outputs (ridge regression) with the motion, mean over them
``accuracy_other``  accuracy on content of quite another kind
==================  ====================================================================================================
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flymotion.generators.analytic import cosine

__all__ = ["NAMED", "Naming", "ReadOut", "captured", "correlation", "matched", "odd_parts", "recalled"]

RIDGE = 1e-3
"""Of the readout, relative to the variance of an output."""

UNUSUAL = 0.01
"""Share of outputs, at either end, that are brought in where means are taken."""

NAMED = 0.9
"""Accuracy that pairs are counted until."""


def odd_parts(filters: np.ndarray) -> np.ndarray:
    """Return antisymmetric parts, shape (..., n, n): of filters onto the next frame, what is not the frame itself."""
    return (filters - filters.swapaxes(-1, -2)) / 2


def matched(filters: np.ndarray, analytic: np.ndarray) -> np.ndarray:
    """Return the largest size of a cosine of any filter, shape (K, n, n), with each operator, (p, n, n); shape (p,)."""
    return np.abs(cosine(filters[:, None], analytic)).max(axis=0)


def captured(filters: np.ndarray, analytic: np.ndarray) -> np.ndarray:
    """Return the cosine of each operator, shape (p, n, n), with the nearest in the span of filters; shape (p,)."""
    flat, known = (each.reshape(len(each), -1) for each in (filters, analytic))
    _, sizes, basis = np.linalg.svd(flat, full_matrices=False)
    basis = basis[sizes > 1e-10 * sizes.max(initial=0.0)]
    norms = np.linalg.norm(known, axis=1)
    return np.linalg.norm(known @ basis.T, axis=1) / np.maximum(norms, 1e-300)


def usual(outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return from where to where all but a hundredth of outputs, shape (n_pairs, n_outputs), are at either end.

    Of an output that is hardly ever another than the same, all are.
    """
    low, high = np.quantile(outputs, [UNUSUAL, 1 - UNUSUAL], axis=0)
    return np.where(low < high, low, -np.inf), np.where(low < high, high, np.inf)


class Naming(NamedTuple):
    """Which way each output stands for."""

    level: np.ndarray
    """What is taken from each output, shape (n_outputs,)."""
    scale: np.ndarray
    """Root mean square of each after that."""
    way: np.ndarray
    """Of each, and of the opposite of each that has a sign."""
    signed: bool

    @classmethod
    def of(
        cls, outputs: np.ndarray, way: np.ndarray, n_ways: int, *, signed: bool = False, baseline: bool = False
    ) -> Naming:
        """Give outputs, shape (n_pairs, n_outputs), to the ways, shape (n_pairs,), in which they are largest.

        With ``baseline`` the mean of each output is taken from it first.
        """
        outputs = np.clip(outputs, *usual(outputs))
        level = outputs.mean(axis=0) if baseline else np.zeros(outputs.shape[1])
        size = np.sqrt(np.mean((outputs - level) ** 2, axis=0))
        naming = cls(level, np.where(size > 0, size, 1.0), np.zeros(0, dtype=int), signed)
        each = naming._channels(outputs)
        means = np.stack([each[way == k].mean(axis=0) if (way == k).any() else 0 * each[0] for k in range(n_ways)])
        return naming._replace(way=means.argmax(axis=0))

    def __call__(self, outputs: np.ndarray) -> np.ndarray:
        """Return the way that each pair is named, shape (n_pairs,); -1 where all outputs are alike."""
        each = self._channels(outputs)
        return np.where(each.max(axis=1) > each.min(axis=1), self.way[each.argmax(axis=1)], -1)

    def _channels(self, outputs: np.ndarray) -> np.ndarray:
        scaled = (outputs - self.level) / self.scale
        return np.hstack([scaled, -scaled]) if self.signed else scaled


class ReadOut(NamedTuple):
    """Ridge regression of the motion on outputs."""

    usual: tuple[np.ndarray, np.ndarray]
    """Least and largest of each output that is taken as it is, shape (n_outputs,) each."""
    mean: np.ndarray
    weights: np.ndarray
    """Shape (n_outputs, p)."""
    constant: np.ndarray

    @classmethod
    def of(cls, outputs: np.ndarray, motion: np.ndarray) -> ReadOut:
        """Fit it to outputs, shape (n_pairs, n_outputs), and motions, shape (n_pairs, p)."""
        limits = usual(outputs)
        outputs = np.clip(outputs, *limits)
        mean, constant = outputs.mean(axis=0), motion.mean(axis=0)
        scale = outputs.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        z = (outputs - mean) / scale
        moment = z.T @ z / len(z) + RIDGE * np.eye(z.shape[1])
        weights = np.linalg.solve(moment, z.T @ (motion - constant) / len(z))
        return cls(limits, mean, weights / scale[:, None], constant)

    def __call__(self, outputs: np.ndarray) -> np.ndarray:
        """Return the motion read out, shape (n_pairs, p)."""
        return (np.clip(outputs, *self.usual) - self.mean) @ self.weights + self.constant


def recalled(names: np.ndarray, way: np.ndarray, n_ways: int) -> int:
    """Count the ways whose pairs are named right more often than half-way between chance and always."""
    shares = [np.mean(names[way == k] == k) if (way == k).any() else 0.0 for k in range(n_ways)]
    return int(np.sum(np.array(shares) > (1 + 1 / n_ways) / 2))


def correlation(found: np.ndarray, motion: np.ndarray) -> float:
    """Return the correlation of motions found with true ones, both (n_pairs, p), mean over p; 0 where none is found."""
    a, b = found - found.mean(axis=0), motion - motion.mean(axis=0)
    inner, norms = (a * b).sum(axis=0), np.linalg.norm(a, axis=0) * np.linalg.norm(b, axis=0)
    return float(np.mean(np.divide(inner, norms, out=np.zeros_like(norms), where=norms > 0)))

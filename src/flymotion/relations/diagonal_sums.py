r"""Sums of the outer product of two frames along its diagonals, one unit a displacement (Section 2.2).

:math:`y_d = \sum_i x_{t,i} \, x_{t+1,i+d}` is largest where content has moved by d pixels; nothing is learned. "The
velocity of the object is given by the most active neuron."
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from flymotion.frames import FramePairs
from flymotion.relations.pair_learner import PairLearner
from flymotion.similarity.samples import check_counts

__all__ = ["DiagonalSums"]


class DiagonalSums(PairLearner):
    """One unit a displacement: the correlation of the frame before with the frame after, moved back.

    Its synapses are fixed, and equal: each unit has to be wired to the pairs of pixels that are its displacement apart.

    Parameters
    ----------
    reach : int, optional
        Largest displacement, in every dimension [pixels]; by default all that two pixels of the eye are apart.
    cyclic : bool
        Whether the frame's opposite borders are neighbours.

    Attributes
    ----------
    displacements_ : ndarray, shape (n_outputs, n_dims)
        Of the content, one a unit, (x right, y down) [pixels per frame]; frames of a grid, known by their shape or
        their eye, have two dimensions, all others one.
    generators_ : ndarray, shape (n_outputs, n_pixels, n_pixels)
        The shifted diagonals, of ones.

    Notes
    -----
    Sums along diagonals far from the main one have few terms, and none is divided by their number.

    References
    ----------
    Memisevic, ICCV 2011; Bahroun, Sengupta & Chklovskii, NeurIPS 2019, Section 2.2.

    Examples
    --------
    >>> import numpy as np
    >>> movie = np.array([[0.0, 1.0, 2.0, 0.0], [0.0, 0.0, 1.0, 2.0]])
    >>> pairs = FramePairs(movie[:1], movie[1:])
    >>> DiagonalSums(1).fit_transform(pairs)
    array([[0., 2., 5.]])
    >>> DiagonalSums(1).fit(pairs).velocities(pairs)
    array([[1.]])
    """

    def __init__(self, reach: int | None = None, *, cyclic: bool = False) -> None:
        self.reach = reach
        self.cyclic = cyclic

    def _check_parameters(self) -> None:
        if self.reach is not None:
            check_counts(reach=self.reach)
        if not isinstance(self.cyclic, bool | np.bool_):
            raise ValueError(f"cyclic is {self.cyclic!r}; expected True or False")

    def _checked(self, X: Any, *, reset: bool) -> tuple[np.ndarray, np.ndarray]:
        before, after = super()._checked(X, reset=reset)
        if reset:
            self.frame_shape_ = X.as_seen().pixels
            self._check_reach()
        return before, after

    def _check_reach(self) -> None:
        largest = max(self.frame_shape_) - 1
        if self.reach is not None and self.reach > max(largest, 1):
            raise ValueError(f"reach is {self.reach}; expected at most {largest}, for frames of {self.frame_shape_}")

    def _fit(self, before: np.ndarray, after: np.ndarray) -> None:
        sides = [n - 1 if self.reach is None else min(self.reach, n - 1) for n in self.frame_shape_]
        self._steps = list(itertools.product(*(range(-side, side + 1) for side in sides)))
        self.displacements_ = np.array(self._steps, dtype=float)[:, ::-1]

    def _transform(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        x, y = (frames.reshape(len(frames), *self.frame_shape_) for frames in (before, after))
        pixels = tuple(range(1, x.ndim))
        return np.stack([(one * other).sum(axis=pixels) for one, other in self._displaced(x, y)], axis=1)  # Sec. 2.2

    def _displaced(self, x: np.ndarray, y: np.ndarray) -> Any:
        """Yield, for each unit, what of both arrays (n, *pixels) lies a displacement apart."""
        for step in self._steps:
            if self.cyclic:
                yield x, np.roll(y, [-d for d in step], axis=tuple(range(1, x.ndim)))
            else:
                sides = list(zip(self.frame_shape_, step, strict=True))
                first = tuple(slice(max(0, -d), n - max(0, d)) for n, d in sides)
                then = tuple(slice(max(0, d), n + min(0, d)) for n, d in sides)
                yield x[:, *first], y[:, *then]

    def velocities(self, X: FramePairs) -> np.ndarray:
        """Return the displacement of the most active unit, shape (n_pairs, n_dims) [pixels per frame].

        Raises
        ------
        ValueError
            As ``transform``.
        """
        return self.displacements_[np.argmax(self.transform(X), axis=1)]

    @property
    def generators_(self) -> np.ndarray:
        """The shifted diagonals, shape (n_outputs, n_pixels, n_pixels); row i = weights onto the next frame."""
        check_is_fitted(self)
        numbers = np.arange(self.n_features_in_).reshape(1, *self.frame_shape_)
        found = np.zeros((len(self._steps), self.n_features_in_, self.n_features_in_))
        for diagonal, (source, target) in zip(found, self._displaced(numbers, numbers), strict=True):
            diagonal[target.ravel(), source.ravel()] = 1.0
        return found

    @property
    def _n_features_out(self) -> int:
        return len(self._steps)

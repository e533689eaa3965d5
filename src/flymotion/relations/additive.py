r"""Units that add two frames instead of multiplying them: the paper's OR, as a control (Section 2.2).

:math:`y_a = u_a \cdot x_t + v_a \cdot x_{t+1}`: "summing the outputs of the two filters amounts to applying an OR
operation to them which does not selectively respond to translation".
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils.validation import check_is_fitted

from flymotion.frames import FramePairs
from flymotion.relations.pair_learner import PairLearner
from flymotion.similarity.rivals import OuterProductPCA
from flymotion.similarity.samples import check_counts

__all__ = ["AdditiveUnits", "end_to_end"]


def end_to_end(pairs: FramePairs) -> np.ndarray:
    """Return both frames of pairs, one after the other, shape (n_pairs, 2 * n_pixels)."""
    flat = pairs.flat()
    return np.concatenate([flat.before, flat.after], axis=1)


class AdditiveUnits(PairLearner):
    """The best linear filters of both frames end to end, their principal components; with a threshold, an OR.

    Each synapse needs to know its pixel and, to be learned by Oja's rule, the output of its unit alone where there is
    one unit, and of all where there are more (Eq. 2).

    Parameters
    ----------
    n_components : int
        Units K; at most 2 n_pixels.
    threshold : float, optional
        What an output has to exceed, in standard deviations of the pairs learned from; it answers with the excess,
        and 0 below. By default units are linear.

    Attributes
    ----------
    components_ : ndarray, shape (n_components, 2 * n_pixels)
        Filters on the frame before, and on the frame after.
    thresholds_ : ndarray, shape (n_components,)
        In the unit of the outputs; minus infinity for linear units.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(50, 4))
    >>> AdditiveUnits(2).fit_transform(FramePairs(x[:-1], x[1:])).shape
    (49, 2)
    """

    def __init__(self, n_components: int = 2, *, threshold: float | None = None) -> None:
        self.n_components = n_components
        self.threshold = threshold

    def _check_parameters(self) -> None:
        check_counts(n_components=self.n_components)
        if self.threshold is not None and not (isinstance(self.threshold, Real) and np.isfinite(float(self.threshold))):
            raise ValueError(
                f"threshold is {self.threshold!r}; expected a finite number of standard deviations, or None"
            )

    def _fit(self, before: np.ndarray, after: np.ndarray) -> None:
        if self.n_components > 2 * before.shape[1]:
            raise ValueError(
                f"n_components is {self.n_components}; expected at most {2 * before.shape[1]}, two frames' pixels"
            )
        both = np.concatenate([before, after], axis=1)
        self.components_ = OuterProductPCA(self.n_components).fit(both).components_
        spread = (both @ self.components_.T).std(axis=0)
        self.thresholds_ = (
            spread * float(self.threshold) if self.threshold is not None else np.full_like(spread, -np.inf)
        )

    def _transform(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        outputs = np.concatenate([before, after], axis=1) @ self.components_.T
        linear = np.isneginf(self.thresholds_).all()
        return outputs if linear else np.maximum(outputs - self.thresholds_, 0)

    @property
    def _n_features_out(self) -> int:
        check_is_fitted(self)
        return len(self.components_)

r"""Similarity matching, plain (SM) and nonnegative (NSM): the paper's learners, exact, blocked and streaming.

Both are an :class:`~flymotion.similarity.online.OnlineNetwork` on the same :class:`~flymotion.similarity.state.State`.
"""

from __future__ import annotations

import numpy as np

from flymotion.similarity.online import OnlineNetwork
from flymotion.similarity.vectors import signed

__all__ = ["NonnegativeSimilarityMatching", "SimilarityMatching"]


class SimilarityMatching(OnlineNetwork):
    r"""Similarity matching (SM), Eqs. 12, 15-18: a network that finds the principal subspace with local rules.

    Parameters
    ----------
    n_components : int
        Number of units K.
    forgetting : float
        Factor in (0, 1] by which the past counts less with every sample. 1 is the paper's averaging (Eq. 18); less
        is the constant rate ``1 - forgetting`` of Section 1.1.
    n_passes : int
        Passes over the samples in ``fit``.
    warm_up : int, optional
        Samples that the start is taken from (:mod:`flymotion.similarity.initialisation`); by default ten times the
        features, from 500 to 5000, or fewer where they are large.
    init : array-like, shape (n_components, n_features), optional
        Initial W, instead of a warm-up.
    init_strength : float
        Initial That of a given ``init``.
    max_sweeps : int
        Most sweeps of the inner problem of a sample.

    Attributes
    ----------
    W_, M_ : ndarray, shapes (K, n_features) and (K, K)
        Synapses (Eqs. 16, 17). Rows of SM's W are mixtures of components.
    components_ : ndarray, shape (K, n_features)
        ``U' R^-1 S``, with U the eigenvectors of R, largest first: principal components, signed by their largest entry.
    generators_ : ndarray, shape (K, n_u, n_v)
        The components as matrices, for outer products.
    S_, R_, n_samples_seen_, dead_units_
        The state, and units that no sample has made active.

    Notes
    -----
    Data are not centred: the mean of chi is signal (Suppl. B).

    Parameters may be changed between calls of ``partial_fit``: ``forgetting`` and ``max_sweeps`` count from then on,
    those of the start (``warm_up``, ``init``, ``init_strength``) and ``n_passes`` at the next ``fit``; another
    ``n_components`` than was learned is an error until then.

    References
    ----------
    Bahroun, Sengupta & Chklovskii, NeurIPS 2019; Pehlevan, Hu & Chklovskii, Neural Computation 2015.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(1000, 3)) * [3.0, 1.0, 0.1]
    >>> SimilarityMatching(1).fit(X).components_.round(1) + 0.0
    array([[1., 0., 0.]])
    """

    _nonnegative = False

    @property
    def components_(self) -> np.ndarray:
        """Principal components, largest first, shape (n_components, n_features); 0 for unused units."""
        R = self.R_
        S = self.S_.reshape(len(R), -1)
        values, vectors = np.linalg.eigh(R)
        used = values > 1e-12 * values.max()
        scale = np.divide(1.0, values, out=np.zeros_like(values), where=used)
        return signed((scale[:, None] * (vectors.T @ S))[::-1])


class NonnegativeSimilarityMatching(OnlineNetwork):
    r"""Nonnegative similarity matching (NSM), Eqs. 14-18: one unit for each direction of motion, or each cluster.

    Parameters
    ----------
    n_components, forgetting, n_passes, warm_up, init, init_strength, max_sweeps
        As in :class:`SimilarityMatching`.

    Attributes
    ----------
    W_, M_ : ndarray, shapes (K, n_features) and (K, K)
        Synapses (Eqs. 16, 17).
    components_ : ndarray, shape (K, n_features)
        The rows of W, the filters of Fig. 2d.
    generators_ : ndarray, shape (K, n_u, n_v)
        The rows of W as matrices, for outer products.
    S_, R_, n_samples_seen_, dead_units_
        The state, and units that no sample has made active.

    References
    ----------
    Bahroun, Sengupta & Chklovskii, NeurIPS 2019; Pehlevan & Chklovskii, Asilomar 2014.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(1000, 1)) * [[1.0, 0.0]]
    >>> np.sort(NonnegativeSimilarityMatching(2).fit(X).components_, axis=0).round() + 0.0
    array([[-1.,  0.],
           [ 1.,  0.]])
    """

    _nonnegative = True

    @property
    def components_(self) -> np.ndarray:
        """The rows of W, shape (n_components, n_features)."""
        return self.W_

"""The reconstruction network (Eqs. 1-2): its rule, its theorems, and what it leads to."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import subspace_angles

from flymotion.similarity import OuterProducts
from flymotion.similarity.optima import offline_sm, reconstruction_error
from flymotion.similarity.rivals import OuterProductPCA, ReconstructionNetwork


def vectors(n_samples=200, n=6, seed=0):
    return np.random.default_rng(seed).standard_normal((n_samples, n)) * np.linspace(2.0, 0.2, n)


def settled(W, x, *, dt=0.1):
    """Integrate Eq. 2, left; W as the paper has it, (n, m)."""
    y = np.zeros(W.shape[1])
    while np.abs(change := W.T @ x - W.T @ W @ y).max() > 1e-12:
        y += dt * change
    return y


def test_learning_is_equation_2_sample_by_sample():
    X, W, eta = vectors(20), np.random.default_rng(1).standard_normal((6, 3)), 0.05
    learner = ReconstructionNetwork(3, learning_rate=eta, init=W.T).fit(X)
    for x in X:
        y = settled(W, x)
        W = W + eta * np.outer(x - W @ y, y)
    assert_allclose(learner.components_, W.T, rtol=1e-8, atol=1e-8)
    assert_allclose(learner.gramian_, W.T @ W, rtol=1e-8, atol=1e-8)
    assert_allclose(learner.transform(X[:1])[0], settled(W, X[0]), rtol=1e-8, atol=1e-8)


def test_what_is_left_over_is_orthogonal_so_weights_never_shrink():
    """Normal equations of least squares: a step adds eta^2 |x - W'y|^2 y y' to the lateral matrix."""
    x = vectors(1)
    learner = ReconstructionNetwork(3, learning_rate=0.3, random_state=0).fit(vectors())
    before, y = learner.gramian_, learner.transform(x)[0]
    left = x[0] - y @ learner.components_
    expected = before + 0.3**2 * (left @ left) * np.outer(y, y)
    assert_allclose(learner.partial_fit(x).gramian_, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_from_random_starts_it_comes_to_the_principal_subspace(seed):
    X = vectors(2000, seed=seed)
    learner = ReconstructionNetwork(2, learning_rate=0.1, n_passes=20, random_state=seed).fit(X)
    principal = OuterProductPCA(2).fit(X).components_
    assert subspace_angles(learner.components_.T, principal.T).max() < np.radians(5)
    assert -learner.score(X) < 1.01 * np.linalg.eigvalsh(X.T @ X / len(X))[:-2].sum()


def test_closed_form_is_the_least_error_and_shares_its_outputs_with_similarity_matching():
    """Eckart-Young: Eq. 1 and Eq. 12 have the same outputs at their optima, up to a linear map."""
    X = vectors()
    theta = offline_sm(X @ X.T, 2)
    W = np.linalg.lstsq(theta, X)[0]
    least = np.linalg.eigvalsh(X.T @ X)[:-2].sum()
    assert reconstruction_error(theta, X, W) == pytest.approx(least, rel=1e-10)
    turned = np.random.default_rng(0).standard_normal((2, 2))
    assert reconstruction_error(theta @ np.linalg.inv(turned), X, turned @ W) == pytest.approx(least, rel=1e-10)
    literal = sum(x @ x - 2 * x @ W.T @ y + y @ W @ W.T @ y for x, y in zip(X, theta, strict=True))  # Eq. 1, right
    assert reconstruction_error(theta, X, W) == pytest.approx(literal, rel=1e-10)


def test_the_unit_of_the_samples_does_not_matter():
    X = vectors()
    one, other = (ReconstructionNetwork(2, random_state=0).fit(size * X) for size in (1.0, 255.0))
    assert_allclose(other.components_, 255 * one.components_, rtol=1e-9)
    assert_allclose(other.transform(255 * X), one.transform(X), rtol=1e-9, atol=1e-12)


def test_samples_of_nothing_leave_it_waiting():
    learner = ReconstructionNetwork(2, random_state=0).partial_fit(np.zeros((5, 6)))
    assert not learner.components_.any()
    assert learner.n_samples_seen_ == 0
    expected = ReconstructionNetwork(2, random_state=0).fit(vectors()).components_
    assert_allclose(learner.partial_fit(vectors()).components_, expected)


@pytest.mark.parametrize(
    ("how", "match"),
    [
        ({"learning_rate": 0.0}, r"learning_rate is 0.0; expected a rate in \(0, 1\]"),
        ({"learning_rate": np.nan}, "learning_rate is nan"),
        ({"n_components": 0}, "n_components is 0"),
        ({"init": np.ones((2, 5))}, r"init has shape \(2, 5\)"),
    ],
)
def test_parameters_out_of_range_are_refused(how, match):
    with pytest.raises(ValueError, match=match):
        ReconstructionNetwork(**how).fit(vectors())


def test_outer_products_are_refused():
    with pytest.raises(ValueError, match="X holds outer products; expected plain vectors"):
        ReconstructionNetwork().fit(OuterProducts(np.ones((4, 2)), np.ones((4, 2))))

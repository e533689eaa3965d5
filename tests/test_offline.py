"""Offline optima: the theorems about Eqs. 3, 4, 12-14, and descent as an independent road to them."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from flymotion.claims.offline_online.saddles import _growth, _slowest
from flymotion.similarity.features import OuterProducts
from flymotion.similarity.optima import (
    cross_term,
    descend,
    lyapunov,
    lyapunov_slopes,
    offline_sm,
    optimal_synapses,
    similarity_objective,
)
from flymotion.similarity.rivals import OuterProductPCA


def samples(n_samples=60, n=4, seed=0):
    rng = np.random.default_rng(seed)
    return OuterProducts(rng.normal(size=(n_samples, n)), rng.normal(size=(n_samples, n)))


def outputs(n_samples=60, n_components=3, seed=1):
    return np.random.default_rng(seed).normal(size=(n_samples, n_components))


def literal_objective(chi, theta):
    """Right side of Eq. 12."""
    n_samples = len(chi)
    return sum((chi[t] @ chi[s] - theta[t] @ theta[s]) ** 2 for t in range(n_samples) for s in range(n_samples)) / (
        n_samples**2
    )


def test_objective_is_equation_12():
    chi, theta = samples(12), outputs(12)
    assert similarity_objective(chi.gram(), theta) == pytest.approx(literal_objective(chi.dense(), theta), rel=1e-12)


def test_offline_optimum_leaves_the_trailing_eigenvalues():
    """Eckart-Young: the least error of rank K is the energy of the other eigenvalues."""
    gram = samples().gram()
    trailing = np.linalg.eigvalsh(gram)[:-3]
    least = (trailing**2).sum() / len(gram) ** 2
    assert similarity_objective(gram, offline_sm(gram, 3)) == pytest.approx(least, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_descent_from_anywhere_reaches_the_eigensolution(seed):
    gram = samples().gram()
    least = similarity_objective(gram, offline_sm(gram, 3))
    assert similarity_objective(gram, descend(gram, outputs(seed=seed))) == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_descent_does_not_depend_on_the_scale_of_the_samples(scale):
    gram = samples().gram()
    found = descend(scale * gram, np.sqrt(scale) * outputs())
    np.testing.assert_allclose(found / np.sqrt(scale), descend(gram, outputs()), atol=1e-4)


def test_nonnegative_descent_is_stationary_and_no_better_than_the_eigensolution():
    """Karush-Kuhn-Tucker: the gradient of Eq. 14 is 0 where an output is positive, and not negative where it is 0."""
    gram = samples().gram()
    start = np.abs(outputs())
    theta = descend(gram, start, nonnegative=True)
    gradient = 4 * (theta @ theta.T - gram) @ theta
    assert theta.min() == 0
    scale = np.abs(gram @ theta).max()
    assert np.abs(gradient[theta > 0]).max() < 1e-4 * scale
    assert gradient.min() > -1e-4 * scale
    objective = similarity_objective(gram, theta)
    assert similarity_objective(gram, offline_sm(gram, 3)) < objective < similarity_objective(gram, start)


def test_nonnegative_descent_clusters_clusters():
    """Blocks of equal similarity are one output each: the exact minimum of Eq. 14 is 0 there."""
    membership = np.repeat(np.eye(3), 8, axis=0)
    found = descend(membership @ membership.T, membership + 0.1 * np.abs(outputs(24)), nonnegative=True)
    np.testing.assert_allclose(found, membership, atol=1e-4)


def test_unfinished_descent_warns_and_leaves_its_start_alone():
    start = outputs()
    kept = start.copy()
    with pytest.warns(ConvergenceWarning, match="after 1 iterations"):
        descend(samples().gram(), start, max_iter=1)
    np.testing.assert_array_equal(start, kept)


def test_nothing_to_match_gives_no_output():
    np.testing.assert_allclose(descend(np.zeros((6, 6)), np.zeros((6, 2))), 0)
    np.testing.assert_array_equal(offline_sm(np.zeros((6, 6)), 2), 0)


def test_more_outputs_than_the_rank_of_the_samples_are_zero():
    chi = samples(30, n=1)
    theta = offline_sm(chi.gram(), 3)
    np.testing.assert_array_equal(theta[:, 1:], 0)
    assert similarity_objective(chi.gram(), theta) == pytest.approx(0, abs=1e-12)


def test_filters_of_the_optimum_are_the_principal_components():
    chi = samples()
    W, M = optimal_synapses(offline_sm(chi.gram(), 3), chi)
    filters = W.reshape(3, -1) / np.diag(M)[:, None]  # Eq. 16
    components = OuterProductPCA(3).fit(chi).components_
    signs = np.sign((filters * components).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(filters * signs, components, atol=1e-9)


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("theta", [outputs(), offline_sm(samples().gram(), 3)], ids=["any", "optimum"])
def test_max_min_form_equals_the_objective(theta, plain):
    """Eq. 12 = |G|^2 / T^2 + 2 / T min_W max_M Eq. 4."""
    chi = [samples(), samples().dense()][plain]
    gram, n_samples = samples().gram(), len(theta)
    W, M = optimal_synapses(theta, chi)
    value = (gram**2).sum() / n_samples**2 + 2 / n_samples * lyapunov(theta, chi, W, M)
    assert value == pytest.approx(similarity_objective(gram, theta), rel=1e-10)


def test_cross_term_equals_its_maximum():
    """Both sides of Eq. 13."""
    chi, theta = samples(), outputs()
    left = ((theta @ theta.T) * chi.gram()).sum() / len(theta) ** 2
    assert cross_term(theta, chi, optimal_synapses(theta, chi)[0]) == pytest.approx(left, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_optimal_synapses_are_a_saddle(seed):
    chi, theta = samples(), outputs()
    W, M = optimal_synapses(theta, chi)
    rng = np.random.default_rng(seed)
    other_W, other_M = W + 0.1 * rng.normal(size=W.shape), M + 0.1 * rng.normal(size=M.shape)
    assert lyapunov(theta, chi, W, other_M) < lyapunov(theta, chi, W, M) < lyapunov(theta, chi, other_W, M)
    assert cross_term(theta, chi, other_W) < cross_term(theta, chi, W)


def test_outputs_of_the_optimum_are_the_networks_response_to_it():
    """At the optimum over everything, Eq. 4's outputs are M^-1 W chi (Eq. 5 at rest)."""
    chi = samples()
    theta = offline_sm(chi.gram(), 3)
    W, M = optimal_synapses(theta, chi)
    np.testing.assert_allclose(np.linalg.solve(M, chi.project(W).T).T, theta, atol=1e-9)


@pytest.mark.parametrize("plain", [False, True])
def test_slopes_are_the_derivatives_of_equation_4(plain):
    chi = [samples(8), samples(8).dense()][plain]
    rng, theta = np.random.default_rng(3), outputs(8)
    W, M = optimal_synapses(outputs(8, seed=2), chi)
    M = M + M.T
    arguments = [theta, W, M]
    for i, slope in enumerate(lyapunov_slopes(theta, chi, W, M)):
        step = 1e-6 * rng.normal(size=slope.shape)
        step = step + step.T if i == 2 else step
        up, down = ([a + sign * step if j == i else a for j, a in enumerate(arguments)] for sign in (1, -1))
        change = lyapunov(up[0], chi, *up[1:]) - lyapunov(down[0], chi, *down[1:])
        assert change == pytest.approx(2 * (slope * step).sum(), rel=1e-5)


def test_the_maximum_over_lateral_synapses_may_not_come_first():
    """At the optimum's M, Eq. 4 falls when the first component goes into the second output, and W follows."""
    chi = samples()
    theta = offline_sm(chi.gram(), 2)
    W, M = optimal_synapses(theta, chi)
    other = theta + 0.1 * np.outer(theta[:, 0], [0.0, 1.0])
    assert lyapunov(other, chi, W, M) > lyapunov(theta, chi, W, M)
    assert lyapunov(other, chi, optimal_synapses(other, chi)[0], M) < lyapunov(theta, chi, W, M)
    assert lyapunov(other, chi, *optimal_synapses(other, chi)) > lyapunov(theta, chi, W, M)


@pytest.mark.parametrize("ratio", [0.9, 0.5, 0.05])
def test_lateral_synapses_may_lag_only_so_far(ratio):
    """Just above and just below the rate of M at which pushes from the optimum begin to grow; at W's rate none does."""
    values, least = np.array([2.0, 2 * ratio, 0.1 * ratio]), (1 - ratio) ** 2 / (1 + ratio**2)
    assert _growth(values, 2, 1.01 * least) < 1e-6 < _growth(values, 2, 0.99 * least)
    assert _growth(values, 2, 1.0) < 1e-6
    assert _slowest(values, 2) == pytest.approx(least, rel=0.01)

"""The algebra of the product features (Suppl. A, C14): on any frames, not only those of a world."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from flymotion.claims import product_features
from flymotion.claims.running import run
from flymotion.frames import FramePairs
from flymotion.similarity.features import outer_products

N = 6


@pytest.fixture
def pairs():
    """Frames of independent random pixels, which no motion relates."""
    return FramePairs(*np.random.default_rng(0).normal(size=(2, 40, N)))


def dense(pairs, feature):
    return outer_products(pairs, feature).dense().reshape(-1, N, N)


def test_paper_less_midpoint_is_minus_half_the_changes_product(pairs):
    dx = pairs.after - pairs.before
    expected = -np.einsum("ti,tj->tij", dx, dx) / 2
    assert_allclose(dense(pairs, "change") - dense(pairs, "midpoint"), expected, atol=1e-12)


@pytest.mark.parametrize("feature", ["change", "midpoint"])
def test_antisymmetric_is_chi_less_its_transpose(pairs, feature):
    """Eq. 25, exactly: what the paper has to the first order."""
    chi = dense(pairs, feature)
    assert_allclose(dense(pairs, "antisymmetric"), chi - chi.swapaxes(1, 2), atol=1e-12)


@pytest.mark.parametrize(("feature", "odd"), [("midpoint", True), ("antisymmetric", True), ("change", False)])
def test_only_the_papers_feature_is_not_odd_in_time(pairs, feature, odd):
    chi, back = dense(pairs, feature), dense(pairs.reversed(), feature)
    assert (np.abs(chi + back).max() < 1e-12) == odd


def test_rows_name_each_feature_and_the_paper_is_beside_them():
    config = product_features.Config(n_seeds=1)
    rows = {row.id: row for row in product_features.check(run(product_features.work(config)), config)}
    assert {"C14.odd_midpoint", "C14.odd_antisymmetric"} < set(rows)
    assert all(row.holds is not False for row in rows.values())
    assert rows["C14.odd_paper_large"].value > 10 * rows["C14.odd_paper"].value > 1e-4

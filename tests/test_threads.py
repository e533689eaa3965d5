"""BLAS has one thread while any thread of ours is inside, and as many as before when the last one has left."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from flymotion.similarity.features import OuterProducts
from flymotion.similarity.initialisation import warm_start
from flymotion.similarity.networks import NonnegativeSimilarityMatching
from flymotion.similarity.threads import one_thread
from flymotion.similarity.vectors import Vectors


def n_threads():
    return {pool["num_threads"] for pool in ThreadpoolController().info() if pool["user_api"] == "blas"}


@pytest.fixture
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


def test_the_first_one_in_sets_it_and_the_last_one_out_sets_it_back(two_threads):
    first, second = one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert n_threads() == {1}
    second.__exit__(None, None, None)
    assert n_threads() == {2}


def test_an_error_inside_sets_it_back(two_threads):
    with pytest.raises(ZeroDivisionError), one_thread():
        _ = 1 / 0
    assert n_threads() == {2}


def of_many_entries(seed):
    """Learn where a block's Gram matrix costs less than its features."""
    u, v = np.random.default_rng(seed).standard_normal((2, 300, 70))
    NonnegativeSimilarityMatching(2, warm_up=50, init=np.ones((2, 4900))).fit(OuterProducts(u, v))


def one_sided(seed):
    """Start from K-means clusters, which scikit-learn limits BLAS for, too."""
    warm_start(Vectors(np.abs(np.random.default_rng(seed).standard_normal((100, 6)))), 3, nonnegative=True)


@pytest.mark.parametrize("work", [of_many_entries, one_sided])
def test_three_threads_that_learn_at_a_time_leave_it_as_it_was(two_threads, work):
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(6)))
    assert n_threads() == {2}

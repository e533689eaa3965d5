"""What every estimator promises: functions of one that is not yet fitted, and of ``make(seed=0, dtype=float)``.

``make`` makes samples: plain vectors, outer products, frames, or pairs of frames. ``test_estimators.py`` says which
checks run over which estimators and samples.
"""

import inspect
import io
import itertools
import pickle
import re
import warnings

import joblib
import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from flymotion.frames import FramePairs
from flymotion.similarity.features import OuterProducts

EXACTLY = {"rtol": 1e-9, "atol": 1e-9}


def arrays(samples):
    """Return the arrays that samples, or outputs, consist of."""
    match samples:
        case OuterProducts(u=u, v=v):
            return u, v
        case FramePairs(before=before, after=after):
            return before, after
    return (samples,)


def mapped(samples, function):
    """Apply a function to each array that samples consist of."""
    match samples:
        case OuterProducts(u=u, v=v):
            return OuterProducts(function(u), function(v))
        case FramePairs():
            return samples.map(function)
    return function(samples)


def learned(estimator):
    """Return all numbers that an estimator has to show, by name; those of a named tuple by its fields."""
    names = [name for name in dir(estimator) if name.endswith("_") and not name.startswith("_")]
    shown = {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}
    parts = {name: value._asdict() if hasattr(value, "_asdict") else {"": value} for name, value in shown.items()}
    values = {name + field: np.array(part) for name, some in parts.items() for field, part in some.items()}
    return {name: value for name, value in values.items() if value.dtype.kind in "biuf"}


def assert_same(found, expected, *, rtol=0.0, atol=0.0):
    """Compare what was learned; atol is relative to the largest number of each attribute."""
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        largest = np.abs(value.astype(float)).max(initial=0, where=np.isfinite(value))
        assert_allclose(found[name], value, rtol=rtol, atol=atol * largest, err_msg=name)


def assert_same_arrays(found, expected, **tolerance):
    for one, other in zip(arrays(found), arrays(expected), strict=True):
        assert_allclose(one, other, **({"rtol": 0} | tolerance))


# Of any samples


def what_is_handed_in_is_left_as_it_was(estimator, make):
    samples = mapped(make(), lambda array: array.setflags(write=False) or array)
    estimator.fit(samples).transform(samples)
    for call in {"partial_fit", "partial_fit_transform", "score", "predict"} & set(dir(estimator)):
        getattr(estimator, call)(samples)
    assert_same_arrays(samples, make())


def outputs_are_in_memory_of_their_own(estimator, make):
    samples = make()
    outputs = estimator.fit(samples).transform(samples)
    for one, other in itertools.product(arrays(outputs), arrays(samples)):
        assert not np.shares_memory(one, other)


def same_samples_same_result_and_the_global_stream_left_alone(estimator, make):
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the global stream is what must not move
    one, other = (clone(estimator).fit(make()) for _ in range(2))
    assert_same(learned(one), learned(other))
    assert_same_arrays(one.transform(make()), other.transform(make()))
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002 - as above


def fit_forgets_what_was_learned_before(estimator, make):
    expected = clone(estimator).fit(make())
    assert_same(learned(estimator.fit(make(seed=1)).fit(make())), learned(expected))


def fit_transform_is_fit_then_transform(estimator, make):
    expected = clone(estimator).fit(make()).transform(make())
    assert_same_arrays(estimator.fit_transform(make()), expected, **EXACTLY)


def transform_never_learns(estimator, make):
    kept = learned(estimator.fit(make()))
    estimator.transform(make(seed=1))
    assert_same(learned(estimator), kept)


def answers_do_not_depend_on_how_the_samples_are_cut(estimator, make):
    whole, parts = (clone(estimator).fit(make()) for _ in range(2))
    samples, expected = make(), arrays(whole.transform(make()))
    found = [arrays(parts.transform(samples[rows])) for rows in (slice(7), slice(7, 8), slice(8, None))]
    for pieces, one in zip(zip(*found, strict=True), expected, strict=True):
        assert_allclose(np.concatenate(pieces), one, **EXACTLY)


def a_kept_estimator_answers_bit_by_bit(estimator, make):
    estimator.fit(make())
    joblib.dump(estimator, file := io.BytesIO())
    copies = pickle.loads(pickle.dumps(estimator)), joblib.load(file)
    expected = estimator.transform(make())
    for other in copies:
        assert_same(learned(other), learned(estimator))
        assert_same_arrays(other.transform(make()), expected)


def a_clone_is_new_and_learns_the_same(estimator, make):
    twin = clone(estimator.fit(make()))
    with pytest.raises(NotFittedError):
        twin.transform(make())
    assert_same(learned(twin.fit(make())), learned(estimator))


def float32_agrees(estimator, make):
    single, double = (clone(estimator).fit(make(dtype=t)).transform(make(dtype=t)) for t in (np.float32, np.float64))
    for one, other in zip(arrays(single), arrays(double), strict=True):
        assert_allclose(one, other, rtol=1e-5, atol=1e-5 * np.abs(other).max())


def float32_stays_float32(estimator, make):
    for outputs in arrays(estimator.fit(make(dtype=np.float32)).transform(make(dtype=np.float32))):
        assert outputs.dtype == np.float32


def unsigned_integers_never_wrap(estimator, make):
    for dtype, n in ((np.uint8, 256), (np.uint16, 65536), (np.bool_, 2)):
        whole = mapped(make(), lambda array, to=dtype, n=n: ((300 * np.abs(array)).astype(int) % n).astype(to))
        wide = mapped(whole, lambda array: array.astype(float))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # given filters that such samples all oppose
            one, other = clone(estimator).fit(whole), clone(estimator).fit(wide)
        assert_same(learned(one), learned(other))
        assert_same_arrays(one.transform(whole), other.transform(wide))


def of_longer_floats_float64_is_made(estimator, make):
    longer = mapped(make(), lambda array: array.astype(np.longdouble))
    expected = clone(estimator).fit(make())
    assert_same(learned(estimator.fit(longer)), learned(expected))
    for outputs, others in zip(arrays(estimator.transform(longer)), arrays(expected.transform(make())), strict=True):
        assert outputs.dtype == np.float64
        assert outputs.shape == others.shape


CALLS = {"fit", "partial_fit", "partial_fit_transform", "transform", "fit_transform", "score", "predict"}


def calls_of(estimator, *but):
    return sorted((CALLS - set(but)) & set(dir(estimator)))


def assert_refused(estimator, call, samples, match):
    """Refuse samples by a word of why, before anything changes."""
    kept = learned(estimator)
    with pytest.raises(ValueError, match=match):
        getattr(estimator, call)(samples)
    assert_same(learned(estimator), kept)


SIZES = (1e-30, 1e-12, 1e12, 1e30)


def scaled(samples, size):
    """Scale samples by a size, of products each factor by its root."""
    by = size ** (1 / len(arrays(samples))) if isinstance(samples, OuterProducts) else size
    return mapped(samples, lambda array: (by * array.astype(np.float64)).astype(array.dtype))


def samples_of_any_size_leave_it_finite(estimator, make):
    for size, dtype in itertools.product(SIZES, (np.float32, np.float64)):
        other, samples = clone(estimator), scaled(make(dtype=dtype), size)
        outputs = other.fit(samples).transform(samples)
        for array in (*learned(other).values(), *arrays(outputs)):
            assert np.isfinite(array).all(), (size, dtype)


def samples_too_large_are_refused_before_any_change(estimator, make):
    estimator.fit(make())
    for call in calls_of(estimator):
        assert_refused(estimator, call, scaled(make(), 1e100), "up to 1e|up to 2e|up to [3-9]e")


def read_only_maps_of_files_do_for_samples_and_for_what_was_learned(estimator, make, folder):
    expected = clone(estimator).fit(make())
    for name, thing in (("learned", expected), ("samples", arrays(make()))):
        joblib.dump(thing, folder / name)
    kept, parts = (joblib.load(folder / name, mmap_mode="r") for name in ("learned", "samples"))
    found = iter(parts)
    samples = mapped(make(), lambda _: next(found))
    assert_same(learned(kept), learned(expected))
    assert_same_arrays(kept.transform(samples), clone(expected).fit(make()).transform(make()))
    assert_same(learned(kept.fit(samples)), learned(expected))


# Parameters after learning

OTHER = {
    "n_components": 2,
    "n_clusters": 2,
    "forgetting": 0.9,
    "learning_rate": 0.2,
    "n_passes": 2,
    "warm_up": 50,
    "init": None,
    "init_strength": 2.0,
    "max_sweeps": 50,
    "n_init": 1,
    "n_starts": 5,
    "max_iter": 5,
    "random_state": 1,
    "half_saturation": 0.7,
    "regularization": 0.3,
    "floor": 0.02,
    "pool": 0.5,
    "eye": (3, 2),
    "level": 0.2,
    "kind": "gaussian",
    "decay": 0.3,
    "ordered": True,
    "amnesic": 4.0,
    "block_size": 7,
    "b0": 1.0,
    "gamma": 1.5,
    "tau": 0.4,
    "solver": "alternating",
    "feature": "midpoint",
    "nonnegative": True,
    "ridge": 0.2,
    "sparsity": 0.1,
    "tol": 1e-3,
}
"""Other values of all parameters that an estimator may have; a new one has to be added here, or is a KeyError."""

LEARNED_WITH = {"n_components", "n_clusters", "regularization", "floor", "pool", "eye", "feature", "nonnegative"}
"""Parameters that make part of what is learned: to change them afterwards is an error, until the next fit."""


def another_parameter_that_was_learned_with_is_refused(estimator, make):
    for name in LEARNED_WITH & set(estimator.get_params()):
        other = clone(estimator).fit(make())
        expected, names = learned(other), other.get_feature_names_out().tolist()
        other.set_params(**{name: OTHER[name]})
        assert other.get_feature_names_out().tolist() == names
        for call in calls_of(other, "fit", "fit_transform"):
            assert_refused(other, call, make(), f"{name} is .* has learned with")
        assert_same(learned(other), expected)
        assert_same(learned(other.set_params(**{name: estimator.get_params()[name]})), expected)
        other.transform(make())


def numbers_of_numpy_do_for_parameters(estimator, make):
    """Whole numbers and others as grids of parameters have them, or as were read from arrays."""
    given = {k: v for k, v in estimator.get_params().items() if type(v) in (int, float)}
    others = clone(estimator).set_params(**{k: np.array([v])[0] for k, v in given.items()})
    expected = learned(estimator.fit(make()))
    assert_same(learned(others.fit(make())), expected)
    for call in calls_of(others, "fit", "fit_transform", "predict"):
        getattr(others, call)(make())


def any_other_parameter_may_change(estimator, make):
    for name in set(estimator.get_params()) - LEARNED_WITH:
        other = clone(estimator).fit(make())
        expected, outputs = learned(other), arrays(other.transform(make()))
        other.set_params(**{name: OTHER[name]})
        for call in calls_of(other, "fit", "fit_transform"):
            getattr(other, call)(make())
        assert {key: np.shape(value) for key, value in learned(other).items()} == {
            key: np.shape(value) for key, value in expected.items()
        }
        for one, expected_one in zip(arrays(other.transform(make())), outputs, strict=True):
            assert one.shape == expected_one.shape


ANY = [
    of_longer_floats_float64_is_made,
    samples_too_large_are_refused_before_any_change,
    another_parameter_that_was_learned_with_is_refused,
    numbers_of_numpy_do_for_parameters,
    any_other_parameter_may_change,
    what_is_handed_in_is_left_as_it_was,
    outputs_are_in_memory_of_their_own,
    same_samples_same_result_and_the_global_stream_left_alone,
    fit_forgets_what_was_learned_before,
    fit_transform_is_fit_then_transform,
    transform_never_learns,
    answers_do_not_depend_on_how_the_samples_are_cut,
    a_kept_estimator_answers_bit_by_bit,
    a_clone_is_new_and_learns_the_same,
    float32_agrees,
    unsigned_integers_never_wrap,
]


# Of samples without a frame after: vectors, outer products, frames


def outputs_have_names(estimator, make):
    outputs = estimator.fit(make()).transform(make())
    names = estimator.get_feature_names_out().tolist()
    assert len(set(names)) == len(names) == outputs.shape[1]
    assert estimator.n_features_in_ == make().shape[1]


def fit_to_nothing_is_an_error(estimator, make):
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        estimator.fit(make()[:0])


def nothing_is_answered_before_fit(estimator, make):
    for call in {"transform", "score", "predict"} & set(dir(estimator)):
        with pytest.raises(NotFittedError):
            getattr(estimator, call)(make())


def another_size_is_refused_by_both_numbers(estimator, make):
    wide = mapped(make(), lambda array: np.concatenate([array, array], axis=-1))
    (_, n), (_, more), name = make().shape, wide.shape, type(estimator).__name__
    estimator.fit(make())
    for call in {"partial_fit", "transform", "score", "predict"} & set(dir(estimator)):
        with pytest.raises(ValueError, match=rf"{more} features.*{name} is expecting {n} features"):
            getattr(estimator, call)(wide)


def what_is_not_finite_is_refused_before_any_change(estimator, make):
    kept = learned(estimator.fit(make()))
    calls = {"fit", "partial_fit", "partial_fit_transform", "transform", "score", "predict"} & set(dir(estimator))
    for call, value in itertools.product(calls, (np.nan, np.inf, -np.inf)):
        samples = make()
        arrays(samples)[0][5, ..., 2] = value
        with pytest.raises(ValueError, match=r"NaN|infinity") as refused:
            getattr(estimator, call)(samples)
        assert isinstance(samples, np.ndarray) or "sample 5" in str(refused.value)
    assert_same(learned(estimator), kept)


def masked_samples_are_refused(estimator, make):
    X = arrays(make())[0]
    hidden = np.ma.array(X, mask=X > np.median(X))
    estimator.fit(make())
    for call, samples in itertools.product(calls_of(estimator), (hidden, np.ma.array(X), list(hidden))):
        assert_refused(estimator, call, mapped(make(), lambda _, to=samples: to), "masked")


PLAIN = [
    outputs_have_names,
    fit_to_nothing_is_an_error,
    nothing_is_answered_before_fit,
    another_size_is_refused_by_both_numbers,
    what_is_not_finite_is_refused_before_any_change,
]


VIEWS = {
    "list": np.ndarray.tolist,
    "fortran": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 2, axis=0)[::2],
    "reversed": lambda a: np.ascontiguousarray(a[:, ::-1])[:, ::-1],
    "big-endian": lambda a: a.astype(">f8"),
    "int64": lambda a: a.astype(np.int64),
    "int16": lambda a: a.astype(np.int16),
    "float16": lambda a: a.astype(np.float16),
    "object": lambda a: a.astype(object),
    "DataFrame": pandas.DataFrame,
}


def layout_and_container_do_not_matter(estimator, make):
    X = np.round(20 * make())
    expected = clone(estimator).fit(X)
    for view in VIEWS.values():
        found = clone(estimator).fit(view(X))
        assert_same(learned(found), learned(expected), **EXACTLY)
        assert_allclose(clone(estimator).fit(X).transform(view(X)), clone(estimator).fit(X).transform(X), **EXACTLY)


SHAPES = r"^([\w, ]+) : ndarray, shapes? (\(.*?\))(?: and (\(.*?\)))?"


def attributes_have_the_shapes_of_the_docstring(estimator, make):
    """Those of functions, methods and properties are in ``test_documented_shapes.py``."""
    samples, shape = make(), getattr(estimator.fit(make()), "feature_shape_", ())
    sizes = dict(zip(("n_samples", "n_features"), samples.shape, strict=True)) | {"n_pixels": samples.shape[1], "K": 3}
    sizes |= dict(zip(("n_u", "n_v"), shape, strict=False))
    for names, *shapes in re.findall(SHAPES, inspect.getdoc(type(estimator)), re.MULTILINE):
        for name, text in itertools.zip_longest(names.split(", "), filter(None, shapes), fillvalue=shapes[0]):
            found = getattr(estimator, name, None)
            assert found is None or np.shape(found) == eval(text, {}, sizes), name


# Of what learns from samples


def nothing_has_no_outputs(estimator, make):
    outputs = estimator.fit(make()).transform(make())
    assert estimator.transform(make()[:0]).shape == (0, outputs.shape[1])


def torch_tensors_give_the_numbers_of_numpy(estimator, make):
    torch = pytest.importorskip("torch")
    tensors, expected = mapped(make(), torch.from_numpy), clone(estimator).fit(make())
    assert_same(learned(estimator.fit(tensors)), learned(expected), **EXACTLY)
    assert_allclose(estimator.transform(tensors), expected.transform(make()), **EXACTLY)
    assert estimator.score(tensors) == pytest.approx(expected.score(make()), rel=1e-9)


def a_large_offset_costs_float32_nothing(estimator, make):
    """Samples that differ by a thousandth of what they share: computed in float32, they would be rounding."""
    for offset in (1e2, 1e3):
        narrow = mapped(make(dtype=np.float32), lambda array, by=offset: array + np.float32(by))
        wide = mapped(narrow, lambda array: array.astype(np.float64))
        one, other = clone(estimator).fit(narrow), clone(estimator).fit(wide)
        assert_same(learned(one), learned(other), rtol=1e-3, atol=1e-3)
        assert_allclose(one.transform(narrow), other.transform(wide), atol=1e-3 * np.abs(other.transform(wide)).max())


LEARNING = [nothing_has_no_outputs, torch_tensors_give_the_numbers_of_numpy]


def outer_products_give_the_numbers_of_chi_written_out(estimator, make):
    chi = make()
    dense, factored = clone(estimator).fit(chi.dense()), estimator.fit(chi)
    for name, expected in (learned(dense) | {"feature_shape_": np.array([4, 3])}).items():
        assert_allclose(np.reshape(getattr(factored, name), expected.shape), expected, err_msg=name, **EXACTLY)
    assert_allclose(factored.transform(chi), dense.transform(chi.dense()), **EXACTLY)
    assert factored.score(chi) == pytest.approx(dense.score(chi.dense()), rel=1e-9)


def only_outer_products_have_generators(estimator, make):
    filters = estimator.fit(make()).generators_
    assert filters.shape == (3, *make().feature_shape)
    with pytest.raises(AttributeError, match="only for"):
        _ = clone(estimator).fit(make().dense()).generators_


def as_many_features_otherwise_arranged_are_refused(estimator, make):
    estimator.fit(make())
    calls = {"partial_fit", "transform", "score", "predict"} & set(dir(estimator))
    for call, other in itertools.product(calls, (make().dense(), OuterProducts(np.ones((9, 2)), np.ones((9, 6))))):
        with pytest.raises(ValueError, match=r"12 features \((12,|2, 6)\), but .* is expecting 12 features \(4, 3\)"):
            getattr(estimator, call)(other)


PRODUCTS = [
    outer_products_give_the_numbers_of_chi_written_out,
    only_outer_products_have_generators,
    as_many_features_otherwise_arranged_are_refused,
]


# Of what learns from a stream


def batches_give_the_state_of_fit(estimator, make):
    samples, expected = make(), learned(clone(estimator).fit(make()))
    for size in (1, 7, 70):
        other = clone(estimator)
        for start in range(0, len(samples), size):
            other.partial_fit(samples[start : start + size])
        assert_same(learned(other), expected, rtol=1e-10, atol=1e-11)


def a_kept_estimator_learns_on_bit_by_bit(estimator, make):
    for n_before in (30, len(make())):
        other = clone(estimator).partial_fit(make()[:n_before])
        kept = pickle.loads(pickle.dumps(other))
        assert_same(learned(kept.partial_fit(make())), learned(other.partial_fit(make())))


def a_buffer_used_again_for_the_next_batch_does_no_harm(estimator, make):
    expected = learned(clone(estimator).fit(make()))
    for start in range(0, len(make()), 30):
        buffer = make()[start : start + 30]
        estimator.partial_fit(buffer)
        mapped(buffer, lambda array: array.__imul__(0))
    assert_same(learned(estimator), expected, rtol=1e-10, atol=1e-11)


def a_read_only_map_of_a_file_learns_on(estimator, make, folder):
    expected = clone(estimator).fit(make())
    joblib.dump(expected, folder / "learned")
    kept = joblib.load(folder / "learned", mmap_mode="r")
    assert_same(learned(kept.partial_fit(make())), learned(expected.partial_fit(make())))


def forgetting_counts_from_when_it_was_set(estimator, make):
    one = clone(estimator).set_params(forgetting=1.0).fit(make()).set_params(forgetting=0.5)
    before = one.R_
    one.partial_fit(make())
    assert np.trace(one.R_) < np.trace(before)


def torch_tensors_are_learned_in_batches(estimator, make):
    torch = pytest.importorskip("torch")
    tensors, expected = mapped(make(), torch.from_numpy), learned(clone(estimator).fit(make()))
    estimator.partial_fit(tensors[:40]).partial_fit(tensors[40:])
    assert_same(learned(estimator), expected, rtol=1e-10, atol=1e-11)


STREAM = [
    batches_give_the_state_of_fit,
    a_kept_estimator_learns_on_bit_by_bit,
    a_buffer_used_again_for_the_next_batch_does_no_harm,
    forgetting_counts_from_when_it_was_set,
    torch_tensors_are_learned_in_batches,
]


# Of stages of early vision, on pairs


def pairs_keep_motion_and_names(estimator, make):
    seen = estimator.fit_transform(make())
    assert_array_equal(seen.motion, make().motion)
    assert seen.names == make().names


def pairs_keep_the_shape_of_their_frames(estimator, make):
    seen, flat = (clone(estimator).fit_transform(pairs) for pairs in (make(), make().flat()))
    assert seen.pixels == make().pixels
    assert_array_equal(seen.flat().after, flat.after)


def pairs_are_fitted_on_their_first_frames(estimator, make):
    before = make().flat().before
    still = estimator.fit(make()).transform(FramePairs(before, before))
    assert_allclose(still.before, clone(estimator).fit_transform(before), rtol=1e-12, atol=1e-12)


def time_reversal_swaps_the_frames_and_nothing_else(estimator, make):
    estimator.fit(make())
    forth, back = estimator.transform(make()), estimator.transform(make().reversed())
    assert_array_equal(back.before, forth.after)
    assert_array_equal(back.after, forth.before)


def pairs_are_their_frames_transformed(estimator, make):
    seen = estimator.fit_transform(make()).flat()
    assert_allclose(seen.before, clone(estimator).fit_transform(make().flat().before), rtol=1e-12, atol=1e-12)
    assert_allclose(seen.after, estimator.transform(make().flat().after), rtol=1e-12, atol=1e-12)


def the_unit_of_intensity_does_not_matter(estimator, make):
    expected = clone(estimator).fit_transform(make())
    for scale in (255.0, 1e-6):
        scaled = clone(estimator).fit_transform(mapped(make(), lambda frames, by=scale: by * frames))
        assert_same_arrays(scaled, expected, rtol=1e-9, atol=1e-12)

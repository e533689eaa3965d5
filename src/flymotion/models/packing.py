"""Objects packed as numbers, arrays and parts, and what a file gives of them, checked.

An object packs itself: ``pack()`` returns its numbers, anything that JSON holds, by name, and its arrays, by name.
Those of its parts go under their names: numbers in a dict of their own, arrays with a dot between, as ``network.S``.
Its class unpacks it: ``unpack(given)`` asks a :class:`Given` for each by name, says what it expects, and gets it or a
ValueError. What nobody has asked for is an error too (:meth:`Given.finish`), so that nothing unknown passes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["Given", "ModelError", "Packed", "brief", "inputs_of", "packed", "restore_inputs", "seed_of"]

Packed = tuple[dict[str, Any], dict[str, np.ndarray]]
"""Numbers and arrays of an object, its parts' among them."""

FLOATS = ("float64", "float32")
"""Types that arrays have where nothing else is said."""

LARGEST_COUNT = 2**62
"""Largest whole number, but of seeds: one that leaves room to count on."""

LARGEST_SEED = 2**256
"""Random numbers are drawn from seeds of any size; these are more than anyone needs."""

LARGEST = 1e150
"""Numbers whose products are finite, too."""

CHECKED = 2**16
"""Numbers of an array checked at a time, so that checking takes no memory to speak of."""

KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


class ModelError(ValueError):
    """A model file that cannot be read or written; names the file and the reason.

    Examples
    --------
    >>> from flymotion import load
    >>> load("missing.model")
    Traceback (most recent call last):
    flymotion.models.packing.ModelError: missing.model: no such file
    """


def packed(numbers: Mapping[str, Any], arrays: Mapping[str, np.ndarray | None] | None = None, **parts: Any) -> Packed:
    """Return what an object packs: its own numbers and arrays, and those of its parts.

    Parameters
    ----------
    numbers : mapping of str to number, text, bool, None, or lists of them
        By name.
    arrays : mapping of str to ndarray or None
        By name; None is left out.
    **parts : object with ``pack``, None, or list of such objects
        By name; None is kept as such.

    Examples
    --------
    >>> numbers, arrays = packed({"sigma": 0.5}, {"weights": np.eye(2), "mean": None})
    >>> numbers, list(arrays)
    ({'sigma': 0.5}, ['weights'])
    """
    all_numbers = dict(numbers)
    all_arrays = {name: array for name, array in (arrays or {}).items() if array is not None}
    for name, part in parts.items():
        among = part if isinstance(part, list) else [part]
        for one in among:
            if one is not None and not hasattr(one, "pack"):
                raise ValueError(f"{name} is a {type(one).__name__}, which cannot be kept")
        each = [(None, {}) if one is None else one.pack() for one in among]
        all_numbers[name] = [own for own, _ in each] if isinstance(part, list) else each[0][0]
        for i, (_, own) in enumerate(each):
            path = f"{name}.{i}" if isinstance(part, list) else name
            all_arrays |= {f"{path}.{inner}": array for inner, array in own.items()}
    return all_numbers, all_arrays


class Given:
    """What a file gives of one object, to be asked for by name; everything once.

    Parameters
    ----------
    numbers : dict
        Of the object, its parts' in dicts of their own, as from JSON.
    arrays : mapping of str to array
        Of the object and its parts: anything with a ``dtype``, a ``shape`` and, as ``numpy.asarray`` asks for it,
        content, which is not looked at before type and shape are right.
    path : str
        The object's name, with a dot at its end, for errors.

    Raises
    ------
    ValueError
        In every method: something that is missing, unknown, or other than expected; in one sentence.

    Examples
    --------
    >>> given = Given({"n": 7, "sigma": -1.0}, {})
    >>> given.number("n", int)
    7
    >>> given.number("sigma", float, least=0)
    Traceback (most recent call last):
    ValueError: sigma is -1.0; expected a number of 0 or more
    """

    def __init__(self, numbers: Any, arrays: Mapping[str, Any], path: str = "") -> None:
        if not isinstance(numbers, dict):
            raise ValueError(f"{path[:-1] or 'the model'} is {brief(numbers)}; expected numbers by name")
        self._numbers = dict(numbers)
        self._arrays = dict(arrays)
        self._path = path
        self._parts: list[Given] = []

    # -- numbers -----------------------------------------------------------------------------------------------------

    def number(
        self,
        name: str,
        kind: type = float,
        *,
        least: float = -math.inf,
        most: float = math.inf,
        among: Iterable[Any] = (),
        optional: bool = False,
    ) -> Any:
        """Return a number, text or truth value.

        Parameters
        ----------
        name : str
            Its name.
        kind : {int, float, bool, str}
            What it is; a whole number will do for a float, and stays one.
        least, most : float
            Its limits.
        among : iterable
            All that it may be; anything, if empty.
        optional : bool
            Whether None will do.
        """
        value = self._of_numbers(name)
        if value is None and optional:
            return None
        options = list(among)
        if _is(value, kind, least, most) and (not options or value in options):
            return value
        raise self.wrong(name, brief(value), _in_words(kind, least, most, options, optional))

    def seed(self, name: str, *, optional: bool = False) -> Any:
        """Return a whole number that random numbers are drawn from, or None where that will do."""
        return self.number(name, int, least=0, most=LARGEST_SEED, optional=optional)

    def sizes(self, name: str, *, optional: bool = False) -> Any:
        """Return a list of positive whole numbers as a tuple, or None where that will do."""
        value = self._of_numbers(name)
        if value is None and optional:
            return None
        if (
            isinstance(value, list)
            and 1 <= len(value) <= 32
            and all(_is(size, int, 1, LARGEST_COUNT) for size in value)
        ):
            return tuple(value)
        raise self.wrong(name, brief(value), "a list of positive whole numbers")

    def feature_shape(self, n_features: int | None) -> Any:
        """Return the shape of samples of so many features, vectors or matrices; None where there are none."""
        shape = self.sizes("feature_shape", optional=n_features is None)
        if shape is not None and (len(shape) > 2 or math.prod(shape) != n_features):
            raise self.wrong("feature_shape", brief(list(shape)), f"one or two sizes that make {n_features} features")
        return shape

    def texts(self, name: str, *shape: int | None, optional: bool = False) -> Any:
        """Return lists of text, one in another, as tuples; a size of None may be any, as for :meth:`array`."""
        value = self._of_numbers(name)
        if value is None and optional:
            return None
        if not _nested(value, shape):
            raise self.wrong(name, brief(value), f"text in lists of {_shape_in_words(shape)}")
        return _as_tuples(value)

    # -- arrays ------------------------------------------------------------------------------------------------------

    def array(
        self,
        name: str,
        *shape: int | None,
        types: Sequence[str] = FLOATS,
        least: float = -LARGEST,
        optional: bool = False,
    ) -> Any:
        """Return an array of finite numbers, in memory of its own.

        Parameters
        ----------
        name : str
            Its name.
        *shape : int or None
            Its shape; None for any size along an axis, nothing at all for any shape.
        types : sequence of str
            Names of the types that it may have.
        least : float
            Least number in it.
        optional : bool
            Whether it may be missing; None is returned then.
        """
        if name not in self._arrays:
            if optional:
                return None
            raise ValueError(f"{self._path}{name} is missing; expected an array")
        array = self._arrays.pop(name)
        found, dtype = tuple(array.shape), str(array.dtype)
        fits = len(found) == len(shape) and all(want in (None, size) for want, size in zip(shape, found, strict=True))
        if dtype not in types or not (fits or not shape) or not found or 0 in found[1:]:
            expected = f"{' or '.join(types)}" + (f" of shape {_shape_in_words(shape)}" if shape else "")
            raise self.wrong(name, f"{dtype} of shape {found}", expected)
        content = np.array(array, copy=True, order="K")
        flat = content.reshape(-1, order="A")
        for start in range(0, flat.size, CHECKED):
            with np.errstate(invalid="ignore"):  # of NaNs that signal
                part = flat[start : start + CHECKED].astype(np.float64)
            if not ((part >= least) & (part <= LARGEST)).all():
                raise self.wrong(
                    name, "not finite, or out of range, somewhere", f"numbers from {least:g} to {LARGEST:g}"
                )
        return content

    # -- parts -------------------------------------------------------------------------------------------------------

    def has(self, name: str) -> bool:
        """Say whether there is such a number or part, None counted as none, or such an array."""
        return self._numbers.get(name) is not None or name in self._arrays

    def part(self, name: str, *, optional: bool = False) -> Any:
        """Return what is given of a part; None where there is none and that will do."""
        numbers = self._of_numbers(name)
        if numbers is None and optional:
            return None
        return self._part(name, numbers)

    def parts(self, name: str) -> list[Given]:
        """Return what is given of each part of a list."""
        numbers = self._of_numbers(name)
        if not isinstance(numbers, list):
            raise self.wrong(name, brief(numbers), "a list")
        return [self._part(f"{name}.{i}", each) for i, each in enumerate(numbers)]

    def _part(self, name: str, numbers: Any) -> Given:
        start = f"{name}."
        mine = [key for key in self._arrays if key.startswith(start)]
        part = Given(numbers, {key[len(start) :]: self._arrays.pop(key) for key in mine}, f"{self._path}{start}")
        self._parts.append(part)
        return part

    def finish(self) -> None:
        """Check that everything has been asked for, of the parts too."""
        for name in (*self._numbers, *self._arrays):
            raise ValueError(f"{brief(self._path + name)} is not known to this flymotion")
        for part in self._parts:
            part.finish()

    def _of_numbers(self, name: str) -> Any:
        if name not in self._numbers:
            raise ValueError(f"{self._path}{name} is missing")
        return self._numbers.pop(name)

    def wrong(self, name: str, found: str, expected: str) -> ValueError:
        """Return the error of something that is other than expected, both in words."""
        return ValueError(f"{self._path}{name} is {found}; expected {expected}")


def _is(value: Any, kind: type, least: float, most: float) -> bool:
    if kind in (bool, str) or isinstance(value, bool):  # which Python takes for whole numbers, too
        return type(value) is kind
    if not isinstance(value, (int, float) if kind is float else int):
        return False
    largest = LARGEST_COUNT if isinstance(value, int) else LARGEST
    return max(least, -largest) <= value <= (largest if most == math.inf else most)


def _in_words(kind: type, least: float, most: float, among: Sequence[Any], optional: bool) -> str:
    if among:
        return f"one of {', '.join(map(str, among))}"
    limits = (f" of {least:g} or more" if least > -math.inf else "") + (
        f", {most:g} at most" if most < math.inf else ""
    )
    return KINDS[kind] + limits + (" or null" if optional else "")


def _nested(value: Any, shape: Sequence[int | None]) -> bool:
    if not shape:
        return isinstance(value, str)
    right = isinstance(value, list) and shape[0] in (None, len(value))
    return right and all(_nested(each, shape[1:]) for each in value)


def _as_tuples(value: Any) -> Any:
    return value if isinstance(value, str) else tuple(map(_as_tuples, value))


def _shape_in_words(shape: Sequence[int | None]) -> str:
    return "(" + ", ".join("any" if size is None else str(size) for size in shape) + ")"


def brief(value: Any) -> str:
    """Return something from a file as it may be shown: in one short line, of characters that do nothing."""
    if isinstance(value, dict | list):
        return f"a {'dict' if isinstance(value, dict) else 'list'} of {len(value)}"
    shown = ascii(value)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."


def inputs_of(estimator: Any) -> dict[str, Any]:
    """Return what an estimator remembers of its inputs, as numbers to pack; None where it has seen none."""
    names = getattr(estimator, "feature_names_in_", None)
    return {
        "n_features_in": getattr(estimator, "n_features_in_", None),
        "feature_names_in": None if names is None else [str(name) for name in names],
    }


def restore_inputs(estimator: Any, given: Given, *, optional: bool = False) -> Any:
    """Let an estimator remember what :func:`inputs_of` returned; returns the number of features, None where allowed."""
    n = given.number("n_features_in", int, least=1, most=2**31, optional=optional)
    names = given.texts("feature_names_in", n, optional=True)
    if n is not None:
        estimator.n_features_in_ = n
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return n


def seed_of(estimator: Any) -> int | None:
    """Return the ``random_state`` of an estimator where it is a number; a generator cannot be kept."""
    given = estimator.random_state
    return int(given) if isinstance(given, int | np.integer) else None

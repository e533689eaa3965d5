"""Arguments of constructors of stimuli: those that they share are the fields of one dataclass; all are checked."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from functools import wraps
from numbers import Real
from typing import Any

import numpy as np

from flymotion.stimuli.stimulus import Stimulus
from flymotion.world.conventions import finite

__all__ = ["checked", "takes"]

Constructor = Callable[..., Stimulus]


def checked(make: Constructor) -> Constructor:
    """Let a constructor refuse numbers that are not finite, or larger than 1e50, also in sequences of them."""
    signature = inspect.signature(make)

    @wraps(make)
    def constructor(**arguments: Any) -> Stimulus:
        with np.errstate(over="ignore", invalid="ignore"):  # of numbers that are refused below
            made = make(**arguments)
        for name, value in signature.bind(**arguments).arguments.items():
            for number in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(number, Real) and not (name in ENDLESS and number == math.inf):
                    finite(**{name: float(number)})
        return made

    return constructor


ENDLESS = ("lifetime",)
"""Arguments that may be infinite."""


def takes(shared: type, *, without: Sequence[str] = (), **defaults: Any) -> Callable[[Constructor], Constructor]:
    """Let a constructor, whose first argument is of a dataclass, take the fields of that as keyword arguments.

    Parameters
    ----------
    shared : type
        The dataclass.
    without : sequence of str
        Fields that the constructor does not take.
    **defaults : Any
        Of fields that are otherwise than by default.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Place:
    ...     x: float = 0.0
    ...     y: float = 0.0
    >>> @takes(Place, y=2.0)
    ... def shown(place, *, size=1.0):
    ...     return place, size
    >>> shown(x=1.0), list(inspect.signature(shown).parameters)
    ((Place(x=1.0, y=2.0), 1.0), ['size', 'x', 'y'])
    """
    fields = [field for name, field in inspect.signature(shared).parameters.items() if name not in without]
    taken = [
        field.replace(kind=field.KEYWORD_ONLY, default=defaults.get(field.name, field.default)) for field in fields
    ]

    def decorated(make: Constructor) -> Constructor:
        _, *own = inspect.signature(make).parameters.values()
        signature = inspect.Signature([*own, *taken])

        @wraps(make)
        def constructor(**arguments: Any) -> Stimulus:
            signature.bind(**arguments)
            mine = {p.name: arguments.pop(p.name) for p in own if p.name in arguments}
            return make(shared(**defaults | arguments), **mine)

        constructor.__signature__ = signature  # type: ignore[attr-defined] # what inspect and help show
        return checked(constructor)

    return decorated

"""Arguments that constructors of stimuli share: the fields of one dataclass, which each of them takes as its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from flymotion.stimuli.stimulus import Stimulus

__all__ = ["takes"]

Constructor = Callable[..., Stimulus]


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
        return constructor

    return decorated

"""What a circuit of T4 and T5 can be asked for: its parameters, checked, and which what was learned rests on."""

from __future__ import annotations

from typing import Any

import numpy as np

from flymotion.world.compound_eyes import CompoundEye
from flymotion.world.conventions import not_below_0, positive
from flymotion.world.eyes import Hexagon

__all__ = ["LEARNED_WITH", "NUMBERS", "check_parameters"]

DECORRELATIONS, STARTS = ("learned", "surround", "none"), ("oriented", "random")

LEARNED_WITH = ("eye", "n_rings", "contrasts", "decorrelation", "half_saturation")
"""Parameters that what was learned rests on: to change them is to learn anew."""

NUMBERS = {
    "dt": float,
    "n_rings": int,
    "pooled": bool,
    "contrasts": bool,
    "decorrelation": str,
    "start": str,
    "scatter": float,
    "strength": float,
    "forgetting": float,
    "every": int,
    "half_saturation": float,
}
"""Parameters that are kept, but for the eye and the seed."""


def check_parameters(circuit: Any) -> None:
    """Check what a circuit is asked for.

    Raises
    ------
    ValueError
        A parameter out of range, or an eye without a lattice.
    """
    positive(dt=circuit.dt, strength=circuit.strength, half_saturation=circuit.half_saturation)
    not_below_0(scatter=circuit.scatter)
    for name, least in (("n_rings", 1), ("every", 1)):
        value = getattr(circuit, name)
        if not isinstance(value, (int, np.integer)) or value < least:
            raise ValueError(f"{name} is {value!r}; expected a whole number, {least} or more")
    if not 0 < circuit.forgetting <= 1:
        raise ValueError(f"forgetting is {circuit.forgetting!r}; expected more than 0, up to 1")
    for name in ("pooled", "contrasts"):
        if not isinstance(getattr(circuit, name), (bool, np.bool_)):
            raise ValueError(f"{name} is {getattr(circuit, name)!r}; expected True or False")
    if not isinstance(circuit.eye, Hexagon | CompoundEye):  # whose lattice may be too large to be worked out here
        raise ValueError(f"{type(circuit.eye).__name__} is no hexagonal lattice; expected a Hexagon or a CompoundEye")
    for name, options in (("decorrelation", DECORRELATIONS), ("start", STARTS)):
        if getattr(circuit, name) not in options:
            raise ValueError(f"{name} is {getattr(circuit, name)!r}; expected one of {', '.join(options)}")

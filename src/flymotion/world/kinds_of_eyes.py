"""Eyes by name, as files name them."""

from __future__ import annotations

from typing import Any

from flymotion.models.packing import Given
from flymotion.world.channels import TwoChannels
from flymotion.world.compound_eyes import CompoundEye
from flymotion.world.eyes import Eye, Grid, Hexagon, Line, Sphere

__all__ = ["EYES", "unpack_eye"]

EYES: dict[str, Any] = {each.__name__: each for each in (Line, Grid, Hexagon, Sphere, CompoundEye, TwoChannels)}
"""Kinds of eyes, by the names that they are kept under."""


def unpack_eye(given: Given) -> Eye:
    """Return the eye that was packed, of whatever kind.

    Raises
    ------
    ValueError
        An unknown kind, or what is no such eye.
    """
    return EYES[given.number("kind", str, among=EYES)].unpack(given)

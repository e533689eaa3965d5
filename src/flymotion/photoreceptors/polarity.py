"""Polarity: the ON and the OFF pathway."""

from __future__ import annotations

from typing import Any

import numpy as np

from flymotion.models.packing import Given, Packed, inputs_of, packed, restore_inputs
from flymotion.photoreceptors.stage import EarlyVision
from flymotion.world.channels import TwoChannels
from flymotion.world.eyes import Eye

__all__ = ["OnOff"]


class OnOff(EarlyVision):
    """Half-wave rectification into ON parts, ``max(x, 0)``, and OFF parts, ``max(-x, 0)``.

    Frames get twice the pixels, the ON parts of all of them first; pairs come back flat, and the eye that they may know
    as one of two channels, :class:`flymotion.world.TwoChannels`. The difference of the parts is the frame.

    Examples
    --------
    >>> OnOff().fit_transform([[1.0, -2.0, 0.0]])
    array([[1., 0., 0., 0., 2., 0.]])
    """

    def _fit(self, X: np.ndarray) -> None:
        """Need nothing of the frames."""

    def _transform(self, *frames: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)], axis=1) for x in frames)

    def _eye_of(self, eye: Eye | None) -> Eye | None:
        return None if eye is None else TwoChannels(eye)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of both parts of the pixels, ``x0_on``, ..., ``x0_off``, ..., shape (2 n_pixels,)."""
        names = super().get_feature_names_out(input_features)
        return np.array([f"{name}_{part}" for part in ("on", "off") for name in names], dtype=object)

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the stage of again."""
        self._check_remembered()
        return packed(inputs_of(self))

    @classmethod
    def unpack(cls, given: Given) -> OnOff:
        """Return the stage that was packed."""
        stage = cls()
        restore_inputs(stage, given)
        stage._remember()
        return stage

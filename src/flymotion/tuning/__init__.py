"""Tuning curves: what a detector answers to the classic experiments, labelled, with units."""

from __future__ import annotations

from flymotion.tuning.base import UNITS, eye_for, tune

__all__ = ["UNITS", "eye_for", "tune"]

"""A fly that watches: its circuit trained, drawn, animated, and written down."""

from __future__ import annotations

__all__: list[str] = []

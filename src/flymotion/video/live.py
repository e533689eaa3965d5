"""Cameras and streams: sources that pass only once."""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

from flymotion.video.containers import Place, read_container
from flymotion.video.reader import Mark, Source, VideoError

__all__ = ["camera_source", "is_live", "live_source", "pipe_source"]

_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://")  # two letters at least: one is a drive of Windows
_CAMERA = "camera:"


def is_live(source: Any) -> bool:
    """Return whether a source is named as a camera or a URL, and is not a file of that name."""
    named = isinstance(source, str) and (source.startswith(_CAMERA) or _URL.match(source))
    return bool(named) and not Path(source).exists()


def live_source(name: str) -> Source:
    """Return the frames of ``camera:...`` or of a URL."""
    if not name.startswith(_CAMERA):
        return _source(Place(name, name, live=True))
    return camera_source(name.removeprefix(_CAMERA), name)


def camera_source(device: str, name: str) -> Source:
    """Return the frames of a camera: its number or device; on Windows, where numbers do not do, its name.

    Raises
    ------
    VideoError
        This PyAV was built without cameras.
    """
    import av

    driver, url = {
        "darwin": ("avfoundation", device),
        "win32": ("dshow", f"video={device}"),
    }.get(sys.platform, ("v4l2", f"/dev/video{device}" if device.isdecimal() else device))
    if not any(driver in names.split(",") for names in av.formats_available):
        raise VideoError(f"{name}: this PyAV has no {driver}, which reads cameras here")
    return _source(Place(name, url, driver, live=True))


def pipe_source(path: Path) -> Source:
    """Return the frames of a named pipe."""
    return _source(Place(str(path), f"file:{path}", live=True))


def _source(place: Place) -> Source:
    return Source(place.name, partial(_read, place), None, live=True)


def _read(place: Place, start: Mark) -> Any:
    return read_container(place)  # nothing can be left out

"""Image folders, GIFs and TIFF stacks, each page a frame."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Generator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from flymotion.video.reader import REC_601, Grey, Item, Orientation, Shot, Source, VideoError

__all__ = ["folder_source", "image_source", "is_image"]

_IMAGES = {".bmp", ".gif", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp"}

_TAG = 0x0112  # of the orientation in EXIF
_ORIENTATIONS = {
    2: Orientation(columns=True),
    3: Orientation(rows=True, columns=True),
    4: Orientation(rows=True),
    5: Orientation(transposed=True),
    6: Orientation(transposed=True, columns=True),
    7: Orientation(transposed=True, rows=True, columns=True),
    8: Orientation(transposed=True, rows=True),
}


def is_image(path: Path) -> bool:
    """Return whether the name is that of an image that is not hidden."""
    return path.suffix.lower() in _IMAGES and not path.name.startswith(".")


def folder_source(path: Path) -> Source:
    """Return the images of a folder in natural order, f2 before f10."""
    files = sorted((file for file in path.iterdir() if is_image(file)), key=_natural)
    if not files:
        raise VideoError(f"{path}: the folder holds no images")
    return Source(str(path), partial(_read_images, files), len(files), timed=False)


def image_source(path: Path) -> Source:
    """Return the pages of one file."""
    return Source(str(path), partial(_read_images, [path]), _count_pages(path), timed=False)


def _natural(path: Path) -> tuple[list[str | int], str]:
    parts = re.split(r"(\d+)", path.name)
    return [int(part) if i % 2 else part.casefold() for i, part in enumerate(parts)], path.name


def _count_pages(path: Path) -> int | None:
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(path) as image:
                return getattr(image, "n_frames", 1)
        except Exception:  # whatever is wrong, reading will say it
            return None


def _read_images(files: list[Path], start: int) -> Generator[Item]:
    from PIL import Image

    number = 0
    for file in files:
        try:
            with Image.open(file) as image:
                for i in count():
                    if not _turn_to(image, i):
                        break
                    if number >= start:  # those before are only counted
                        yield Shot(number, math.nan, partial(Grey, *_read_page(image)))
                    number += 1
        except Exception as error:  # damage makes Pillow raise anything: OSError, SyntaxError, TypeError, ...
            number += 1
            yield f"{file.name}: {error}"


def _turn_to(image: Any, i: int) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns, then raises: the damage is reported once
        try:
            image.seek(i)
        except EOFError:
            return False
    return True


def _read_page(image: Any) -> Grey:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        image.load()
        orientation = _ORIENTATIONS.get(image.getexif().get(_TAG))
        if image.mode in ("L", "I", "F") or image.mode.startswith("I;16"):
            return Grey(np.array(image, dtype=np.float32), orientation=orientation)
        return Grey(np.asarray(image.convert("RGB")) @ REC_601, orientation=orientation)

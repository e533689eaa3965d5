"""Image folders, GIFs and TIFF stacks, each page a frame."""

from __future__ import annotations

import re
import warnings
from collections.abc import Generator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from flymotion.video.reader import REC_601, Grey, Item, Mark, Shot, Source, VideoError, count_time, first_number

__all__ = ["folder_source", "image_source", "is_image"]

_IMAGES = {".bmp", ".gif", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp"}


def is_image(path: Path) -> bool:
    """Return whether the name is that of an image that is not hidden."""
    return path.suffix.lower() in _IMAGES and not path.name.startswith(".")


def folder_source(path: Path, rotate: bool, rate: float | None) -> Source:
    """Return the images of a folder in natural order, f2 before f10."""
    files = sorted((file for file in path.iterdir() if is_image(file)), key=_natural)
    if not files:
        raise VideoError(f"{path}: the folder holds no images")
    return Source(str(path), partial(_read_images, files, rotate, rate), len(files), rate)


def image_source(path: Path, rotate: bool, rate: float | None) -> Source:
    """Return the pages of one file."""
    return Source(str(path), partial(_read_images, [path], rotate, rate), _count_pages(path), rate)


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


def _read_images(files: list[Path], rotate: bool, rate: float | None, start: Mark) -> Generator[Item]:
    from PIL import Image

    first, number = first_number(start, rate), 0
    for file in files:
        try:
            with Image.open(file) as image:
                for i in count():
                    if not _turn_to(image, i):
                        break
                    if number >= first:  # those before are only counted
                        page = _read_page(image, rotate)
                        yield Shot(number, count_time(number, rate), partial(Grey, page))
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


def _read_page(image: Any, rotate: bool) -> np.ndarray:
    from PIL import ImageOps

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        image.load()
        upright = ImageOps.exif_transpose(image) if rotate else image
        if upright.mode in ("L", "I", "F") or upright.mode.startswith("I;16"):
            return np.array(upright, dtype=np.float32)
        return np.asarray(upright.convert("RGB")) @ REC_601

"""Image folders, animated images and TIFF stacks, each page a frame."""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Generator
from functools import partial
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from flymotion.video.reader import REC_601, Grey, Item, Mark, Orientation, Shot, Source, VideoError
from flymotion.video.steps import MISSING, alike, rhythm

__all__ = ["check_planes", "folder_source", "image_source", "is_image", "missing_before"]

_IMAGES = {".bmp", ".gif", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp"}

_NUMBER = r"(\d+)"
_DECIMAL = r"((?<![\d.])\d+\.\d+(?!\.?\d)|\d+)"  # a decimal is one number, unless it goes on, as versions do
_AXES = (  # numbers of channels, slices and frames, as ImageJ writes them, and OME
    r"^channels=(\d+)|SizeC=\"(\d+)\"",
    r"^slices=(\d+)|SizeZ=\"(\d+)\"",
    r"^frames=(\d+)|SizeT=\"(\d+)\"",
)

_LOSSY = {"JPEG", "MPO", "WEBP"}  # formats, as Pillow names them, whose coding loses something, at least mostly

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
    """Return the images of a folder in natural order, f2 before f10; a clip ends where numbers in names have a gap."""
    files = sorted((file for file in path.iterdir() if is_image(file)), key=_natural)
    if not files:
        raise VideoError(f"{path}: the folder holds no images")
    missing = missing_before([file.name for file in files])
    n_frames = len(files) + sum(missing)
    return Source(str(path), partial(_read_images, files, missing, named=True), n_frames, timed=False, counted=True)


def image_source(path: Path) -> Source:
    """Return the pages of one file; an animated image has times, and the rate of its first page."""
    n_pages, duration = _look(path)
    read = partial(_read_images, [path], [0])
    if duration is None:
        return Source(str(path), read, n_pages, timed=False, counted=n_pages is not None)
    return Source(str(path), partial(_read_animation, path), n_pages, 1 / duration, counted=n_pages is not None)


def _natural(path: Path) -> tuple[list[str | int], str]:
    parts = re.split(r"(\d+)", path.name)
    return [int(part) if i % 2 else part.casefold() for i, part in enumerate(parts)], path.name


def missing_before(names: list[str]) -> list[int]:
    """Return how many images are missing before each, from the number that varies most in names alike.

    Examples
    --------
    >>> missing_before(["a1.png", "a2.png", "a3.png", "a6.png", "a7.png", "a8.png", "a9.png"])
    [0, 0, 0, 2, 0, 0, 0]
    >>> missing_before(["a1.png", "a2.png", "a4.png", "a6.png", "a8.png"])
    [0, 0, 0, 0, 0]
    >>> missing_before(["t0.7s.png", "t0.8s.png", "t0.9s.png", "t1.2s.png", "t1.3s.png", "t1.4s.png"])
    [0, 0, 0, 2, 0, 0]
    """
    steps = _steps(names)
    usual = rhythm([step for step in steps if step > 0])
    if usual.share < 0.5:
        return [0] * len(names)
    padded = [0, *steps, 0]
    gaps = [
        step > MISSING * usual.step and not any(other > 0 and alike(step, other) for other in (before, after))
        for before, step, after in zip(padded, steps, padded[2:], strict=False)
    ]
    return [0, *(round(step / usual.step) - 1 if gap else 0 for step, gap in zip(steps, gaps, strict=True))]


def _steps(names: list[str]) -> list[int]:
    """Return the steps from name to name, of the number that varies most; 0 where anything before it differs."""
    parts = [re.split(_DECIMAL, name) for name in names]
    digits = {len(number.partition(".")[2]) for each in parts for number in each[1::2] if "." in number}
    if len(digits) > 1:  # then 1.10 is what comes after 1.9
        parts = [re.split(_NUMBER, name) for name in names]
    numbers = [[int(number.replace(".", "")) for number in each[1::2]] for each in parts]
    texts = [each[::2] for each in parts]
    changes = [
        [after - before for before, after in zip(*some, strict=True)] if same == other else []
        for some, (same, other) in zip(pairwise(numbers), pairwise(texts), strict=True)
    ]
    varied = Counter(k for change in changes for k, step in enumerate(change) if step)
    k = min(varied, key=lambda k: (-varied[k], k), default=0)
    return [change[k] if k < len(change) and not any(change[:k]) else 0 for change in changes]


def _look(path: Path) -> tuple[int | None, float | None]:
    """Return the number of pages, and how long the first is shown [s], None where unknown; refuse channels."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(path) as image:
                check_planes(image)
                n_pages = getattr(image, "n_frames", 1)
                image.load()
                return n_pages, _shown(image) if n_pages > 1 and "duration" in image.info else None
        except VideoError as error:
            raise VideoError(f"{path}: {error}") from error
        except Exception:  # whatever else is wrong, reading will say it
            return None, None


def _shown(image: Any) -> float:
    """Return how long a page is shown [s]: a tenth of a second, as in browsers, where it does not tell."""
    return (image.info.get("duration") or 100) / 1000


def _read_animation(path: Path, start: Mark) -> Generator[Item]:
    """Yield all pages, each shown when those before have been: how long is only known once they were read."""
    time = 0.0
    for item in _read_images([path], [0], 0, _shown):
        if isinstance(item, Shot):
            yield item._replace(time=round(time, 6))
            time += item.time
        else:
            yield item


def _read_images(
    files: list[Path],
    missing: list[int],
    start: Mark,
    time: Callable[[Any], float] = lambda image: math.nan,
    *,
    named: bool = False,
) -> Generator[Item]:
    from PIL import Image

    number = 0
    for file, n_missing in zip(files, missing, strict=True):
        name = file.name if named else ""
        prefix = f"{name}: " if name else ""
        number += n_missing
        if n_missing and number > start:
            yield n_missing
        try:
            with Image.open(file) as image:
                check_planes(image)
                for i in count():
                    if not _turn_to(image, i):
                        break
                    if number >= start:  # those before are only counted
                        grey = _read_page(image)
                        yield Shot(number, time(image), partial(Grey, *grey), name, 1.0 + n_missing * (i == 0))
                    number += 1
                if i < (n_told := _largest(r"^images=(\d+)", _described(image))):
                    yield f"{prefix}has only {i} of the {n_told} images that ImageJ wrote as pages"
        except Exception as error:  # damage makes Pillow raise anything: OSError, SyntaxError, TypeError, ...
            number += 1
            yield f"{prefix}{error}"


def _turn_to(image: Any, i: int) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns, then raises: the damage is reported once
        try:
            image.seek(i)
        except EOFError:
            return False
    return True


def check_planes(image: Any) -> None:
    """Refuse what would be read as something else: pages that are channels or slices, and colours that are damaged.

    Raises
    ------
    VideoError
        Without the file's name: pages of ImageJ or OME that are not frames alone; channels of a TIFF that are neither
        grey nor colours.
    """
    tags = getattr(image, "tag_v2", {})
    samples, extra = tags.get(277, 1), tags.get(338, ())
    alpha = extra in (1, 2) or extra in ((1,), (2,))
    if samples not in (1, 3, 4) and not (samples == 2 and alpha):
        raise VideoError(f"has {samples} channels; expected 1 (grey), 3 or 4 (colours)")
    if samples > 1 and tags.get(284) == 2 and max(np.ravel(tags.get(258, 8))) > 8:
        raise VideoError("has colours of more than 8 bit in planes; save it with its colours interleaved")
    text = _described(image)
    n_channels, n_slices, n_frames = (_largest(key, text) for key in _AXES)
    if n_channels > samples or min(n_slices, n_frames) > 1:
        raise VideoError(
            f"is a stack of {n_channels} channels, {n_slices} slices and {n_frames} frames; expected one channel of "
            "frames, or of slices, alone: save each channel and slice as a stack of its own"
        )


def _described(image: Any) -> str:
    """Return what a TIFF says of itself."""
    return str(getattr(image, "tag_v2", {}).get(270, ""))


def _largest(key: str, text: str) -> int:
    return max((int(found[found.lastindex or 0]) for found in re.finditer(key, text, re.MULTILINE)), default=1)


def _read_page(image: Any) -> Grey:
    coded = image.format in _LOSSY or image.info.get("compression") == "jpeg"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        image.load()
        orientation = _ORIENTATIONS.get(image.getexif().get(_TAG))
        if image.mode in ("L", "I", "F") or image.mode.startswith("I;16"):
            white, step = 255.0 if image.mode == "L" else None, float(image.mode != "F")
            return Grey(np.array(image, dtype=np.float32), orientation=orientation, white=white, step=step, coded=coded)
        values = np.asarray(image.convert("RGB")) @ REC_601
        return Grey(values, orientation=orientation, white=255.0, step=1.0, coded=coded)

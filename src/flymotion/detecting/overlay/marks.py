"""The marks that overlays are made of, drawn into images of Pillow."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flymotion.detecting.overlay.colours import hues, legend
from flymotion.field.frame_motion import GlobalMotion

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

__all__ = ["Legend", "add_name", "add_wheel", "font", "grey", "paint_arrows", "strip_height", "tinted", "with_strip"]

DIMMED = 0.85
"""Brightness of a frame below what is drawn."""

SHADE = (0, 0, 0, 150)
"""Colour and opacity below text."""

INK = (255, 255, 255)
"""Colour of text."""

LEAST_FONT = 10
"""Size of the letters in small frames [pixels]."""

WHEEL, STRIP = 3.0, 3.4
"""Diameter of the wheel in the strip below a frame, and the strip's height, in sizes of letters."""


class Legend(NamedTuple):
    """What the strip below a frame says.

    Attributes
    ----------
    motion : GlobalMotion or None
        Of the frame; None where a clip begins.
    end : float
        Translation whose arrow reaches the rim of its circle [pixels per frame].
    time : str
        When the frame is shown.
    speed, length : float
        A speed, and how long an arrow of it is drawn [pixels]; 0 where there are no arrows.
    """

    motion: GlobalMotion | None
    end: float
    time: str = ""
    speed: float = 0.0
    length: float = 0.0


def grey(frame: np.ndarray) -> Image:
    """Return a frame, 0 to 255, as a dimmed grey image."""
    from PIL import Image

    return Image.fromarray(np.clip(np.float32(DIMMED) * frame, 0, 255).astype(np.uint8)).convert("RGB")


def tinted(image: Image, colours: np.ndarray, opacity: np.ndarray, cell: tuple[float, float]) -> Image:
    """Lay colours over an image, interpolated.

    Parameters
    ----------
    image : Image
        RGB.
    colours : ndarray, shape (3,) or (n_rows, n_columns, 3)
        0 to 1.
    opacity : ndarray, shape (n_rows, n_columns)
        0 to 1.
    cell : (float, float)
        Width and height of one of the cells that they are of [pixels of the image].
    """
    from PIL import Image

    layer = np.empty((*opacity.shape, 4), np.uint8)
    layer[..., :3] = 255 * colours
    layer[..., 3] = 255 * opacity
    size = round(layer.shape[1] * cell[0]), round(layer.shape[0] * cell[1])
    over = Image.fromarray(layer).resize(size, Image.Resampling.BILINEAR)  # premultiplied meanwhile
    image.paste(over, (0, 0), over)
    return image


def paint_arrows(draw: ImageDraw, places: np.ndarray, arrows: np.ndarray, step: float) -> None:
    """Draw arrows in the hue of their direction, with a dark rim.

    Parameters
    ----------
    draw : ImageDraw
        Where to.
    places, arrows : ndarray, shape (n, 2)
        Where each begins, and where it ends from there (x right, y down) [pixels].
    step : float
        Of the size of a large arrow: it sets the width of lines.
    """
    inks = (255 * hues(np.degrees(np.arctan2(-arrows[:, 1], arrows[:, 0])))).astype(int).tolist()
    width = max(1, round(step / 16))
    outlines = [_outlines(places, arrows, step, line) for line in (width + 2, width)]
    for ink, *(rim, inner) in zip(inks, *(zip(*parts, strict=True) for parts in outlines), strict=True):
        for (line, head), colour, wide in ((rim, (0, 0, 0), width + 2), (inner, tuple(ink), width)):
            draw.line(line, fill=colour, width=wide)
            draw.polygon(head, fill=colour)


def _outlines(places: np.ndarray, arrows: np.ndarray, step: float, width: int) -> tuple[list, list]:
    """Return the lines and the heads of arrows, as lists of coordinates."""
    lengths = np.hypot(*arrows.T)[:, None]
    along = arrows / np.maximum(lengths, 1e-9)
    across = along[:, ::-1] * (-1, 1)
    head = np.minimum(0.35 * step, 0.6 * lengths) + width / 2
    tip = places + arrows + width / 2 * along
    neck, side = tip - head * along, 0.5 * head * across
    return np.hstack([places, neck]).tolist(), np.hstack([tip, neck + side, neck - side]).tolist()


def add_name(image: Image, angle: float) -> None:
    """Write the direction that a panel shows into its corner, with an arrow."""
    from PIL.ImageDraw import Draw

    size, draw = _font_size(2 * image.height), Draw(image, "RGBA")
    text = f"{round(angle) % 360}°"
    draw.rectangle([0, 0, 2.4 * size + draw.textlength(text, font(size)), 1.7 * size], fill=SHADE)
    way = np.array([math.cos(math.radians(angle)), -math.sin(math.radians(angle))])
    middle = np.array([1.0, 0.85]) * size
    paint_arrows(draw, (middle - 0.6 * size * way)[None], 1.2 * size * way[None], 1.3 * size)
    draw.text((2 * size, 0.85 * size), text, INK, font(size), anchor="lm")


def add_wheel(image: Image) -> None:
    """Add the wheel of directions to the upper right corner."""
    size = _font_size(image.height)
    _paint_wheel(image, image.width - 4 * size - size // 2, size // 2, 4 * size)


def _paint_wheel(image: Image, left: int, top: int, diameter: int) -> None:
    from PIL import Image
    from PIL.ImageDraw import Draw

    Draw(image, "RGBA").ellipse([left - 2, top - 2, left + diameter + 1, top + diameter + 1], fill=SHADE)
    wheel = Image.fromarray(legend(diameter), "RGBA")
    image.paste(wheel, (left, top), wheel)


def strip_height(height: int) -> int:
    """Return the height of the strip below a frame of so many rows [pixels]."""
    return round(STRIP * _font_size(height))


def with_strip(image: Image, told: Legend) -> Image:
    """Return an image with a strip below, so that nothing of it is covered.

    From the left: translation as an arrow in a circle, and the motion in numbers; when the frame is shown; what length
    an arrow of some speed has; and the wheel of directions. The numbers, and the time, are left
    out where a narrow frame has no room for them.
    """
    from PIL import Image
    from PIL.ImageDraw import Draw

    size, high = _font_size(image.height), strip_height(image.height)
    whole = Image.new("RGB", (image.width, image.height + high))
    whole.paste(image, (0, 0))
    draw, middle, letters = Draw(whole), image.height + high / 2, font(size)
    _paint_translation(draw, (0.45 * high, middle), 0.4 * high, told)
    diameter = round(WHEEL * size)
    right = whole.width - diameter - (high - diameter) // 2
    _paint_wheel(whole, right, image.height + (high - diameter) // 2, diameter)
    if told.speed:
        text = f"{told.speed:g} px"
        draw.text((right - 0.6 * size, middle), text, INK, letters, anchor="rm")
        right -= round(draw.textlength(text, letters) + told.length + 1.5 * size)
        paint_arrows(draw, np.array([[right, middle]]), np.array([[told.length, 0.0]]), told.length)
    left = 0.95 * high
    for texts in (_lines(told.motion), [told.time]):
        wide = max(draw.textlength(text, letters) for text in texts)
        if left + wide < right - 0.5 * size:
            for k, text in enumerate(texts):
                draw.text((left, middle + (k - (len(texts) - 1) / 2) * 1.35 * size), text, INK, letters, anchor="lm")
            left += wide + 2 * size
    return whole


def _paint_translation(draw: ImageDraw, middle: tuple[float, float], radius: float, told: Legend) -> None:
    at = np.array(middle)
    draw.ellipse([*(at - radius), *(at + radius)], outline=(150, 150, 150))
    if told.motion is not None and math.isfinite(told.motion.x):
        arrow = np.array([told.motion.x, told.motion.y]) * radius / (told.end or 1)
        arrow *= min(1.0, radius / max(float(np.hypot(*arrow)), 1e-9))
        paint_arrows(draw, at[None], arrow[None], 0.8 * radius)


def _lines(motion: GlobalMotion | None) -> list[str]:
    if motion is None:
        return ["new clip", ""]
    x, y, rotation, looming = (f"{value:+z.{digits}f}" for value, digits in zip(motion, (2, 2, 2, 4), strict=False))
    return [f"x {x}  y {y} px", f"rot {rotation}°  loom {looming}"] if math.isfinite(motion.x) else ["no texture", ""]


def _font_size(height: int) -> int:
    return max(LEAST_FONT, round(height / 40))


@cache
def font(size: int) -> Any:
    """Return the font of all text, of a size [pixels]."""
    import matplotlib
    from PIL import ImageFont

    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"), size)

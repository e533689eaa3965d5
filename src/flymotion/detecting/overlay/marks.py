"""The marks that overlays are made of, drawn into images of Pillow."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.detecting.overlay.colours import hues, legend
from flymotion.field.frame_motion import GlobalMotion

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

__all__ = ["add_inset", "add_name", "add_wheel", "font", "grey", "paint_arrows", "tinted"]

DIMMED = 0.65
"""Brightness of a frame below what is drawn."""

SHADE = (0, 0, 0, 150)
"""Colour and opacity below text."""

LEAST_FONT = 10
"""Size of the letters in small frames [pixels]."""


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
    draw.text((2 * size, 0.85 * size), text, (255, 255, 255), font(size), anchor="lm")


def add_wheel(image: Image, speed: float, length: float) -> None:
    """Add the wheel of directions to the upper right corner, and what length an arrow of some speed has, if any."""
    from PIL import Image
    from PIL.ImageDraw import Draw

    size = _font_size(image.height)
    diameter, margin = 4 * size, size // 2
    wheel, left = Image.fromarray(legend(diameter), "RGBA"), image.width - diameter - margin
    draw = Draw(image, "RGBA")
    draw.ellipse([left - 2, margin - 2, left + diameter + 1, margin + diameter + 1], fill=SHADE)
    image.paste(wheel, (left, margin), wheel)
    if speed:
        text, y = f"{speed:g} px", margin + diameter + size
        wide = draw.textlength(text, font(size)) + length + size
        draw.rectangle([image.width - margin - wide, y - 0.8 * size, image.width - margin, y + 0.8 * size], fill=SHADE)
        at = np.array([[image.width - margin - wide + 0.3 * size, y]])
        paint_arrows(draw, at, np.array([[length, 0.0]]), length)
        draw.text((image.width - margin - 0.2 * size, y), text, (255, 255, 255), font(size), anchor="rm")


def add_inset(image: Image, motion: GlobalMotion | None, end: float) -> None:
    """Write global motion into the lower left corner; translation as an arrow, which reaches the rim at ``end``."""
    from PIL.ImageDraw import Draw

    size, draw = _font_size(image.height), Draw(image, "RGBA")
    lines = _lines(motion)
    radius, line = 1.5 * size, 1.35 * size
    wide = 2.5 * radius + max(draw.textlength(text, font(size)) for text in lines) + size
    top = image.height - line * len(lines) - 0.6 * size
    draw.rectangle([0, top, wide, image.height], fill=SHADE)
    middle = np.array([0.4 * size + radius, (top + image.height) / 2])
    draw.ellipse([*(middle - radius), *(middle + radius)], outline=(150, 150, 150))
    if motion is not None and math.isfinite(motion.x):
        arrow = np.array([motion.x, motion.y]) * radius / (end or 1)
        arrow *= min(1.0, radius / max(float(np.hypot(*arrow)), 1e-9))
        paint_arrows(draw, middle[None], arrow[None], 0.8 * radius)
    for k, text in enumerate(lines):
        at = (2.5 * radius + 0.4 * size, top + 0.3 * size + (k + 0.5) * line)
        draw.text(at, text, (255, 255, 255), font(size), anchor="lm")


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

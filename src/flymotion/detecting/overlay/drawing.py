"""Motion drawn into frames: arrows, a hue for each direction, or a panel for each detector."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from flymotion.detecting import Detection
from flymotion.detecting.overlay.colours import Levels, RoundScale, hues
from flymotion.detecting.overlay.marks import Legend, add_name, grey, paint_arrows, strip_height, tinted, with_strip
from flymotion.field.outputs import Field, mean_velocity, preferred_directions
from flymotion.video.luminance import area_averages

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["MODES", "Overlay"]

MODES = ("arrows", "wheel", "directions")
"""Ways to draw."""

ROWS = 18
"""Rows of arrows in a frame, unless they would be less than ``LEAST_STEP`` apart."""

LEAST_STEP = 12
"""Least distance of two arrows [pixels]."""

LONGEST = 1.5
"""Length of an arrow at the end of its scale, in distances of two arrows."""

FIRM = 0.2
"""Mean confidence from which on an arrow is drawn."""

SLOWEST = 0.08
"""Least length of an arrow, relative to the scale's."""

LEAST_SPEED = 0.05
"""Least end of the scale of arrows [pixels per frame]."""

LEAST_SHIFT = 0.5
"""Least translation that the inset's arrow may end at its rim for [pixels per frame]."""

FINE = 180
"""Rows of cells that responses are averaged over, at most."""

SMALL = 600
"""Frames of fewer rows get their arrows at twice the size and are then reduced, so that lines are smooth."""


class Overlay:
    """Draws one detection after the other.

    Parameters
    ----------
    mode : str
        ``"arrows"``: velocity on a grid, as long as the legend says. ``"wheel"``: everywhere the direction that the
        detectors' responses add up to, as a hue, the stronger the more opaque. ``"directions"``: a panel for the
        responses of each detector. Responses are shown as their square roots, relative to a scale that follows them.
    angles : ndarray, shape (n_directions,)
        Preferred directions [deg].
    white : float, optional
        What is shown as white, black being 0; None: the range of the frames so far is shown.
    floor : callable, optional
        From noise [grey levels] to the responses of each direction that may be noise, :meth:`MotionField.floor`.

    Raises
    ------
    ValueError
        An unknown mode.

    Examples
    --------
    >>> from flymotion import detect
    >>> detecting = detect(np.zeros((2, 60, 80)), rate=25, dense=True)
    >>> overlay = Overlay("arrows", detecting.angles)
    >>> [overlay.draw(detection).shape for detection in detecting]  # RGB, with a strip for the legend below
    [(94, 80, 3), (94, 80, 3)]
    """

    def __init__(
        self,
        mode: str,
        angles: np.ndarray,
        white: float | None = 255.0,
        floor: Callable[[float], np.ndarray] = lambda noise: np.zeros(1),
    ) -> None:
        if mode not in MODES:
            raise ValueError(f"overlay is {mode!r}; expected one of {', '.join(MODES)}")
        self.mode = mode
        self.angles = angles
        self.levels = Levels(white)
        self.floor = floor
        self.speeds = RoundScale(least=LEAST_SPEED)
        self.strengths = RoundScale()
        self.shifts = RoundScale()

    def draw(self, detection: Detection) -> np.ndarray:
        """Return a frame with its motion drawn in and a strip below, shape (height + strip, width, 3), uint8."""
        draw = {"arrows": self._arrows, "wheel": self._wheel, "directions": self._panels}[self.mode]
        image = draw(self.levels.shown(detection.image), detection.field, self.floor(detection.noise))
        if math.isfinite(detection.motion.x):
            self.shifts.update([math.hypot(detection.motion.x, detection.motion.y)])
        motion, end = None if detection.cut else detection.motion, max(self.shifts.end, LEAST_SHIFT)
        time = f"frame {detection.number}" if math.isnan(detection.time) else f"{detection.time:.2f} s"
        told = Legend(motion, end, time)
        if self.mode == "arrows":
            told = told._replace(speed=self.speeds.end, length=LONGEST * _step(detection.image.shape[0]))
        return np.asarray(with_strip(image, told))

    def shape(self, height: int, width: int) -> tuple[int, int]:
        """Return the height and width of what is drawn of frames of such."""
        return height + strip_height(height), width

    def _arrows(self, frame: np.ndarray, field: Field | None, floor: np.ndarray) -> Image:
        height, width = frame.shape
        over, step = 2 if height < SMALL else 1, _step(height)
        image = grey(frame)
        image = image.resize((over * width, over * height)) if over > 1 else image
        if field is not None:
            self._draw_field(image, field, step, over)
        return image.reduce(over) if over > 1 else image

    def _draw_field(self, image: Image, field: Field, step: int, over: int) -> None:
        from PIL.ImageDraw import Draw

        x_unit, y_unit = _unit(image, field)
        side = max(1, min(round(over * step / y_unit), *_shape(field)))
        velocity, confidence = mean_velocity(field, partial(area_averages, scale=side))
        speed, firm = np.hypot(*velocity), confidence > FIRM
        end = self.speeds.update(speed[firm])
        rows, columns = np.nonzero(firm & (speed > SLOWEST * end))
        middles = np.stack([(columns + 0.5) * side * x_unit, (rows + 0.5) * side * y_unit], axis=1)
        arrows = velocity[:, rows, columns].T / (end or 1)
        arrows *= np.minimum(1, 1.25 / np.maximum(np.hypot(*arrows.T), 1e-9))[:, None]
        paint_arrows(Draw(image), middles, LONGEST * over * step * arrows, over * step)

    def _wheel(self, frame: np.ndarray, field: Field | None, floor: np.ndarray) -> Image:
        image = grey(frame)
        if field is not None:
            side, cell = _cells(image, field, FINE)
            angles, strength = preferred_directions(_responses(field, side, floor), self.angles)
            image = tinted(image, hues(angles), self._opacity(strength, floor), cell)
        return image

    def _panels(self, frame: np.ndarray, field: Field | None, floor: np.ndarray) -> Image:
        from PIL import Image

        (height, width), k = frame.shape, len(self.angles)
        n_columns = math.ceil(math.sqrt(k))
        size = width // n_columns, height // math.ceil(k / n_columns)
        whole, small = Image.new("RGB", (width, height)), grey(frame).resize(size, Image.Resampling.BOX)
        opacities, cell = np.zeros((k, 0, 0)), (1.0, 1.0)
        if field is not None:
            side, cell = _cells(small, field, min(FINE, size[1]))
            opacities = self._opacity(_responses(field, side, floor), floor)
        for i, (angle, opacity) in enumerate(zip(self.angles, opacities, strict=True)):
            panel = tinted(small.copy(), hues(angle), opacity, cell) if opacity.size else small.copy()
            add_name(panel, angle)
            whole.paste(panel, (i % n_columns * size[0], i // n_columns * size[1]))
        return whole

    def _opacity(self, strength: np.ndarray, floor: np.ndarray) -> np.ndarray:
        strength = np.sqrt(strength)
        end = max(self.strengths.update(strength[..., ::3, ::3]), 2 * math.sqrt(floor.max()))
        return np.clip(strength / (end or 1), 0, 1)


def _step(height: int) -> int:
    """Return how far apart arrows are [pixels]."""
    return max(LEAST_STEP, height // ROWS)


def _responses(field: Field, side: int, floor: np.ndarray) -> np.ndarray:
    """Return responses over cells, 0 where they may be noise."""
    assert field.directions is not None
    responses = area_averages(field.directions, side)
    return np.where(responses > floor[:, None, None], responses, np.float32(0))


def _shape(field: Field) -> tuple[int, ...]:
    assert field.confidence is not None
    return field.confidence.shape


def _unit(image: Image, field: Field) -> tuple[float, float]:
    """Return width and height of a pixel of the field [pixels of the image]."""
    height, width = _shape(field)
    return image.width / width, image.height / height


def _cells(image: Image, field: Field, n_rows: int) -> tuple[int, tuple[float, float]]:
    """Return the side of cells of which there are about so many rows [pixels of the field], and their size drawn."""
    side = max(1, min(round(_shape(field)[0] / n_rows), *_shape(field)))
    x_unit, y_unit = _unit(image, field)
    return side, (side * x_unit, side * y_unit)

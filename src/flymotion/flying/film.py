"""What a fly watched, as an animation: the light on its eyes, and the motion that T4 and T5 see in it.

Hue is the direction of motion, as everywhere (red right, yellow-green up, cyan left, violet down), brightness how much
of it there is, on one scale for all panels. Every frame is shown; where frames are too many a second to be seen, time
goes slower.
"""

from __future__ import annotations

import math
import os
from contextlib import ExitStack
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.detecting.overlay.colours import hues
from flymotion.detecting.overlay.marks import add_wheel, font
from flymotion.flying.unrolled import Unrolled
from flymotion.flying.watched import Watched
from flymotion.writing import in_words, whole

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Film", "write_film"]

HEIGHT = 250
"""Of an eye in the picture [pixels]."""

HEAD = 26
"""Height of a line of text [pixels]."""

TOP = 76
"""Height of what stands above the panels: two lines, and the wheel of directions [pixels]."""

EDGE = 14
"""Width of what is left free about each panel [pixels]."""

QUALITY = {"crf": "25", "preset": "medium"}
"""Options of the encoder."""

FASTEST = 25.0
"""Frames shown a second, at most."""

IN_GIF = 60
"""Frames of a GIF, at most; it has half the size."""

INK = (225, 225, 225)
PAGE = (18, 18, 24)
BLIND = (58, 58, 70)
"""Colour of lenses that see nothing of the picture."""

STRONG = 0.99
"""Share of the motion seen, as it is in all of time and space, that is not shown as the brightest."""


class Film:
    """Frames of the animation.

    Parameters
    ----------
    watched : Watched
        What to show.
    title : str
        What it is.

    Examples
    --------
    >>> from flymotion import Hexagon
    >>> watched = Watched(Hexagon(1), np.array([0.0, 0.01]), np.full((2, 7), 0.5), np.zeros((2, 7, 8)))
    >>> film = Film(watched, "a grey field")
    >>> len(film), film.draw(0).size
    (2, (518, 656))
    """

    def __init__(self, watched: Watched, title: str = "") -> None:
        self.watched, self.title = watched, title
        self._unrolled = Unrolled(watched.eye, HEIGHT, among=np.isfinite(watched.light).any(axis=0))
        motion = {kind: watched.motion(kind) for kind in ("T4", "T5")}
        sums = {"T4 + T5": motion["T4"] + motion["T5"], "T4, moving ON": motion["T4"], "T5, moving OFF": motion["T5"]}
        self._panels = {name: _polar(of) for name, of in sums.items()}
        self._end = _end(sums["T4 + T5"])  # one scale, so that T4 and T5 compare
        seen = watched.light[np.isfinite(watched.light)]
        self._range = np.quantile(seen, (0.002, 0.998)) if seen.size else np.array([0.0, 1.0])
        steps = np.diff(watched.times)
        own = 1 / float(np.median(steps)) if len(steps) and np.median(steps) > 0 else FASTEST
        self.rate = min(own, FASTEST)
        self.slowed = own / self.rate

    def __len__(self) -> int:
        return len(self.watched.times)

    def draw(self, k: int) -> Image:
        """Return frame ``k``."""
        from PIL import Image
        from PIL.ImageDraw import Draw

        width = self._unrolled.lens.shape[1] + 2 * EDGE
        cell = HEIGHT + HEAD + EDGE
        image = Image.new("RGB", _even(2 * width, TOP + 2 * cell), PAGE)
        pictures = {"light": self._light(k)} | {name: self._motion(name, k) for name in self._panels}
        draw = Draw(image)
        for place, (name, colours) in enumerate(pictures.items()):
            x, y = place % 2 * width + EDGE, place // 2 * cell + TOP
            draw.text((x, y + HEAD / 2), name, INK, font(15), anchor="lm")
            image.paste(Image.fromarray(self._unrolled.shaded(colours, PAGE)), (x, y + HEAD))
        slower = "" if self.slowed < 1.05 else f", {self.slowed:.2g} times slower"
        time = self.watched.times[k] - self.watched.times[0]
        for line, text in enumerate((self.title, f"{time:.2f} s{slower}")):
            draw.text((EDGE, EDGE + HEAD / 2 + HEAD * line), text, INK, font(15), anchor="lm")
        add_wheel(image)
        return image

    def _light(self, k: int) -> np.ndarray:
        light = self.watched.light[k]
        dark, bright = self._range
        share = np.clip((light - dark) / ((bright - dark) or 1), 0, 1)
        return _painted(np.broadcast_to(share[:, None], (len(light), 3)))

    def _motion(self, name: str, k: int) -> np.ndarray:
        angles, strength = self._panels[name]
        return _painted(hues(angles[k]) * np.sqrt(np.clip(strength[k] / self._end, 0, 1))[:, None])


def _even(width: int, height: int) -> tuple[int, int]:
    """Return a size that the codec takes."""
    return width + width % 2, height + height % 2


def _polar(motion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    right, up = np.moveaxis(motion, -1, 0)
    return np.degrees(np.arctan2(up, right)) % 360, np.hypot(right, up)


def _end(motion: np.ndarray) -> float:
    strength = np.hypot(*np.moveaxis(motion, -1, 0))
    strength = strength[strength > 0]  # NaN is not
    return float(np.quantile(strength, STRONG)) if strength.size else 1.0


def _painted(colours: np.ndarray) -> np.ndarray:
    """Return colours, 0 to 1, as bytes; what is not a number as that of blind lenses."""
    blind = np.isnan(colours).any(axis=1, keepdims=True)
    return np.where(blind, BLIND, np.round(255 * np.where(blind, 0, colours))).astype(np.uint8)


def _palette() -> Image:
    """Return an image whose palette has what films have: hues of many strengths, greys, and colours of the page."""
    from PIL import Image

    strengths = np.linspace(1 / 8, 1, 8)[:, None, None] * hues(np.arange(0, 360, 15))
    greys = np.repeat(np.linspace(0, 255, 60)[:, None], 3, axis=1)
    colours = np.concatenate([255 * strengths.reshape(-1, 3), greys, [PAGE, BLIND, INK]])
    image = Image.new("P", (1, 1))
    image.putpalette(colours.round().astype(np.uint8).tobytes())
    return image


def write_film(film: Film, mp4: str | os.PathLike[str], gif: str | os.PathLike[str], *, progress: Any = None) -> None:
    """Write a film as H.264 video and, smaller and of fewer frames, as GIF; whole or not at all.

    Parameters
    ----------
    film : Film
        What to write.
    mp4, gif : path
        Where to.
    progress : callable, optional
        Told the number of frames so far.

    Raises
    ------
    WriteError
        A place that cannot be written to.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from flymotion import Hexagon, open_movie
    >>> watched = Watched(Hexagon(1), np.array([0.0, 0.01]), np.full((2, 7), 0.5), np.zeros((2, 7, 8)))
    >>> folder = Path(tempfile.mkdtemp())
    >>> write_film(Film(watched), folder / "fly.mp4", folder / "fly.gif")
    >>> sorted(path.name for path in folder.iterdir()), open_movie(folder / "fly.mp4").n_frames_estimate
    (['fly.gif', 'fly.mp4'], 2)
    """
    import av
    from PIL.Image import Dither

    every, palette = math.ceil(len(film) / IN_GIF), _palette()
    kept: list[Image] = []
    with ExitStack() as stack:
        place = stack.enter_context(whole(mp4))
        container = stack.enter_context(av.open(f"file:{place}", "w", format="mp4"))
        stream = container.add_stream("h264", rate=Fraction(film.rate).limit_denominator(1001), options=QUALITY)
        stream.width, stream.height = film.draw(0).size
        stream.pix_fmt = "yuv420p"
        for k in range(len(film)):
            image = film.draw(k)
            with in_words(place):
                container.mux(stream.encode(av.VideoFrame.from_image(image).reformat(format="yuv420p")))
            if k % every == 0:
                kept.append(image.reduce(2).quantize(palette=palette, dither=Dither.NONE))
            if progress is not None:
                progress(k + 1)
        container.mux(stream.encode())
    with whole(gif) as place:
        length = round(1000 * every / film.rate)
        kept[0].save(place, save_all=True, append_images=kept[1:], duration=length, loop=0, optimize=True)

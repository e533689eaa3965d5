r"""What changes in a video from frame to frame, counted, so that it can be said why learning from it failed.

Of patches with contrast, some are the same in both frames. What the others change is split by two fits of one patch
each, to its slopes along rows and columns, and to the patch itself:

.. math:: \Delta x \approx v_x \, \partial_x \bar x + v_y \, \partial_y \bar x, \qquad \Delta x \approx g \, \bar x

Motion explains what the first fit explains, light that brightens or dims what the second does; what neither does is
noise, or motion too fast for a slope. Two slopes explain some of noise alone, too: as much as those of the patch moved
by half of itself do, which are as smooth and have nothing to do with it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flymotion.models.packing import Given, Packed
from flymotion.video.viewing import speeds

__all__ = ["SPEEDS", "UNCHANGED", "Changes", "counted"]

SPEEDS = (0.15, 0.8)
"""Speeds worth learning from: slower is noise, faster is no derivative [reduced pixels per frame]."""

MOVING = 0.6
"""Share of its change that motion has to explain of a patch that surely moves."""

PARTS = 1000
"""Shares and logarithms are counted in thousandths, so that sums are the same in any order."""

SLOWEST, FASTEST = 1e-3, 1e3
"""Limits of the speeds that are averaged [reduced pixels per frame]."""


class Changes(NamedTuple):
    """Counts and sums over patches with contrast; those of several videos, or stretches, are added.

    Attributes
    ----------
    n_textured : int
        Patches looked at.
    n_same : int
        Those that are the same, to the bit, in both frames.
    n_slow, n_fast : int
        Those of the others that seem slower, or faster, than what is learned from (``SPEEDS``).
    n_moving, n_by_chance : int
        Those of most of whose change motion explains, and slopes that it has nothing to do with.
    log_speeds, by_motion, of_moving, by_chance, by_light, upright : int
        Sums over patches that change, in thousandths: of the logarithm of the speed [reduced pixels per frame], of the
        shares of the change that motion explains (and of those alone that surely move), that slopes do which it has
        nothing to do with, and that light does, and of the share of slopes that is along rows.
    n_clips, n_pairs : int
        Clips, and pairs of frames.

    Examples
    --------
    >>> patches = np.random.default_rng(0).standard_normal((500, 9, 9))
    >>> found = counted(patches, 1.1 * patches, contrast=0.1)
    >>> round(found.light, 3), found.motion < 0.1
    (1.0, True)
    """

    n_textured: int = 0
    n_same: int = 0
    n_slow: int = 0
    n_fast: int = 0
    n_moving: int = 0
    n_by_chance: int = 0
    log_speeds: int = 0
    by_motion: int = 0
    of_moving: int = 0
    by_chance: int = 0
    by_light: int = 0
    upright: int = 0
    n_clips: int = 0
    n_pairs: int = 0

    def __add__(self, other: Any) -> Changes:
        """Pool with the changes of others."""
        return Changes(*(a + b for a, b in zip(self, other, strict=True)))

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the counts of again."""
        return self._asdict(), {}

    @classmethod
    def unpack(cls, given: Given) -> Changes:
        """Return the counts that were packed."""
        counts = {name: given.number(name, int, least=0) for name in cls._fields if name != "log_speeds"}
        return cls(log_speeds=given.number("log_speeds", int), **counts)

    @property
    def same(self) -> float:
        """Share of patches that are the same in both frames; NaN of no patches."""
        return _share(self.n_same, self.n_textured)

    @property
    def slow(self) -> float:
        """Share of patches that change, but by less than what is learned from."""
        return _share(self.n_slow, self._n_changing)

    @property
    def fast(self) -> float:
        """Share of the patches that change that do so by more than what is learned from."""
        return _share(self.n_fast, self._n_changing)

    @property
    def moving(self) -> float:
        """Share of patches that surely move: less those that would by chance."""
        return _share(max(self.n_moving - self.n_by_chance, 0), self.n_textured)

    @property
    def others(self) -> float:
        """Share of the change that motion explains of the patches that do not surely move, mean over them."""
        return _share((self.by_motion - self.of_moving) / PARTS, self._n_changing - self.n_moving)

    @property
    def motion(self) -> float:
        """Share of the change that motion explains, mean over patches; noise alone makes it ``chance``."""
        return _share(self.by_motion / PARTS, self._n_changing)

    @property
    def chance(self) -> float:
        """Share of the change that slopes explain which have nothing to do with it."""
        return _share(self.by_chance / PARTS, self._n_changing)

    @property
    def light(self) -> float:
        """Share of the change that light explains which brightens or dims, mean over patches."""
        return _share(self.by_light / PARTS, self._n_changing)

    @property
    def level(self) -> float:
        """Share of slopes that is along rows: 0.5 of texture every way, 1 of upright edges alone, 0 of level ones."""
        return _share(self.upright / PARTS, self._n_changing)

    @property
    def change(self) -> float:
        """How fast patches would have to move to change so, geometric mean [reduced pixels per frame]."""
        return float(np.exp(_share(self.log_speeds / PARTS, self._n_changing)))

    @property
    def speed(self) -> float:
        """How fast they move: the change less what is not by motion [reduced pixels per frame]."""
        return self.change * float(np.sqrt(np.maximum(self.motion - self.chance, 0.0) / (1 - self.chance)))

    @property
    def _n_changing(self) -> int:
        return self.n_textured - self.n_same


UNCHANGED = Changes()
"""Of nothing."""


def _share(part: float, whole: int) -> float:
    return part / whole if whole else float("nan")


def counted(before: np.ndarray, after: np.ndarray, contrast: float) -> Changes:
    """Count what changes in patches of enough contrast.

    Parameters
    ----------
    before, after : ndarray, shape (n_pairs, patch, patch)
        Patches.
    contrast : float
        Least standard deviation of a patch.
    """
    middle = (before.astype(np.float64) + after) / 2
    textured = middle.std(axis=(1, 2)) >= max(contrast, np.finfo(np.float32).tiny)
    before, after, middle = before[textured], after[textured], middle[textured]
    changing = (before != after).any(axis=(1, 2))
    n = len(middle)
    before, after, middle = before[changing], after[changing], middle[changing]
    fast = speeds(before, after)
    motion, chance, light, upright = _explained(after.astype(np.float64) - before, middle)
    logs = np.log(np.clip(fast, SLOWEST, FASTEST))
    moving = motion > MOVING
    counts = (np.count_nonzero(which) for which in (fast < SPEEDS[0], fast > SPEEDS[1], moving, chance > MOVING))
    sums = (np.rint(PARTS * values).sum() for values in (logs, motion, motion * moving, chance, light, upright))
    return Changes(n, n - len(middle), *map(int, counts), *map(int, sums))


def _explained(change: np.ndarray, middle: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the shares of each patch's change by motion, by chance and by light, and of its slopes along rows."""
    inner = np.s_[:, 1:-1, 1:-1]
    slopes = middle[:, 1:-1, 2:] - middle[:, 1:-1, :-2], middle[:, 2:, 1:-1] - middle[:, :-2, 1:-1]
    half = [size // 2 for size in slopes[0].shape[1:]]
    d, m, x, y = (_centred(part) for part in (change[inner], middle[inner], *slopes))
    elsewhere = (_centred(np.roll(slope, half, axis=(1, 2))) for slope in slopes)
    light = _quotient(np.vecdot(m, d) ** 2, np.vecdot(m, m) * np.vecdot(d, d))
    upright = _quotient(np.vecdot(x, x), np.vecdot(x, x) + np.vecdot(y, y))
    return _fitted(d, x, y), _fitted(d, *elsewhere), np.clip(light, 0, 1), upright


def _fitted(d: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the share of the energy of each d that its least-squares fit of x and y explains."""
    xx, yy, xy, dx, dy = (np.vecdot(a, b) for a, b in ((x, x), (y, y), (x, y), (d, x), (d, y)))
    energy, determinant = np.vecdot(d, d), xx * yy - xy**2
    both = _quotient(xx * dy**2 + yy * dx**2 - 2 * xy * dx * dy, determinant * energy, determinant > 1e-6 * xx * yy)
    edge = _quotient(dx**2 + dy**2, (xx + yy) * energy)  # of one orientation, whose slopes are in proportion
    return np.clip(np.maximum(both, edge), 0, 1)


def _centred(patches: np.ndarray) -> np.ndarray:
    flat = patches.reshape(len(patches), np.prod(patches.shape[1:]))
    return flat - flat.mean(axis=1, keepdims=True)


def _quotient(a: np.ndarray, b: np.ndarray, where: Any = True) -> np.ndarray:
    return np.divide(a, b, out=np.zeros_like(a), where=(b > 0) & where)

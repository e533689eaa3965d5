"""Images that are shifted or turned, and how sinusoidal, harmonic or in quadrature filters are that learn of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.ndimage import map_coordinates

from flymotion.frames import FramePairs
from flymotion.relations import DiagonalSums

# -- images ------------------------------------------------------------------------------------------------------------


class Shown(NamedTuple):
    """Images before and after, one a row; by what each was transformed, and the number of that transformation."""

    before: np.ndarray
    after: np.ndarray
    parameter: np.ndarray
    label: np.ndarray

    @property
    def pairs(self) -> FramePairs:
        return FramePairs(self.before, self.after)


class Shifts(NamedTuple):
    """White noise on a line of pixels, shifted by whole pixels; content comes in at the borders."""

    n: int = 13
    reach: int = 3

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.n,)

    def draw(self, n_pairs: int, rng: np.random.Generator, parameter: np.ndarray | None = None) -> Shown:
        n, m = self.n, self.reach
        z = rng.normal(size=(n_pairs, n + 2 * m))
        shift = rng.integers(-m, m + 1, n_pairs) if parameter is None else parameter
        after = np.take_along_axis(z, np.arange(n) + m - shift[:, None], axis=1)
        return Shown(z[:, m : m + n], after, shift, shift + m)


class Images(NamedTuple):
    """Dots on a tenth of the pixels, or white noise, of ``n x n`` pixels cut out of ``canvas x canvas``."""

    motion: str
    """"shift", by whole pixels both ways up to ``reach``; or "rotation", by multiples of 10 degrees up to 40."""
    n: int = 9
    canvas: int = 15
    reach: int = 2
    dots: bool = True

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.n, self.n)

    def draw(self, n_pairs: int, rng: np.random.Generator, parameter: np.ndarray | None = None) -> Shown:
        """Draw pairs, transformed as told if ``parameter`` is: whole pixels, shape (n_pairs, 2), or tens of degrees."""
        size = (n_pairs, self.canvas, self.canvas)
        z = (rng.random(size) < 0.1).astype(float) if self.dots else rng.normal(size=size)
        m = self.reach
        if self.motion == "shift":
            parameter = rng.integers(-m, m + 1, (n_pairs, 2)) if parameter is None else parameter
            label = (parameter + m) @ np.array([1, 2 * m + 1])
            after = self.shifted(z, parameter)
        else:
            parameter = rng.integers(-4, 5, n_pairs) if parameter is None else parameter
            label = parameter + 4
            after = self.turned(z, np.deg2rad(10 * parameter))
        edge = slice(self.edge, self.edge + self.n)
        before, after = (some.reshape(n_pairs, -1) - 0.1 for some in (z[:, edge, edge], after))
        return Shown(before, after, parameter, label)

    @property
    def edge(self) -> int:
        return (self.canvas - self.n) // 2

    def shifted(self, z: np.ndarray, shift: np.ndarray) -> np.ndarray:
        i = np.arange(self.n) + self.edge
        return np.stack([one[np.ix_(i - down, i - right)] for one, (right, down) in zip(z, shift, strict=True)])

    def turned(self, z: np.ndarray, angle: np.ndarray) -> np.ndarray:
        """Turn about the centre, by linear interpolation, angle in radians."""
        y, x = np.indices(self.shape).reshape(2, -1) - (self.n - 1) / 2
        centre = (self.canvas - 1) / 2
        found = []
        for one, c, s in zip(z, np.cos(angle), np.sin(angle), strict=True):
            found.append(map_coordinates(one, np.array([c * y - s * x, s * y + c * x]) + centre, order=1))
        return np.stack(found).reshape(-1, *self.shape)


# -- filters -----------------------------------------------------------------------------------------------------------


def sinusoids(U: np.ndarray, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of each filter's energy in its best sinusoid, shape (F,), and the frequency, (F, n_dims)."""
    pixels = np.indices(shape).reshape(len(shape), -1).T
    halves = np.linspace(0, 0.5, 41 if len(shape) == 1 else 21)
    axes = [np.linspace(-0.5, 0.5, 41)] * (len(shape) - 1) + [halves]
    energy, best, at = (U**2).sum(axis=0), np.zeros(U.shape[1]), np.zeros((U.shape[1], len(shape)))
    for f in np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(shape)):
        phase = 2 * np.pi * pixels @ f
        Q, R = np.linalg.qr(np.stack([np.cos(phase), np.sin(phase)], axis=1))
        share = ((Q[:, np.abs(np.diag(R)) > 1e-6].T @ U) ** 2).sum(axis=0) / energy
        better = share > best
        best[better], at[better] = share[better], f
    return best, at


def circular_harmonics(U: np.ndarray, n: int) -> float:
    """Return the share of energy in one angular frequency about the centre, mean over filters, (n^2, F)."""
    radius, centre = np.arange(2, n // 2 + 1)[:, None], (n - 1) / 2
    angle = 2 * np.pi * np.arange(48) / 48
    places = centre + radius * np.array([np.sin(angle), np.cos(angle)])[:, None]
    rings = np.stack([map_coordinates(u.reshape(n, n), places, order=1) for u in U.T])
    power = np.abs(np.fft.rfft(rings, axis=2)) ** 2
    power[:, :, 1:-1] *= 2
    energy = (power * radius).sum(axis=1)
    return float(np.mean(energy.max(axis=1) / energy.sum(axis=1)))


def along_diagonals(A: np.ndarray, shape: tuple[int, ...]) -> float:
    """Return the share of bilinear filters, less their mean, that depends on the displacement alone."""
    blank = np.zeros((1, *shape))
    diagonals = DiagonalSums().fit(FramePairs(blank, blank)).generators_
    T = diagonals.reshape(len(diagonals), -1)
    T = T / np.linalg.norm(T, axis=1, keepdims=True)
    A = (A - A.mean(axis=0)).reshape(len(A), -1)
    return float(np.mean(((A @ T.T) ** 2).sum(axis=1) / (A**2).sum(axis=1)))


def correlation(P: np.ndarray, Q: np.ndarray) -> float:
    """Return the correlation of images, row by row, on average."""
    P, Q = (some - some.mean(axis=1, keepdims=True) for some in (P, Q))
    sizes = (P**2).sum(axis=1) * (Q**2).sum(axis=1)
    return float(np.mean((P * Q).sum(axis=1) / np.sqrt(sizes + 1e-12)))

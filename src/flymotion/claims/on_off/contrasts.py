r"""Contrast of photographs, relative to the local mean, as a hexagonal eye sees it move (C24).

The photographs' grey levels are decoded to luminance I (the curve of sRGB, of which they are taken to be). Contrast is
:math:`\log I` less its own local mean, both through the eye's optics: then the photograph of reversed contrast is
exactly that, and one whose phases are scrambled is Gaussian with the same spectrum, whose ON and OFF parts are alike.
Log before optics is not how an eye does it; Weber contrast after them, :math:`(I - m) / m`, is the other order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from flymotion.frames import FramePairs
from flymotion.learner.sources import BUNDLED, load_photographs
from flymotion.world.conventions import unit_vector
from flymotion.world.eyes import Hexagon
from flymotion.world.lattices import lattice_of, rings
from flymotion.world.motions import CARDINAL
from flymotion.world.scenes import FourierScene, photograph

__all__ = ["N_STRIPS", "PATCHES", "SCENES", "Patch", "blocks_seen"]

SIGMA, SURROUND = 0.6, 5.0
"""Width of the eye's optics, and of the local mean [pixel spacings]."""

SIZES = (0.15, 0.3)
"""Of steps [pixel spacings]."""

FLOOR = 0.01
"""Least luminance, relative to the mean."""

N_STRIPS = 8
"""Upright strips that a photograph is cut into: blocks, all of which have something other than sky."""

N_DRAWS = 6
"""Places drawn in a block, of which that of most contrast is looked at: there is none in overexposed sky."""

EYE = Hexagon(10, SIGMA)
"""What looks at a block: patches are cut out of it."""

SCENES = {
    "photographs": "photographs",
    "weber": "photographs, Weber contrast after the optics",
    "reversed": "photographs of reversed contrast, other patches",
    "scrambled": "their phases scrambled: Gaussian scenes of the same spectrum",
}
"""What is looked at, in words."""


class Patch(NamedTuple):
    """What a cell sees: places about it, and the directions in which content moves [deg]."""

    offsets: np.ndarray
    """Axial coordinates, shape (n_pixels, 2)."""
    angles: tuple[float, ...]

    @property
    def places(self) -> np.ndarray:
        """Where its pixels are (x right, y up), shape (n_pixels, 2) [pixel spacings]."""
        return self.offsets @ np.array([[np.sqrt(3) / 2, -0.5], [0.0, -1.0]])

    @property
    def middle(self) -> int:
        """The cell's own pixel."""
        return int(np.flatnonzero(~self.offsets.any(axis=1))[0])


PATCHES = {
    "line": Patch(np.array([[0, r] for r in range(-3, 4)]), (90.0, 270.0)),
    "hexagon": Patch(rings(2), CARDINAL),
}
"""Seven pixels of a column, whose content moves up and down; and two rings of hexagons, and the four directions."""


@cache
def _luminances() -> list[np.ndarray]:
    """Return both photographs, decoded, a pixel a spacing, in units of their mean; none darker than the floor."""
    levels = [image / 255 for image in load_photographs([BUNDLED])]
    decoded = [np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4) for v in levels]
    fewer = [image[:-1].reshape(213, 2, 320, 2).mean(axis=(1, 3)) for image in decoded]
    return [np.maximum(image / image.mean(), FLOOR) for image in fewer]


def _scene(image: np.ndarray, name: str, rng: np.random.Generator) -> FourierScene:
    if name == "weber":
        return photograph(image, pixels_per_spacing=1.0)
    scene = photograph(np.log(image), pixels_per_spacing=1.0)
    if name != "scrambled":
        return scene
    noise = np.fft.fftshift(np.fft.fftn(rng.standard_normal(scene.modes.shape)))  # Hermitian
    return replace(scene, modes=np.abs(scene.modes) * noise / np.abs(noise))


def blocks_seen(name: str, patches: Mapping[str, Patch], n_pairs: int, seed: int) -> dict[str, list[FramePairs]]:
    """Show a place in every block of both photographs, and all steps; return pairs of patches, by patch and block.

    Parameters
    ----------
    name : str
        Key of :data:`SCENES`.
    patches : mapping of str to Patch
        What cells see.
    n_pairs : int
        Pairs of each block.
    seed : int
        Of places, patches and phases.

    Returns
    -------
    dict of str to list of FramePairs
        Contrasts, and which of the patch's angles content moved to, as ``motion``; blocks of china.jpg first.
    """
    phases, places = np.random.default_rng([seed, 24]), np.random.default_rng([seed, 24, 1])
    drawn = np.random.default_rng([seed, 24, list(SCENES).index(name)])
    found: dict[str, list[FramePairs]] = {patch: [] for patch in patches}
    for image in _luminances():
        scene = _scene(image, name, phases)
        frames = _looked_at(scene, _places(scene, places), weber=name == "weber")
        frames = -frames if name == "reversed" else frames
        for key, patch in patches.items():
            around = lattice_of(EYE).at(patch.offsets)
            around = around[(around >= 0).all(axis=1)]
            found[key] += [_cut(block, around, patch, n_pairs, drawn) for block in frames]
    return found


def _places(scene: FourierScene, rng: np.random.Generator) -> np.ndarray:
    """Draw a place in each block, from whose borders the eye stays away, shape (n_blocks, 2)."""
    size = scene.extent[:, 1] / (N_STRIPS, 1)
    reach = np.abs(EYE.positions).max(axis=0) + max(SIZES)
    corners = np.outer(np.arange(N_STRIPS), (size[0], 0))[:, None]
    drawn = corners + rng.uniform(reach, size - reach, (N_STRIPS, N_DRAWS, 2))
    seen = scene.sample((drawn[..., None, :] + EYE.positions).reshape(-1, 1, 2), SIGMA)
    most = seen.reshape(N_STRIPS, N_DRAWS, -1).std(axis=2).argmax(axis=1)
    return drawn[np.arange(N_STRIPS), most]


def _looked_at(scene: FourierScene, places: np.ndarray, *, weber: bool) -> np.ndarray:
    """Return contrasts at places, before and after steps of each size and way, shape (n_places, 9, n_pixels)."""
    ways = np.array([unit_vector(angle, 2) for angle in CARDINAL])
    steps = np.concatenate([np.zeros((1, 2)), *(size * ways for size in SIZES)])
    points = (places[:, None] - steps)[:, :, None] + EYE.positions
    own, mean = (scene.sample(points.reshape(-1, 1, 2), width).reshape(points.shape[:3]) for width in (SIGMA, SURROUND))
    return (own - mean) / mean if weber else own - mean


def _cut(frames: np.ndarray, around: np.ndarray, patch: Patch, n_pairs: int, rng: np.random.Generator) -> FramePairs:
    pixels = rng.choice(around, n_pairs)
    label, size = rng.integers(len(patch.angles), size=n_pairs), rng.integers(len(SIZES), size=n_pairs)
    way = np.array([CARDINAL.index(angle) for angle in patch.angles])[label]
    after = 1 + size * len(CARDINAL) + way
    return FramePairs(frames[0][pixels], frames[after[:, None], pixels], label.astype(float))

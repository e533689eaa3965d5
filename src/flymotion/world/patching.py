"""What each pixel of a hexagonal eye and its rings of neighbours see, as patches: to learn what is the same at all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from flymotion.frames import FramePairs
from flymotion.world.eyes import Hexagon
from flymotion.world.lattices import as_seen, lattice_of
from flymotion.world.motions import Translation, Turn

__all__ = ["around_pixels"]

TURNS, TRANSLATIONS = Turn(1.0).names, Translation(1.0).names


def around_pixels(pairs: FramePairs, n_rings: int = 1) -> FramePairs:
    """Cut frames of a hexagonal eye, flat or on the sphere, into patches: each pixel with its rings of neighbours.

    Whatever is learned from them is a patch of a hexagon, and :func:`flymotion.detectors.learned` puts it back at every
    pixel, there turned to any direction.

    Parameters
    ----------
    pairs : FramePairs
        With an ``eye`` that has a lattice.
    n_rings : int
        About each pixel: 1 for patches of 7 pixels, 2 of 19.

    Returns
    -------
    FramePairs
        Pairs of patches, of each pair one about every pixel that has all neighbours; those of one pair together. Their
        eye is a hexagon with the median of the lenses' widths in units of their spacings. On the sphere the ``motion``
        of a turn is that of the content at each pixel instead, to first order, (x right, y down) [steps of the lattice
        there]; other motions of a sphere have none.

    Raises
    ------
    ValueError
        Pairs without an eye, an eye without a lattice or so small that no pixel has all neighbours.

    Examples
    --------
    >>> from flymotion.world import Hexagon, Translation, sample_pairs
    >>> from flymotion.world.scenes import SmoothNoise
    >>> pairs = sample_pairs(SmoothNoise(2.0, ndim=2), Hexagon(3), Translation(0.3), 10)
    >>> around_pixels(pairs).before.shape
    (190, 7)
    """
    if pairs.eye is None:
        raise ValueError("pairs of which nobody says whose frames they are; expected pairs with an eye")
    lattice = lattice_of(pairs.eye)
    around = lattice.around(n_rings)
    middles = np.flatnonzero((around >= 0).all(axis=1))
    if not middles.size:
        raise ValueError(f"no pixel of {pairs.eye} has {n_rings} ring(s) of neighbours about it; expected a larger eye")
    spherical = lattice.places.shape[1] == 3
    scale = lattice.spacings[middles] if spherical else np.ones(len(middles))
    sigma = np.broadcast_to(pairs.eye.sigma, pairs.eye.shape)[middles] / scale
    before, after = (x[:, around[middles]].reshape(-1, around.shape[1]) for x in (pairs.before, pairs.after))
    motion, names = pairs.motion, pairs.names
    if motion is not None and not spherical:
        motion = np.repeat(motion, len(middles), axis=0)
    elif motion is not None and names == TURNS:
        motion, names = _shifts(motion, lattice.places[middles], scale), TRANSLATIONS
    else:
        motion, names = None, None
    eye = Hexagon(n_rings, float(np.median(sigma)))
    return replace(pairs, before=before, after=after, motion=motion, names=names, eye=eye)


def _shifts(turns: np.ndarray, places: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return how content moves at places while the eye turns [deg], shape (n_pairs * n_places, 2) [steps]."""
    flow = -np.cross(turns[:, None], places)  # of the image of an eye that turns by omega: - omega x d
    right, up = as_seen(places)
    shifts = np.stack([np.vecdot(flow, right), -np.vecdot(flow, up)], axis=-1) / scale[:, None]
    return shifts.reshape(-1, 2)

"""Transformations of the plane: rotations, translations and affine motions, learned (C10, C12, C13, C29, C32).

============== ======== ==== ====================================================== ============================
motion         pixels   K    ways to move                                           claims
============== ======== ==== ====================================================== ============================
rotation       5 x 5    2    counter-clockwise, clockwise                           C10, C12, C32; Figs. 5a-b
translation    5 x 5    4    right, up, left, down                                  C13, C32; Fig. 6
zoom, shear    5 x 5    2, 4 both ways                                              C32
affine         9 x 9    12   both ways: x, y, rotation, zoom, two shears            C29
============== ======== ==== ====================================================== ============================

Each motion of 5 x 5 pixels is learned in exponential and in smooth noise, through optics of 0.8 pixels and of a fly's
0.475; claims that share a world share what was learned there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flymotion.claims.rows import Claim
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.transformations.affine import check_affine, check_antisymmetry
from flymotion.claims.transformations.learned_in_planes import learn_plane
from flymotion.claims.transformations.planes import EYES, MOTIONS, PLANES
from flymotion.claims.transformations.random_pixels import TURNED, check_random_pixels, learn_random_pixels
from flymotion.claims.transformations.rotations import ROTATION, check_rotations, check_weights
from flymotion.claims.transformations.translations import check_translations
from flymotion.claims.ways import FEATURES
from flymotion.generators import Generators
from flymotion.plots.filter_sheets import filter_sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "check", "figures", "work"]

CLAIMS = {
    "C10": "rotations: NSM finds both senses, SM and PCA one generator",
    "C12": "a rotation's weights are local, and none onto the pixel",
    "C13": "translations: NSM finds all four directions",
    "C29": "affine motions: NSM finds all twelve ways",
    "C32": "translations and rotations are antisymmetric, zooms not",
}

TRANSLATIONS = {f"translation_exponential_{eye}": eye for eye in EYES}

PIXELS = "pixels_"
"""Prefix of names of work on images of independent pixels."""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Seeds of rotations and translations: pairs are drawn anew (C10, C12, C13).
    n_seeds_few : int
        Seeds of the paper's own data (C10), of the affine group and of antisymmetry (C29, C32); no more than
        ``n_seeds``.
    n_test : int
        New pairs to test with.
    n_test_translation : int
        The same of translations, whose accuracy is compared finely.
    """

    n_seeds: int = 50
    n_seeds_few: int = 5
    n_test: int = 2000
    n_test_translation: int = 20_000


QUICK = {"n_seeds": 1}


def work(config: Config) -> Work:
    """Let NSM and others learn in each plane, and from images of independent pixels; the longest first."""
    few = min(config.n_seeds, config.n_seeds_few)
    both, one = list(FEATURES), ["change"]
    pieces = {"affine": each_seed(learn_plane, few, "affine", both, (), config.n_test)}
    for name in TRANSLATIONS:
        pieces[name] = each_seed(
            learn_plane, config.n_seeds, name, both, ("sm", "labelled_start"), config.n_test_translation
        )
    algorithms = ("kmeans", "sm", "pca", "labelled_start")
    pieces[ROTATION] = each_seed(learn_plane, config.n_seeds, ROTATION, both, algorithms, config.n_test)
    for turned in TURNED:
        pieces[PIXELS + turned] = each_seed(learn_random_pixels, few, turned, config.n_test)
    for name in PLANES:
        pieces.setdefault(name, each_seed(learn_plane, few, name, one, ("labelled_start",), config.n_test))
    return pieces


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C10, C12, C13, C29 and C32."""
    yield from check_rotations(found[ROTATION])
    yield from check_random_pixels({turned: found[PIXELS + turned] for turned in TURNED})
    yield from check_weights(found[ROTATION])
    yield from check_translations({eye: found[name] for name, eye in TRANSLATIONS.items()})
    yield from check_affine(found["affine"])
    yield from check_antisymmetry(found)


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw the filters that NSM learned by the paper's feature (Figs. 5a-b, 6), of the first seed."""
    drawn = {}
    for name in (ROTATION, *TRANSLATIONS, "affine"):
        plane = PLANES[name]
        motion = MOTIONS[plane.motion]
        filters = Generators(found[name]["change"]["nsm"].filters[0], (plane.side, plane.side))
        title = f"NSM, {plane.motion}, sigma {EYES[plane.eye]:.3g}, the paper's feature: filters of whitened frames"
        drawn[f"filters_{name}"] = filter_sheet(filters, list(map(motion.called, motion.ways)), suptitle=title)
    return drawn

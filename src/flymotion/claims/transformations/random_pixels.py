"""The paper's own data: images of independent random pixels, rotated by small angles (Suppl. D.1; C10).

Independent pixels say nothing of what is between them, so turning them takes an assumption, which the paper does not
name. Three obvious ones, of images of intensities uniform in (0, 1):

- *seen*: the band-limited function through the pixels, looked at through optics of 0.8 pixels before and after;
- *bilinear*: the pixels themselves before, and after what an image library makes of them by linear interpolation;
- *cubic*: the same by cubic splines, SciPy's own choice.

Linear interpolation is a blur, which the frame before has not seen, and the blur leads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy import ndimage

from flymotion.claims.beside import beside, nulls_by
from flymotion.claims.nulls import NULLS
from flymotion.claims.rows import Claim, report
from flymotion.claims.running import Found
from flymotion.claims.transformations.learned_in_planes import N_COMPONENTS, count_generators, learn_lesson
from flymotion.claims.transformations.planes import EYES, MOTIONS
from flymotion.claims.transformations.rotations import derivatives, signed_cosines
from flymotion.claims.ways import FEATURES, LIKE, early_vision, labelled, succeeded
from flymotion.frames import FramePairs
from flymotion.world.eyes import Grid
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import photograph

__all__ = ["TURNED", "check_random_pixels", "learn_random_pixels", "turned_images"]

TURNED = {
    "seen": "seen through optics of 0.8 pixels",
    "bilinear": "turned by linear interpolation",
    "cubic": "turned by cubic splines",
}

SIDE, LARGER = 5, 9
"""Of the images, and of those that they are cut from [pixels]: of what comes in from outside there is enough."""

N_PAIRS = 5000

N_ANGLES = 4
"""Sizes of rotation, each way, where a library turns images."""


def learn_random_pixels(turned: str, n_test: int, seed: int) -> dict[str, dict[str, Any]]:
    """Learn from images turned so: by feature and algorithm."""
    rng = np.random.default_rng([seed, 10])
    pairs, new = (_seen(n, rng) if turned == "seen" else turned_images(turned, n, rng) for n in (N_PAIRS, n_test))
    motion, analytic = MOTIONS["rotation"], derivatives(SIDE, "rotation")
    lessons = labelled(early_vision(), Grid(SIDE, SIDE), motion, lambda Z: analytic, pairs, new)
    algorithms: Mapping[str, Sequence[str]] = {"change": ("kmeans", "sm", "pca"), "midpoint": ()}
    return {feature: learn_lesson(given, algorithms[feature], seed) for feature, given in lessons.items()}


def _seen(n_pairs: int, rng: np.random.Generator) -> FramePairs:
    scene = photograph(rng.random((128, 128)), pixels_per_spacing=1)
    return sample_pairs(scene, Grid(SIDE, SIDE, EYES["wide"]), MOTIONS["rotation"], n_pairs, rng)


def turned_images(turned: str, n_pairs: int, rng: np.random.Generator) -> FramePairs:
    """Draw images of independent pixels, and turn each by one of a few angles, counter-clockwise where positive."""
    motion = MOTIONS["rotation"]
    angles, weights = motion.quadrature(N_ANGLES)
    operators = _operators(1 if turned == "bilinear" else 3, tuple(angles[:, 0]))
    which = rng.choice(len(weights), n_pairs, p=weights / weights.sum())
    images = rng.random((n_pairs, LARGER**2))
    after = np.empty_like(images)
    for k, operator in enumerate(operators):
        after[which == k] = images[which == k] @ operator
    middle = slice((LARGER - SIDE) // 2, (LARGER + SIDE) // 2)
    before, after = (each.reshape(-1, LARGER, LARGER)[:, middle, middle] for each in (images, after))
    return FramePairs(before, after, angles[which], motion.names)


@cache
def _operators(order: int, angles: tuple[float, ...]) -> np.ndarray:
    """Return what a library's rotations do to each pixel's image, shape (n_angles, n, n): images are rows."""
    each = np.eye(LARGER**2).reshape(-1, LARGER, LARGER)
    return np.stack(
        [[ndimage.rotate(image, angle, reshape=False, order=order).ravel() for image in each] for angle in angles]
    )


def check_random_pixels(found: Mapping[str, Found]) -> Iterator[Claim]:
    """Report C10 on the paper's own data, of what was found by the key of ``TURNED``."""
    for turned, learned_by in found.items():
        for feature, learned in learned_by.items():
            yield from _check_one(turned, feature, learned)


def _check_one(turned: str, feature: str, learned: Found) -> Iterator[Claim]:
    ways, derivative, nsm = MOTIONS["rotation"].ways, derivatives(SIDE, "rotation"), learned["nsm"]

    def like(of: Any) -> np.ndarray:
        return signed_cosines(of.filters, derivative, ways, learned["Z"])

    id, end = f"C10.pixels_{turned}", "" if feature == "change" else f"_{feature}"
    words = f"5 x 5 independent random pixels {TURNED[turned]}, {FEATURES[feature]}"
    title = f"cosine of filters in pixels with the rotation's derivative operator, {words}"
    note = f"{N_PAIRS} pairs; on whitened frames {nsm.cosines.min():.3f}; NSM names {nsm.accuracy.min():.3f} of new "
    note += f"pairs, averages by label {learned['labelled'].accuracy.min():.3f}"
    row = report(f"{id}{end}", f"{title}: NSM", like(nsm), worst=np.min, note=note)
    names = {name: words for name, words in NULLS.items() if name != "population"}
    yield from beside(row, **nulls_by(like, learned, np.min, names))
    title = f"seeds in which both senses are found, {words}"
    note = f"whitened frames, each above {LIKE} with the derivative operator"
    for name, label in (
        ("nsm", "NSM"),
        ("kmeans", "K-means"),
        ("start", NULLS["start"]),
        ("labelled", NULLS["labelled"]),
    ):
        if name in learned:
            suffix = end if name == "nsm" else f"{end}_{name}"
            succeeds = succeeded(learned[name])
            yield report(f"{id}_seeds{suffix}", f"{title}: {label}", succeeds, worst=np.sum, unit="seeds", note=note)
    for name in [name for name in ("sm", "pca") if name in learned]:
        counts, told = count_generators(name, learned, 1)
        title = f"generators among {name.upper()}'s first {N_COMPONENTS} components, fewest of a seed, {words}"
        yield report(f"{id}_generators_{name}{end}", title, counts, worst=np.min, unit="generators", note=told)

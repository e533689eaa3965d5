"""The cases of the accuracy table: pairs of frames whose motion is known, and what they are called."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from truth_cameras import blurred, coded, dim, rolling_shutter
from truth_light import LIGHTS, OTHERS, lit
from truth_methods import confidence
from truth_pairs import Pair, dimetrodon, noisy_pair, stereo
from truth_rendered import FURTHEST, panoramas, photographs, things

SIZES = (0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64)
"""Motion of photographs [pixels]."""

NOISES = (0, 1, 2, 5, 10)
"""Noise of the sensor, standard deviation [grey levels]."""

PHOTONS = (50, 20, 10)

CRFS = (18, 28, 38)

SLOW, FAST = "up to 2 px", "4 px and more"


class Case(NamedTuple):
    """Pairs of frames, none where their files are not here; a part of another case takes the other's time."""

    kind: str
    label: str
    make: Callable[[], Sequence[Pair]]
    whole: str | None = None


def with_noise(make: Callable[..., list[Any]], noise: float, *given: Any) -> list[Pair]:
    return [noisy_pair(pair, noise) for pair in make(*given)]


@cache
def cases() -> dict[str, Case]:
    """Return the cases by name, in the order of the table; nothing is rendered before a case is made."""
    parts = (
        real,
        small_and_large,
        by_contrast,
        turning,
        small_things,
        in_panoramas,
        under_lights,
        shutters,
        in_the_dark,
        in_codecs,
    )
    return {name: case for part in parts for name, case in part()}


# -- measured by others ------------------------------------------------------------------------------------------------


def real() -> Iterator[tuple[str, Case]]:
    factors: dict[Any, dict[int, str]] = {
        dimetrodon: {1: "2.1", 2: "1.0", 4: "0.5"},
        stereo: {1: "35", 4: "9", 8: "4.6", 16: "2.4"},
    }
    for source, speeds in factors.items():
        kind = source.__name__.capitalize()
        for factor, speed in speeds.items():
            name = f"{source.__name__}.{factor}x"
            make = partial(one, source, factor)
            label = kind if factor == 1 else f"{kind} / {factor}"
            yield name, Case(kind, f"{label}, {speed} px", make)
            if source is dimetrodon:
                part = partial(parts_of, make, confident_half)
                yield f"{name}.confident", Case(kind, f"{label}, most confident half", part, name)
            if factor in (1, 8):
                part = partial(parts_of, make, near_edges)
                yield f"{name}.edges", Case(kind, f"{label}, within 8 px of edges", part, name)


def one(source: Callable[[int], Pair | None], factor: int) -> list[Pair]:
    pair = source(factor)
    return [] if pair is None else [pair]


def parts_of(make: Callable[[], Sequence[Pair]], part: Callable[[Pair], np.ndarray]) -> list[Pair]:
    """Return pairs whose truth is known only where ``part`` says."""
    return [pair._replace(truth=np.where(part(pair), pair.truth, np.nan)) for pair in make()]


def confident_half(pair: Pair) -> np.ndarray:
    return among_most(confidence(pair), np.isfinite(pair.truth[0]), 0, 0.5)


def near_edges(pair: Pair) -> np.ndarray:
    """Return where the truth changes by a quarter of a pixel between neighbours, and what is near."""
    from scipy.ndimage import maximum_filter

    steps = np.abs(np.gradient(pair.truth, axis=(1, 2))).max(axis=(0, 1)) > 0.25
    return maximum_filter(steps, 17)


def among_most(key: np.ndarray, known: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return which of the known pixels are between two shares of them, those of the largest key first."""
    order = np.argsort(-key[known], kind="stable")
    place = np.empty(len(order))
    place[order] = np.arange(len(order)) / len(order)
    chosen = np.zeros(key.shape, bool)
    chosen[known] = (place >= low) & (place < high)
    return chosen


# -- photographs -------------------------------------------------------------------------------------------------------


def small_and_large() -> Iterator[tuple[str, Case]]:
    for noise in NOISES:
        for size in SIZES if noise in (0, 2, 10) else (0.25,):
            kind = f"{SLOW if size <= 2 else FAST}, {'noise' if noise else 'no noise'}"
            label = f"{size:g} px, noise {noise}" + (", 640 x 480" if size >= FURTHEST else "")
            make = partial(with_noise, photographs, noise, "translation", size)
            yield f"translation.{size:g}px.noise-{noise}", Case(kind, label, make)


def by_contrast() -> Iterator[tuple[str, Case]]:
    for k, which in enumerate(("quarter of most contrast", "second quarter", "third quarter", "quarter of least")):
        label = f"0.25 px, noise 2, {which}"
        yield f"contrast.{k + 1}", Case(f"{SLOW}, noise", label, partial(quarter, k), "translation.0.25px.noise-2")


def quarter(k: int) -> list[Pair]:
    """Return photographs where they have most contrast within 9 x 9 pixels, or the next quarter of the pixels."""
    from scipy.ndimage import uniform_filter

    pairs = []
    for clean in photographs("translation", 0.25):
        contrast = uniform_filter(clean[0] ** 2, 9) - uniform_filter(clean[0], 9) ** 2
        chosen = among_most(contrast, np.isfinite(clean[2][0]), k / 4, (k + 1) / 4)
        pairs += parts_of(lambda: [noisy_pair(clean, 2)], lambda pair: chosen)  # noqa: B023 - called at once
    return pairs


def turning() -> Iterator[tuple[str, Case]]:
    kind = "turning and growing, noise"
    for what, size, label in (
        ("rotation", 0.2, "turns by 0.2 deg"),
        ("rotation", 1.0, "turns by 1 deg"),
        ("rotation", 5.0, "turns by 5 deg"),
        ("zoom", 0.002, "grows by 0.2 %"),
        ("zoom", 0.01, "grows by 1 %"),
        ("zoom", 0.05, "grows by 5 %"),
    ):
        yield f"{what}.{size:g}", Case(kind, f"{label}, noise 2", partial(with_noise, photographs, 2, what, size))


def small_things() -> Iterator[tuple[str, Case]]:
    for radius, size in ((12, 2), (12, 4), (24, 4), (24, 8), (24, 12), (48, 24)):
        label = f"{2 * radius} px across, {size} px, noise 2"
        yield f"things.{radius}px.{size}px", Case("small things", label, partial(with_noise, things, 2, radius, size))


def in_panoramas() -> Iterator[tuple[str, Case]]:
    for noise in (0, 5):
        for size in (0.1, 0.5, 2.0):
            make = partial(with_noise, panoramas, noise, size)
            yield f"panorama.{size:g}px.noise-{noise}", Case("panoramas", f"{size:g} px, noise {noise}", make)


# -- light and cameras -------------------------------------------------------------------------------------------------


def under_lights() -> Iterator[tuple[str, Case]]:
    for kind, lights, sizes in (("changing light", LIGHTS, (0, 0.5, 2)), ("other lights", OTHERS, (0, 2))):
        for light, size in itertools.product(lights, sizes):
            label = f"{light}, {f'{size:g} px' if size else 'still'}, noise 2"
            name = f"light.{light.replace(' ', '-')}.{size:g}px"
            yield name, Case(kind, label, partial(with_noise, lit, 2, light, size))


def shutters() -> Iterator[tuple[str, Case]]:
    kind = "shutters"
    for size in (1, 4):
        make = partial(with_noise, rolling_shutter, 2, size)
        yield f"rolling.{size}px", Case(kind, f"rolling, {size} px, shaking, noise 2", make)
    for size in (2, 8):
        make = partial(with_noise, blurred, 2, size)
        yield f"blur.{size}px", Case(kind, f"open all the time, {size} px, noise 2", make)


def in_the_dark() -> Iterator[tuple[str, Case]]:
    for size in (0.5, 2):
        for photons in PHOTONS:
            label = f"{size:g} px, {photons} photons a pixel"
            yield f"dim.{size:g}px.photons-{photons}", Case("low light", label, partial(dim, size, photons))


def in_codecs() -> Iterator[tuple[str, Case]]:
    for size in (0.5, 2):
        for crf in CRFS:
            make = partial(coded, size, crf)
            yield f"codec.{size:g}px.crf-{crf}", Case("codec", f"{size:g} px, H.264 at CRF {crf}", make)

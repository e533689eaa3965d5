"""What the accuracy table leaves out: angles, confidence, its own estimate of its error, and directions of four.

Beside OpenCV's dense optical flow, of pairs whose motion is known; see docs/accuracy.md. Errors of all settings are in
`pareto.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from truth_cases import among_most, cases
from truth_methods import (
    DEFAULT,
    Flow,
    Row,
    against,
    confidence,
    errors,
    peers,
    row,
    setting,
    settings,
    velocity_of,
)
from truth_pairs import Pair, noisy_pair
from truth_rendered import photographs

SHARES = (25, 50, 75, 100)

CHANGES: dict[str, dict[str, int]] = {"scales-3": {"scales": 3}, "radius-1": {"radius": 1}, "radius-4": {"radius": 4}}


def beside(name: str, mine: float, others: dict[str, float], unit: str, note: str) -> Iterator[Row]:
    """Yield one row for each peer, or the only one."""
    if not others:
        yield row(name, mine, None, unit, f"{note}; {against()}")
    for peer, value in others.items():
        yield row(f"{name}.{peer}", mine, value, unit, f"{note}; {against()}")


def medians_and_angles() -> Iterator[Row]:
    """Yield the median end-point error and the mean angular error of what others measured."""
    for name, case in cases().items():
        if not name.startswith(("dimetrodon", "stereo")) or case.whole or not (pairs := case.make()):
            continue
        found = {method: errors(flow, pairs) for method, flow in {"ours": settings()[DEFAULT], **peers()}.items()}
        medians = {method: float(np.median(e.endpoint)) for method, e in found.items()}
        angles = {method: float(np.mean(e.angle)) for method, e in found.items()}
        yield from beside(f"truth.{name}.median", medians.pop("ours"), medians, "px", f"{case.label}, median")
        yield from beside(f"truth.{name}.angle", angles.pop("ours"), angles, "deg", f"{case.label}, mean angular error")


def confident() -> Iterator[Row]:
    """Yield errors of the most confident pixels, the same for all methods."""
    for name in ("dimetrodon.1x", "translation.0.25px.noise-2"):
        pairs = cases()[name].make()
        keys = [confidence(pair) for pair in pairs]
        for share in SHARES if pairs else ():
            chosen = [masked(pair, key, share) for pair, key in zip(pairs, keys, strict=True)]
            found = {method: float(errors(flow, chosen).endpoint.mean()) for method, flow in peers().items()}
            mine = float(errors(settings()[DEFAULT], chosen).endpoint.mean())
            note = f"{cases()[name].label}, the {share} % of pixels of the largest confidence"
            yield from beside(f"truth.confident.{name}.{share}", mine, found, "px", note)


def masked(pair: Pair, key: np.ndarray, share: float) -> Pair:
    chosen = among_most(key, np.isfinite(pair.truth[0]), 0, share / 100)
    return pair._replace(truth=np.where(chosen, pair.truth, np.nan))


def changed() -> Iterator[Row]:
    """Yield errors of other windows and numbers of scales."""
    for size, noise in ((0.25, 0), (0.25, 5), (2.0, 0), (8.0, 0)):
        pairs = [noisy_pair(pair, noise) for pair in photographs("translation", size)]
        default = float(errors(settings()[DEFAULT], pairs).endpoint.mean())
        for name, changes in CHANGES.items():
            note = f"{', '.join(f'{k}={v}' for k, v in changes.items())} against the default"
            flow = velocity_of(setting(DEFAULT, outputs=("velocity",), **changes))
            value = float(errors(flow, pairs).endpoint.mean())
            yield row(f"truth.setting.{name}.{size:g}px.noise-{noise}", value, default, "px", note)


# -- its own estimate of its error -------------------------------------------------------------------------------------


def calibration() -> Iterator[Row]:
    """Yield, of each kind of case, how far the estimate of the error can be trusted, beside one number for all pixels.

    That number is half of what 95 % of the kind's errors are below: right by knowing the truth, but it says nothing
    about any one pixel.
    """
    field = setting(DEFAULT, outputs=("velocity", "error"))
    for kind in dict.fromkeys(case.kind for case in cases().values()):
        pairs = [pair for c in cases().values() if c.kind == kind and c.whole is None for pair in c.make()]
        if not pairs:
            continue
        true, told = np.concatenate([true_and_told(field, pair) for pair in pairs], axis=1)
        known = np.isfinite(told)
        true, told = true[known], told[known]
        name, note = f"truth.error.{kind}", f"{kind}; speed={DEFAULT!r}"
        within = 100 * float(np.mean(true <= 2 * told))
        yield row(f"{name}.within", within, 95.0, "%", f"{note}; true errors within twice the estimate", higher=True)
        median, one_number = np.median(told) / np.median(true), np.percentile(true, 95) / 2 / np.median(true)
        note_of_median = f"{note}; median estimate over median error, at most 2; beside one number for all pixels"
        yield row(f"{name}.median", float(median), float(one_number), "", note_of_median)
        yield row(f"{name}.told", 100 * float(known.mean()), None, "%", f"{note}; pixels that have an estimate")


def true_and_told(field: Any, pair: Pair) -> np.ndarray:
    """Return true errors and estimates of them, shape (2, n_pixels)."""
    from flymotion.field.truth import endpoint_error

    found, known = field.between(pair.before, pair.after), np.isfinite(pair.truth[0])
    return np.stack([endpoint_error(found.velocity, pair.truth)[known], found.error[known]])


# -- directions --------------------------------------------------------------------------------------------------------

CARDINAL = (0.0, 90.0, 180.0, 270.0)


@cache
def readers() -> dict[str, Flow]:
    """Return ways to tell each pixel's direction of four: 0 = right, then counter-clockwise."""
    from scipy.ndimage import uniform_filter

    from flymotion import learn
    from flymotion.field import MotionField

    def strongest(field: MotionField) -> Flow:
        names = np.round(field.angles / 90).astype(int) % 4
        return lambda before, after: names[np.argmax(field.between(before, after).directions, axis=0)]

    def summed(field: MotionField) -> Flow:
        return quantised(lambda before, after: uniform_filter(field.between(before, after).opponent, (0, 9, 9)))

    def quantised(flow: Flow) -> Flow:
        def read(before: np.ndarray, after: np.ndarray) -> np.ndarray:
            u, v = flow(before, after)
            return np.round(np.arctan2(-v, u) / (np.pi / 2)).astype(int) % 4

        return read

    ways = ("directions", "opponent")
    three = MotionField(outputs=ways)
    learned = {n: MotionField(learn(["bundled"], patch=n).generators_, outputs=ways) for n in (5, 7)}
    return {
        "three-pixel": strongest(three),
        "three-pixel-9x9": summed(three),
        **{f"learned-{n}": strongest(field) for n, field in learned.items()},
        "learned-7-9x9": summed(learned[7]),
        "velocity": quantised(settings()[DEFAULT]),
        **{name: quantised(flow) for name, flow in peers().items()},
    }


def directions() -> Iterator[Row]:
    for size in (0.1, 0.25, 0.5, 1.0, 2.0):
        clean = photographs("translation", size, CARDINAL)
        truth = np.arange(len(clean)) % 4
        for noise in (0, 2, 5, 10):
            pairs = [noisy_pair(pair, noise) for pair in clean]
            right = {
                name: 100 * float(np.mean([share_right(read, *each) for each in zip(pairs, truth, strict=True)]))
                for name, read in readers().items()
            }
            rival = max(peers(), key=right.__getitem__, default=None)
            note = f"photographs move by {size} px, noise {noise}; pixels whose direction, of four, is right; peer: "
            note += f"the best of four flows, {rival}, {against()}" if rival else against()
            for name in (name for name in right if name not in peers()):
                best = right[rival] if rival else None
                yield row(f"truth.direction.{size:g}px.noise-{noise}.{name}", right[name], best, "%", note, higher=True)


def share_right(read: Flow, pair: Pair, truth: int) -> float:
    return float((read(pair.before, pair.after) == truth)[np.isfinite(pair.truth[0])].mean())


def truth() -> Iterator[Row]:
    for part in (medians_and_angles, confident, changed, calibration, directions):
        yield from part()

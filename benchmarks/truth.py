"""Velocity fields and directions against the truth, beside OpenCV's dense optical flow; see docs/accuracy.md."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
from truth_pairs import Pair, dimetrodon, noisy_pair, panoramas, photographs, stereo

Row = dict[str, Any]
Flow = Callable[[np.ndarray, np.ndarray], np.ndarray]

SIZES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
NOISES = (0, 1, 2, 5, 10)
SHARES = (25, 50, 75, 100)

SETTINGS: dict[str, dict[str, Any]] = {
    "finest-0": {"finest": 0},
    "scales-1": {"scales": 1, "finest": 0},
    "scales-3": {"scales": 3},
    "radius-2": {"radius": 2},
    "radius-8": {"radius": 8},
}


def row(name: str, ours: float | None, peer: float | None, unit: str, note: str, *, higher: bool = False) -> Row:
    return sys.modules["__main__"].row(name, ours, peer, unit, note, higher=higher)  # run.py, which imports us


def ours(**settings: Any) -> Flow:
    from flymotion.field import MotionField

    field = MotionField(outputs=("velocity",), **settings)
    return lambda before, after: field.between(before, after).velocity


def confidence(pair: Pair) -> np.ndarray:
    from flymotion.field import MotionField

    return MotionField(outputs=("confidence",)).between(pair.before, pair.after).confidence


@cache
def peers() -> dict[str, Flow]:
    """Return OpenCV's flows, on two threads; none without OpenCV."""
    try:
        import cv2
    except ImportError:
        return {}
    cv2.setNumThreads(2)

    def dis(preset: int) -> Flow:
        flow = cv2.DISOpticalFlow_create(preset)
        return lambda before, after: flow.calc(before, after, None).transpose(2, 0, 1)

    def farneback(before: np.ndarray, after: np.ndarray) -> np.ndarray:
        return cv2.calcOpticalFlowFarneback(before, after, None, 0.5, 3, 15, 3, 5, 1.2, 0).transpose(2, 0, 1)

    presets = {"dis-ultrafast": 0, "dis-fast": 1, "dis-medium": 2}
    return {name: dis(preset) for name, preset in presets.items()} | {"farneback": farneback}


@cache
def against() -> str:
    if not peers():
        return "no peer: OpenCV is not installed"
    import cv2

    return f"OpenCV {cv2.__version__}"


# -- errors ------------------------------------------------------------------------------------------------------------


class Errors(NamedTuple):
    """Of all pixels, of all pairs, whose motion is known, shape (n_pixels,)."""

    endpoint: np.ndarray
    angle: np.ndarray

    def summary(self) -> dict[str, tuple[float, str]]:
        return {
            "mean": (float(np.mean(self.endpoint)), "px"),
            "median": (float(np.median(self.endpoint)), "px"),
            "angle": (float(np.mean(self.angle)), "deg"),
        }


def errors(flow: Flow, pairs: Sequence[Pair]) -> Errors:
    from flymotion.field.truth import angular_error, endpoint_error

    found = []
    for before, after, truth in pairs:
        velocity = flow(before, after)
        known = np.isfinite(truth[0])
        found.append(np.stack([score(velocity, truth)[known] for score in (endpoint_error, angular_error)]))
    return Errors(*np.concatenate(found, axis=1))


def all_errors(pairs: Sequence[Pair]) -> dict[str, Errors]:
    return {name: errors(flow, pairs) for name, flow in {"ours": ours(), **peers()}.items()}


def beside(name: str, mine: float, others: dict[str, float], unit: str, note: str) -> Iterator[Row]:
    """Yield one row for each peer, or the only one."""
    if not others:
        yield row(name, mine, None, unit, f"{note}; {against()}")
    for peer, value in others.items():
        yield row(f"{name}.{peer}", mine, value, unit, f"{note}; {against()}")


def compared(name: str, pairs: Sequence[Pair], note: str, figures: Sequence[str] = ("mean",)) -> Iterator[Row]:
    """Yield rows of errors over all pixels."""
    summaries = {method: found.summary() for method, found in all_errors(pairs).items()}
    mine = summaries.pop("ours")
    for figure in figures:
        value, unit = mine[figure]
        others = {method: summary[figure][0] for method, summary in summaries.items()}
        yield from beside(f"{name}.{figure}", value, others, unit, note)


def sorted_by(name: str, pairs: Sequence[Pair], keys: Sequence[np.ndarray], note: str, bins: bool) -> Iterator[Row]:
    """Yield rows of the mean end-point error of the shares of pixels with the largest keys; or of each quarter."""
    key = np.concatenate([k[np.isfinite(pair.truth[0])] for k, pair in zip(keys, pairs, strict=True)])
    order = np.argsort(-key, kind="stable")
    found = {method: e.endpoint[order] for method, e in all_errors(pairs).items()}
    for low, high in zip((0, *SHARES), SHARES, strict=False):
        part = slice(len(key) * low // 100 if bins else 0, len(key) * high // 100)
        means = {method: float(e[part].mean()) for method, e in found.items()}
        yield from beside(f"{name}.{high}", means.pop("ours"), means, "px", note)


# -- rows --------------------------------------------------------------------------------------------------------------


def real_pairs() -> Iterator[Row]:
    for source, factors in ((dimetrodon, (1, 2, 4)), (stereo, (1, 4, 8, 16))):
        name = f"truth.{source.__name__}"
        for factor in factors:
            pair = source(factor)
            if pair is None:
                yield row(name, None, None, "px", "skipped: its files are not here")
                break
            speed = np.nanmean(np.hypot(*pair.truth))
            note = f"reduced {factor} times, mean speed {speed:.2f} px"
            yield from compared(f"{name}.{factor}x", [pair], note, ("mean", "median", "angle"))
            edges = near_edges(pair)
            if np.isfinite(edges.truth).any():
                yield from compared(f"{name}.{factor}x.edges", [edges], f"{note}; within 8 px of its steps")
            if source is dimetrodon:
                note += "; the most confident pixels [%]"
                yield from sorted_by(f"{name}.{factor}x.confident", [pair], [confidence(pair)], note, False)


def near_edges(pair: Pair) -> Pair:
    """Return a pair whose truth is known only near where it changes by a quarter of a pixel between neighbours."""
    from scipy.ndimage import maximum_filter

    steps = np.abs(np.gradient(pair.truth, axis=(1, 2))).max(axis=(0, 1)) > 0.25
    return pair._replace(truth=np.where(maximum_filter(steps, 17), pair.truth, np.nan))


def translations() -> Iterator[Row]:
    for size in SIZES:
        for noise in NOISES:
            pairs = [noisy_pair(pair, noise) for pair in photographs("translation", size)]
            note = f"photographs move by {size} px, noise of {noise} grey levels; mean end-point error"
            yield from compared(f"truth.translation.{size:g}px.noise-{noise}", pairs, note)


def other_motions() -> Iterator[Row]:
    for kind, size, unit in (
        ("rotation", 0.2, "deg"),
        ("rotation", 1.0, "deg"),
        ("zoom", 0.002, ""),
        ("zoom", 0.01, ""),
    ):
        pairs = [noisy_pair(pair, 2) for pair in photographs(kind, size)]
        speed = np.nanmean([np.hypot(*pair.truth) for pair in pairs])
        note = f"photographs, {kind} {size:g} {unit}".rstrip() + f", mean speed {speed:.2f} px, noise 2"
        yield from compared(f"truth.{kind}.{size:g}{unit}.noise-2", pairs, note)
    for size in (0.1, 0.5, 2.0) if panoramas(0.5) else ():
        for noise in (0, 5):
            pairs = [noisy_pair(pair, noise) for pair in panoramas(size)]
            note = f"a camera turns in panoramas (log luminance) by {size} px in the middle, noise {noise}"
            yield from compared(f"truth.panorama.{size:g}px.noise-{noise}", pairs, note)


def textures() -> Iterator[Row]:
    from scipy.ndimage import uniform_filter

    def contrast(frame: np.ndarray) -> np.ndarray:
        return uniform_filter(frame**2, 9) - uniform_filter(frame, 9) ** 2

    clean = photographs("translation", 0.25)
    pairs = [noisy_pair(pair, 2) for pair in clean]
    note = "photographs move by 0.25 px, noise 2; "
    keys = [contrast(before) for before, _, _ in clean]
    yield from sorted_by(
        "truth.contrast", pairs, keys, note + "quarters of pixels, of most contrast within 9 x 9 first", True
    )
    keys = [confidence(pair) for pair in pairs]
    yield from sorted_by("truth.confident", pairs, keys, note + "the most confident pixels [%]", False)


def settings() -> Iterator[Row]:
    for size, noise in ((0.25, 0), (0.25, 5), (2.0, 0), (8.0, 0)):
        pairs = [noisy_pair(pair, noise) for pair in photographs("translation", size)]
        default = errors(ours(), pairs).endpoint.mean()
        for name, changed in SETTINGS.items():
            note = f"MotionField({', '.join(f'{k}={v}' for k, v in changed.items())}) against the default"
            value = errors(ours(**changed), pairs).endpoint.mean()
            yield row(f"truth.setting.{name}.{size:g}px.noise-{noise}", float(value), float(default), "px", note)


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
        "velocity": quantised(ours()),
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


# -- time --------------------------------------------------------------------------------------------------------------


def times() -> Iterator[Row]:
    from flymotion.field import MotionField

    frames = [np.tile(frame, (3, 3)) for frame in noisy_pair(photographs("translation", 0.25)[0], 2)[:2]]
    stream, turns = MotionField(outputs=("velocity",)).stream(), cycle(frames)
    stream.step(next(turns))
    calls = [lambda: stream.step(next(turns)), *(partial(flow, *frames) for flow in peers().values())]
    seconds = sys.modules["__main__"].in_turns(*calls, repeats=15)
    taken = {name: 1e3 * s for name, s in zip(["ours", *peers()], seconds, strict=True)}
    note = f"velocity of {frames[0].shape[1]} x {frames[0].shape[0]} pixels, two threads"
    yield from beside("truth.time", taken.pop("ours"), taken, "ms/frame", note)


def truth() -> Iterator[Row]:
    for part in (times, real_pairs, translations, other_motions, textures, settings, directions):
        yield from part()

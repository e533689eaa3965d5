"""Translation, rotation and looming of the whole frame against known motion, beside what OpenCV has for it.

Motions are those of :class:`flymotion.field.frame_motion.GlobalMotion`: of what is at the frame's centre midway between
both frames. `frame_motion_report.py` fills docs/frame-motion.md in.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
from truth_pairs import seen
from truth_rendered import worlds

Row = dict[str, Any]
Motion = tuple[float, float, float, float]
Method = Callable[[np.ndarray, np.ndarray], Motion]

SIZE = (240, 320)
"""Of the frames [pixels]."""

OPTICS, PANORAMA_OPTICS = 0.6, 0.53
"""Acceptance width of the eye that looks at photographs [pixels], and in panoramas [deg], 1.5 rows of them."""

PHOTOGRAPHS = ("china.jpg", "flower.jpg")

DIRECTIONS = (20.0, 140.0, 260.0)
"""That photographs move in [deg], none along an axis; 0 = right, counter-clockwise."""

SHIFTS = (0.2, 1.0, 5.0, 20.0, 40.0)
ANGLES = (0.2, 1.0, 5.0, 10.0)
GROWTHS = (0.002, 0.01, 0.05, 0.1)
NOISES = (0, 5)
LENSES = {"narrow": 260.0, "wide": 130.0}
"""Focal lengths [pixels]: the frames' 320 pixels are 63 and 102 degrees wide."""

SHARES = (0.15, 0.3)
"""Of the frame that moves otherwise."""

OTHERWISE = ((12.0, 5.0), (-6.0, 2.0), (3.0, -20.0))
"""How it moves [pixels]."""

OUTPUTS = ("velocity", "confidence", "error")
"""What ours takes of a field."""

GRID = 1500
"""About as many places of a flow are given to RANSAC; ours looks at 1200."""

REACH = 3.0
"""What RANSAC takes for agreement [px]: OpenCV's own choice."""

NOTHING = 1e-6
"""No error is taken to be less, since ratios are told."""

FIGURES = {"translation": "px", "rotation": "deg", "looming": "%"}
STILL = (0.0, 0.0, 0.0, 0.0)


class Shot(NamedTuple):
    before: np.ndarray
    after: np.ndarray
    truth: Motion


# -- motions of maps ---------------------------------------------------------------------------------------------------


def told(homography: np.ndarray) -> Motion:
    """Return the motion that a homography about the centre makes there, midway."""

    def to(p: np.ndarray) -> np.ndarray:
        x, y, w = homography @ [*p, 1.0]
        return np.array([x, y]) / w

    p = np.zeros(2)
    for _ in range(30):
        p = (p - to(p)) / 2  # as far on one side of the centre as it is on the other afterwards
    J = np.stack([(to(p + step) - to(p - step)) / 2e-3 for step in 1e-3 * np.eye(2)], axis=1)
    a = 2 * (J - np.eye(2)) @ np.linalg.inv(J + np.eye(2))
    return (*(to(p) - p).tolist(), *turned(complex(a[0, 0] + a[1, 1], a[1, 0] - a[0, 1]) / 2))


def turned(a: complex) -> tuple[float, float]:
    A = (2 + a) / (2 - a)
    return -math.degrees(math.atan2(A.imag, A.real)), abs(A) - 1


def errors(found: Motion, truth: Motion) -> tuple[float, ...]:
    """Return errors of translation [px], rotation [deg] and looming [%]; what has no answer is taken to say: rest."""
    x, y, rotation, looming = np.nan_to_num(found) - truth
    return tuple(max(error, NOTHING) for error in (math.hypot(x, y), abs(rotation), 100 * abs(looming)))


# -- what is seen ------------------------------------------------------------------------------------------------------


@cache
def scene(name: str) -> Any:
    from sklearn.datasets import load_sample_image

    from flymotion.world.scenes import photograph

    return photograph(load_sample_image(name), pixels_per_spacing=1.0)


def photographed(name: str, motion: Motion) -> np.ndarray:
    """Return two frames of a photograph, the second after a motion; nothing is interpolated."""
    from flymotion.world.eyes import Grid
    from flymotion.world.rendering import render

    x, y, rotation, looming = motion
    turn, half = math.radians(rotation), np.array([x, y]) / 2
    back = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]) / (1 + looming)
    middle = scene(name).extent.mean(axis=1)
    looks = [np.column_stack([np.eye(2), middle]), np.column_stack([back, middle - half - back @ half])]
    return render(scene(name), Grid(*SIZE, OPTICS), looks).reshape(2, *SIZE)


def shots(kind: str, size: float) -> list[Shot]:
    """Return photographs that move as a whole: by size pixels, degrees, or a factor of 1 + size or its inverse."""
    angles = np.radians(DIRECTIONS)
    motions: list[Motion] = {
        "translation": [(size * math.cos(a), -size * math.sin(a), 0.0, 0.0) for a in angles],
        "rotation": [(0.0, 0.0, size, 0.0), (0.0, 0.0, -size, 0.0)],
        "zoom": [(0.0, 0.0, 0.0, size), (0.0, 0.0, 0.0, 1 / (1 + size) - 1)],
    }[kind]
    return [Shot(*photographed(name, motion), motion) for name in PHOTOGRAPHS for motion in motions]


@cache
def turns(lens: str, kind: str, size: float) -> list[Shot]:
    """Return panoramas seen by a camera that yaws and pitches by size pixels at its middle, or rolls by size degrees.

    Frames are log luminance, 0 to 255.
    """
    from flymotion.photoreceptors import LogIntensity
    from flymotion.world.eyes import Grid, Sphere
    from flymotion.world.motions import Turn
    from flymotion.world.rendering import render

    focal, flat = LENSES[lens], Grid(*SIZE).positions
    eye = Sphere(np.column_stack([np.full(len(flat), focal), -flat]), PANORAMA_OPTICS)  # x forward, y left, z up
    into = np.array([[0.0, 0.0, focal], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
    onto = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1 / focal, 0.0, 0.0]])
    angle = size if kind == "roll" else math.degrees(2 * math.atan(size / focal / 2))
    axes = np.eye(3)[:1] if kind == "roll" else np.eye(3)[1:]
    found = []
    for world in worlds():
        for axis in axes:
            pose = Turn(5.0).maps(angle * axis[None])[0, :, :3].T  # of the eye; content goes the other way
            frames = render(world, eye, np.stack([np.eye(3), pose]))
            frames = LogIntensity().fit(frames).transform(frames).reshape(2, *SIZE)
            found.append(Shot(*(255 * frames / frames.max()), told(onto @ pose.T @ into)))
    return found


def crossings(share: float, shift: float) -> list[Shot]:
    """Return a photograph that moves by ``shift``, part of it covered by another that moves by 6 to 20 pixels."""
    from flymotion.world.eyes import Grid

    places, half = Grid(*SIZE).positions.reshape(*SIZE, 2), math.sqrt(share) / 2 * np.array(SIZE[::-1])
    found = []
    for behind, front in (PHOTOGRAPHS, PHOTOGRAPHS[::-1]):
        for x, y in OTHERWISE:
            motion = (shift, -shift / 2, 0.0, 0.0)
            back, cover = photographed(behind, motion), photographed(front, (x, y, 0.0, 0.0))
            middles = np.array([[-x, -y], [x, y]]) / 2
            covered = [(np.abs(places - middle) < half).all(axis=-1) for middle in middles]
            found.append(Shot(*np.where(covered, cover, back), motion))
    return found


def worlds_of_motion() -> Iterator[tuple[str, str, list[Shot]]]:
    """Yield the name of a row, what is seen, and the pairs."""
    yield "still", "photographs, no motion", shots("translation", 0.0)
    for kind, sizes, unit in (("translation", SHIFTS, "px"), ("rotation", ANGLES, "deg"), ("zoom", GROWTHS, "")):
        for size in sizes:
            text = f"{size:g} {unit}" if unit else f"{100 * size:g} %"
            yield f"{kind}.{size:g}", f"photographs, {kind} by {text}", shots(kind, size)
    for shift in (0.0, 5.0):
        for share in SHARES:
            rest = f"moves by {math.hypot(shift, shift / 2):.1f} px" if shift else "is at rest"
            what = f"{100 * share:.0f} % covered by what moves by 6 to 20 px, the rest {rest}"
            yield f"covered.{share:g}.{shift:g}", f"photographs, {what}", crossings(share, shift)
    for lens, focal in LENSES.items() if worlds() else ():
        view = f"panoramas, {math.degrees(2 * math.atan(SIZE[1] / 2 / focal)):.0f} deg wide"
        for size in SHIFTS:
            yield f"turn.{lens}.{size:g}", f"{view}, yaw or pitch by {size:g} px", turns(lens, "turn", size)
    for size in ANGLES if worlds() else ():
        yield f"roll.{size:g}", f"panoramas, roll by {size:g} deg", turns("narrow", "roll", size)


# -- methods -----------------------------------------------------------------------------------------------------------


@cache
def methods() -> dict[str, Method]:
    """Return ours, and what OpenCV has, on one thread; without it ours alone."""
    from flymotion.field import MotionField
    from flymotion.field.frame_motion import global_motion

    field = MotionField(outputs=OUTPUTS)

    def ours(before: np.ndarray, after: np.ndarray) -> Motion:
        found = field.between(before, after)
        return global_motion(*(getattr(found, name) for name in OUTPUTS))[:4]

    try:
        import cv2
    except ImportError:
        return {"ours": ours}
    cv2.setNumThreads(1)
    presets = {"dis-ultrafast": 0, "dis-fast": 1}

    @cache
    def made(preset: int, shape: tuple[int, int]) -> Any:
        return cv2.DISOpticalFlow_create(preset)  # keeps the scale that it chose for the first size of frame

    flows = {name: partial(by_flow, partial(made, preset)) for name, preset in presets.items()}
    features = {"features": partial(by_features, False), "features-homography": partial(by_features, True)}
    return {"ours": ours, **flows, **features}


def by_flow(made: Callable[..., Any], before: np.ndarray, after: np.ndarray) -> Motion:
    """Return the homography of a dense flow, at places of a grid."""
    v = made(before.shape).calc(before, after, None)
    step = max(1, round(math.sqrt(before.size / GRID)))
    rows, columns = (np.arange(step // 2, side, step) for side in before.shape)
    places = np.stack(np.meshgrid(columns, rows), axis=-1)
    start = (places - (np.array(before.shape[::-1]) - 1) / 2).reshape(-1, 2)
    return of_homography(start, start + v[places[..., 1], places[..., 0]].reshape(-1, 2))


def of_homography(start: np.ndarray, end: np.ndarray) -> Motion:
    import cv2

    found, _ = cv2.findHomography(start.astype(np.float32), end.astype(np.float32), cv2.RANSAC, REACH)
    return (math.nan,) * 4 if found is None else told(found)


def by_features(homography: bool, before: np.ndarray, after: np.ndarray) -> Motion:
    """Return the motion of corners that Lucas and Kanade's method follows: a similarity's or a homography's."""
    import cv2

    corners = cv2.goodFeaturesToTrack(before, 1000, 0.01, 7)
    if corners is None or len(corners) < 4:
        return (math.nan,) * 4
    moved, status, _ = cv2.calcOpticalFlowPyrLK(before, after, corners, None, winSize=(21, 21), maxLevel=4)
    middle = (np.array(before.shape[::-1]) - 1) / 2
    start, end = ((points[status[:, 0] > 0, 0] - middle).astype(np.float32) for points in (corners, moved))
    if len(start) < 4:
        return (math.nan,) * 4
    if homography:
        return of_homography(start, end)
    found, _ = cv2.estimateAffinePartial2D(start, end, method=cv2.RANSAC, ransacReprojThreshold=REACH)
    return (math.nan,) * 4 if found is None else told(np.vstack([found, [0, 0, 1]]))


# -- rows --------------------------------------------------------------------------------------------------------------


def beside(name: str, values: dict[str, float], unit: str, note: str) -> Iterator[Row]:
    row = sys.modules["__main__"].row  # of run.py, which imports us
    mine = values["ours"]
    for peer, value in values.items() if len(values) > 1 else [("none", None)]:
        if peer != "ours":
            yield row(f"frame-motion.{name}.{peer}", mine, value, unit, note)


def measured(name: str, what: str, some: Sequence[Shot]) -> Iterator[Row]:
    """Yield rows of mean errors, with that of saying that nothing moves, and of the worst error of a translation."""
    for noise in NOISES:
        pairs = [(seen(shot.before, noise, 0), seen(shot.after, noise, 1)) for shot in some]
        found = {
            method: np.array([errors(tell(*pair), shot.truth) for pair, shot in zip(pairs, some, strict=True)])
            for method, tell in methods().items()
        }
        found["rest"] = np.array([errors(STILL, shot.truth) for shot in some])
        note = f"{what}, noise {noise}; mean error over {len(some)} pairs"
        for k, (figure, unit) in enumerate(FIGURES.items()):
            means = {method: float(each[:, k].mean()) for method, each in found.items()}
            yield from beside(f"{name}.noise-{noise}.{figure}", means, unit, note)
        worst = {method: float(each[:, 0].max()) for method, each in found.items()}
        yield from beside(f"{name}.noise-{noise}.worst", worst, "px", note.replace("mean", "largest"))


def times() -> Iterator[Row]:
    """Yield what a frame takes, and of ours the fit alone, at 960 x 720 pixels: time of all cores together."""
    from flymotion.field import MotionField
    from flymotion.field.frame_motion import global_motion

    frames = [np.tile(seen(frame, 2, k), (3, 3)) for k, frame in enumerate(shots("translation", 1.0)[0][:2])]
    stream, order = MotionField(outputs=OUTPUTS).stream(), cycle(frames)
    stream.step(next(order))

    def ours() -> None:
        found = stream.step(next(order))
        global_motion(*(getattr(found, name) for name in OUTPUTS))

    found = MotionField(outputs=OUTPUTS).between(*frames)
    fit = partial(global_motion, *(getattr(found, name) for name in OUTPUTS))
    peers = {name: partial(method, *frames) for name, method in methods().items() if name != "ours"}
    in_turns = sys.modules["__main__"].in_turns
    seconds = in_turns(ours, fit, *peers.values(), repeats=9, clock=time.process_time)
    taken = dict(zip(("ours", "fit", *peers), (1e3 * s for s in seconds), strict=True))
    fit_alone = taken.pop("fit")
    note = f"960 x 720 pixels, time of the processor on all cores; of ours {fit_alone:.2f} ms are the fit of the frame"
    yield from beside("time", taken, "ms/frame", note)


def frame_motion() -> Iterator[Row]:
    yield from times()
    for name, what, some in worlds_of_motion():
        yield from measured(name, what, some)

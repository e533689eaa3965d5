"""How far the live page's velocity is from that of ``MotionField``: on known motion, and on videos.

    python benchmarks/live_velocity.py [VIDEO ...]

Frames are as the page's: about 120 rows. Velocities of places where both are confident (0.2) are compared, medians over
places and then over pairs [pixels of such a frame, per frame].
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates
from sklearn.datasets import load_sample_image

from flymotion.browser.slopes import slopes_velocity
from flymotion.field import MotionField
from flymotion.field.frame_motion import global_motion
from flymotion.video import open_movie

SPEEDS, ANGLES, NOISE, SURE, N_FRAMES = (0.3, 1.0, 2.0, 4.0, 6.0), (20, 110, 200, 290), 0.7, 0.2, 40
FIELD = MotionField(outputs=("velocity", "confidence"))


def field_velocity(before, after):
    field = FIELD.between(np.float32(before), np.float32(after))
    return field.velocity, field.confidence


METHODS = {"page": slopes_velocity, "MotionField": field_velocity}


def known(speed, rng):
    """Yield pairs of frames of 120 x 160 pixels, and how they move."""
    y, x = np.mgrid[:120, :160] * 3.0 + 20
    for name in ("china.jpg", "flower.jpg"):
        picture = gaussian_filter(load_sample_image(name) @ [0.299, 0.587, 0.114], 2.1)
        for angle in np.radians(ANGLES):
            shift = speed * np.array([np.cos(angle), -np.sin(angle)])
            places = ([y - 3 * k * shift[1], x - 3 * k * shift[0]] for k in (0, 1))
            yield [map_coordinates(picture, at, order=3) + rng.normal(0, NOISE, x.shape) for at in places], shift


def of_known(speed):
    rows = {name: [] for name in METHODS}
    for frames, shift in known(speed, np.random.default_rng(0)):
        for name, estimate in METHODS.items():
            velocity, confidence = estimate(*frames)
            off, sure = np.hypot(*(velocity - shift[:, None, None])), confidence > SURE
            motion = global_motion(velocity, confidence)
            whole = np.hypot(motion.x - shift[0], motion.y - shift[1])
            rows[name].append([np.median(off[sure]), sure.mean(), whole])
    return {name: np.mean(values, axis=0) for name, values in rows.items()}


def of_video(path):
    with_rows = open_movie(path, stop=2)
    scale = max(1, round(min(with_rows.shape) / 120))
    images = [frame.image.copy() for frame in open_movie(path, scale=scale, stop=N_FRAMES).frames()]
    rows = []
    for before, after in pairwise(images):
        (v, c), (w, d) = (estimate(before.astype(float), after.astype(float)) for estimate in METHODS.values())
        sure, m, n = (c > SURE) & (d > SURE), global_motion(v, c), global_motion(w, d)
        apart = np.median(np.hypot(*(v - w))[sure]) if sure.any() else np.nan
        speed = np.median(np.hypot(*w)[sure]) if sure.any() else np.nan
        rows.append([apart, speed, (c > SURE).mean(), (d > SURE).mean(), np.hypot(m.x - n.x, m.y - n.y)])
    return np.nanmedian(rows, axis=0)


def main():
    print("| speed | page | MotionField |\n|---|---|---|")
    for speed in SPEEDS:
        cells = (f"{off:.3f} px on {share:.0%}, whole {whole:.3f}" for off, share, whole in of_known(speed).values())
        print(f"| {speed} | {' | '.join(cells)} |")
    print("\n| video | apart | speed | confident, page | confident, MotionField | whole frame apart |")
    print("|---|---|---|---|---|---|")
    for path in map(Path, sys.argv[1:]):
        apart, speed, ours, theirs, whole = of_video(path)
        print(f"| {path.name} | {apart:.3f} | {speed:.2f} | {ours:.0%} | {theirs:.0%} | {whole:.3f} |")


if __name__ == "__main__":
    main()

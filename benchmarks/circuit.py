"""What the circuit of one eye learns, beside circuits that learned nothing or otherwise: the tables of docs/circuit.md.

    python benchmarks/circuit.py [FIGURE.png]

Turns are a full circle about one axis, amid panoramas of the same photographs folded about other corners. Columns are
those with more than the median contrast and more than the median local motion. A column is right if its mean motion
vector over the turn is within 90 degrees of how its surroundings moved.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from flymotion.circuits.competing_columns import Columns
from flymotion.circuits.lobula_plate import lobula_plate
from flymotion.circuits.schooling import attitudes, panoramas, schooling, wandering
from flymotion.circuits.t4t5 import T4T5Circuit
from flymotion.world import Sphere, buchner, render
from flymotion.world.lattices import as_seen, rings
from flymotion.writing import whole

DT = 0.02

TURNS = {
    "yaw left": (0, (0, 0, 1), 30.0),
    "yaw right": (5, (0, 0, -1), 30.0),
    "yaw left, 60 deg/s": (2, (0, 0, 1), 60.0),
    "pitch": (1, (0, 1, 0), 30.0),
    "roll": (4, (1, 0, 0), 30.0),
}
"""Panorama, axis of the eye's turn, and speed [deg/s]."""

VARIANTS: dict[str, dict[str, Any]] = {
    "as by default": {},
    "random start": {"start": "random"},
    "pooled": {"pooled": True},
    "published surrounds": {"decorrelation": "surround"},
    "no decorrelation": {"decorrelation": "none"},
    "two rings": {"n_rings": 2},
}


def turns(eye: Any) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield movies, with a second of the way before, local motion (right, up), and the columns that count."""
    from scipy.spatial.transform import Rotation

    scenes = panoramas(np.random.default_rng(99))
    for k, (scene, axis, speed) in enumerate(TURNS.values()):
        angles = np.radians(speed * DT * np.arange(-round(1 / DT), round(360 / speed / DT)))
        first = np.eye(3) if axis[2] else Rotation.random(rng=k).as_matrix()  # yaw is that of an upright fly
        ways = Rotation.from_rotvec(angles[:, None] * np.array(axis, float)).as_matrix()
        movie = render(scenes[scene], eye, first @ ways)
        flow = -np.cross(axis, eye.directions)
        motion = np.stack([(flow * way).sum(axis=1) for way in as_seen(eye.directions)], axis=1)
        contrast, speeds = movie[round(1 / DT) :].std(axis=0), np.linalg.norm(motion, axis=1)
        yield movie, motion, (contrast > np.median(contrast)) & (speeds > np.median(speeds))


def right(circuit: T4T5Circuit, eye: Any) -> list[float]:
    """Return the share of columns with the right sign, turn by turn."""
    found = []
    for movie, motion, counted in turns(eye):
        local = lobula_plate(circuit.transform(movie, dt=DT)[round(1 / DT) :].mean(axis=0), eye).local
        found.append(float(((local * motion).sum(axis=1)[counted] > 0).mean()))
    return found


def nulls(circuit: T4T5Circuit, rng: np.random.Generator) -> Iterator[tuple[str, T4T5Circuit]]:
    """Yield circuits with the early vision of one, and synapses that it did not learn."""
    order = rng.permutation(len(circuit.patches_.there))
    for name, networks in {
        "the start alone": [Columns.of_weights(W, 1.0) for W in circuit.started_],
        "random weights": [Columns.of_weights(circuit.patches_.random(rng), 1.0) for _ in circuit.networks_],
        "weights of other columns": [Columns(net.S[..., order], net.R[..., order]) for net in circuit.networks_],
    }.items():
        other = T4T5Circuit(**circuit.get_params())
        other.__dict__ |= circuit.__dict__ | {"networks_": networks}
        yield name, other


def likeness(circuit: T4T5Circuit, seen: Any) -> Iterator[tuple[str, float, float, float]]:
    """Yield the median cosine with the mean filter by label, of whole columns: as it is, and less what four share.

    And the share of single frames that are right: whose motion vector, of those that are not 0, is within 90 degrees
    of the true one, where content moves by 20 deg/s or more.
    """
    rng = np.random.default_rng(77)
    whole = np.flatnonzero(circuit.patches_.there.all(axis=1))
    chi: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    motion = []
    for scene in panoramas(np.random.default_rng(99))[:6]:
        turning = wandering(500, 3, DT, 100.0, 0.2, rng)
        signals = circuit.signals(DT).push(render(scene, seen, attitudes(turning, DT, rng)))
        flow = -np.cross(turning[25::2, None], seen.directions[whole])
        motion.append(np.stack([(flow * way[whole]).sum(axis=-1) for way in as_seen(seen.directions)], axis=-1))
        for k in (0, 1):
            patches = circuit.patches_.gather(signals.intensity[k])
            chi[k].append(circuit.inputs_[k](signals.change[k], patches)[:, 25::2][..., whole])
    v = np.concatenate(motion)
    speed = np.linalg.norm(v, axis=-1)
    toward = (v @ np.array([[-1, 1, 0, 0], [0, 0, 1, -1]]) > 0.8 * speed[..., None]) & (speed[..., None] > 20)
    for k, cell in enumerate(("T4", "T5")):
        x, order = np.concatenate(chi[k], axis=1), circuit.order_[k].T[:, None]
        mean = np.stack([x[:, toward[..., a]].mean(axis=1) for a in range(4)])[..., None]
        rows = {"start": circuit.started_[k], "learned": circuit.networks_[k].W}
        each = {name: np.take_along_axis(W, order, axis=0)[..., whole] for name, W in rows.items()}
        for name, W in (each | {"by label": mean + np.zeros_like(each["start"])}).items():
            apart = _cosine(W - W.mean(axis=0), mean - mean.mean(axis=0))
            yield f"{cell} {name}", _cosine(W, mean), apart, _frames_right(W, x, v, speed > 20)


def _frames_right(W: np.ndarray, x: np.ndarray, v: np.ndarray, fast: np.ndarray) -> float:
    a, b, c, d = np.maximum(np.einsum("kin,itn->ktn", W, x), 0)
    told = (b - a) * v[..., 0] + (c - d) * v[..., 1]
    return float((told[fast & (told != 0)] > 0).mean())


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.median((a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)))


def draw(circuit: T4T5Circuit, path: str) -> None:
    """Draw weights by subtype, mean over whole columns, learned beside the start."""
    import matplotlib.pyplot as plt

    x, y = (rings(circuit.n_rings) @ np.array([[np.sqrt(3) / 2, 0.5], [0.0, 1.0]])).T
    complete = circuit.patches_.there.all(axis=1)
    figure, axes = plt.subplots(4, 4, figsize=(7.5, 8.0), layout="constrained")
    names = ("T4, start", "T4, learned", "T5, start", "T5, learned")
    for row, (name, weights) in enumerate(zip(names, np.repeat([0, 1], 2), strict=True)):
        each = (circuit.start_ if row % 2 == 0 else circuit.weights_)[complete, 4 * weights : 4 * weights + 4]
        each = (each / np.linalg.norm(each, axis=2, keepdims=True)).mean(axis=0)
        for column, shown in enumerate(each):
            ax = axes[row, column]
            points = ax.scatter(x, -y, c=shown, s=420, cmap="RdBu_r", vmin=-0.7, vmax=0.7, marker="h", edgecolor="0.7")
            ax.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), aspect="equal", xticks=[], yticks=[], frame_on=False)
            ax.set_title(name if column == 0 else "", fontsize=9, loc="left")
            ax.set_xlabel(f"{name[:2]}{'abcd'[column]} {'←→↑↓'[column]}")
    figure.colorbar(points, ax=axes, label="mean weight onto intensity, of norm 1 in each cell", shrink=0.5)
    with whole(Path(path)) as place:
        figure.savefig(place, dpi=110, format="png")


def main() -> None:
    """Train, and print the share of columns that are right, turn by turn, and that have four directions."""
    eye = buchner("left")
    seen = Sphere(eye.directions, float(np.median(eye.sigma)))
    print("columns right:", "; ".join(TURNS), "| mean | four directions, T4 and T5")
    for name, how in VARIANTS.items():
        circuit = T4T5Circuit(eye, dt=DT, random_state=0, **how).fit(schooling(seen, dt=DT, random_state=0))
        if not how and len(sys.argv) > 1:
            draw(circuit, sys.argv[1])
        if not how:
            for cell, plain, apart, frames in likeness(circuit, seen):
                print(f"{cell}: cosine with the mean by label {plain:.2f}, less what the four share {apart:.2f}")
                print(f"    frames right {frames:.3f}", flush=True)
        others = nulls(circuit, np.random.default_rng(5)) if "decorrelation" not in how else ()
        for label, one in ((name, circuit), *others):
            shares = right(one, eye)
            four = " ".join(f"{share:.2f}" for share in one.named_.mean(axis=0))
            print(
                f"{label}: {'; '.join(f'{share:.3f}' for share in shares)} | {np.mean(shares):.3f} | {four}", flush=True
            )


if __name__ == "__main__":
    main()

"""What the circuit of one eye learns, beside circuits that learned nothing or otherwise: the tables of docs/circuit.md.

    python benchmarks/circuit.py [FIGURE.png]

Turns are a full circle about one axis, amid panoramas of the same photographs folded about other corners. Columns are
those with more than the median contrast and more than the median local motion. A column is right if its mean motion
vector over the turn is within 90 degrees of how its surroundings moved.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from flymotion.circuits.competing_columns import Columns
from flymotion.circuits.lobula_plate import lobula_plate
from flymotion.circuits.schooling import panoramas, schooling
from flymotion.circuits.t4t5 import T4T5Circuit
from flymotion.world import Sphere, buchner, render
from flymotion.world.lattices import as_seen, rings

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
    for scene, axis, speed in TURNS.values():
        angles = np.radians(speed * DT * np.arange(-round(1 / DT), round(360 / speed / DT)))
        movie = render(scenes[scene], eye, Rotation.from_rotvec(angles[:, None] * np.array(axis, float)).as_matrix())
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


def draw(circuit: T4T5Circuit, path: str) -> None:
    """Draw weights by subtype, mean over whole columns, learned beside the start."""
    import matplotlib.pyplot as plt

    x, y = (rings(circuit.n_rings) @ np.array([[np.sqrt(3) / 2, 0.5], [0.0, 1.0]])).T
    whole = circuit.patches_.there.all(axis=1)
    figure, axes = plt.subplots(4, 4, figsize=(7.5, 8.0), layout="constrained")
    names = ("T4, start", "T4, learned", "T5, start", "T5, learned")
    for row, (name, weights) in enumerate(zip(names, np.repeat([0, 1], 2), strict=True)):
        each = (circuit.start_ if row % 2 == 0 else circuit.weights_)[whole, 4 * weights : 4 * weights + 4]
        each = (each / np.linalg.norm(each, axis=2, keepdims=True)).mean(axis=0)
        for column, shown in enumerate(each):
            ax = axes[row, column]
            points = ax.scatter(x, -y, c=shown, s=420, cmap="RdBu_r", vmin=-0.7, vmax=0.7, marker="h", edgecolor="0.7")
            ax.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), aspect="equal", xticks=[], yticks=[], frame_on=False)
            ax.set_title(name if column == 0 else "", fontsize=9, loc="left")
            ax.set_xlabel(f"{name[:2]}{'abcd'[column]} {'←→↑↓'[column]}")
    figure.colorbar(points, ax=axes, label="mean weight onto intensity, of norm 1 in each cell", shrink=0.5)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Train, and print the share of columns that are right, turn by turn, and that have four directions."""
    eye = buchner("left")
    seen = Sphere(eye.directions, float(np.median(eye.sigma)))
    print("columns right:", "; ".join(TURNS), "| mean | four directions, T4 and T5")
    for name, how in VARIANTS.items():
        circuit = T4T5Circuit(eye, dt=DT, random_state=0, **how).fit(schooling(seen, dt=DT, random_state=0))
        if not how and len(sys.argv) > 1:
            draw(circuit, sys.argv[1])
        others = nulls(circuit, np.random.default_rng(5)) if "decorrelation" not in how else ()
        for label, one in ((name, circuit), *others):
            shares = right(one, eye)
            four = " ".join(f"{share:.2f}" for share in one.named_.mean(axis=0))
            print(
                f"{label}: {'; '.join(f'{share:.3f}' for share in shares)} | {np.mean(shares):.3f} | {four}", flush=True
            )


if __name__ == "__main__":
    main()

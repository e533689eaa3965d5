"""Planes that motion turns: how well they are found, and what they read; docs/irreducible-rotations.md.

python benchmarks/rival_pages/irreducible_planes.py [--part NAME ...] [--seeds N] [--figure PNG]

prints the tables of that page in Markdown; the figure is of its part `velocity`. Seed k is the same whatever N.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import orth

from flymotion import FramePairs
from flymotion.claims.worlds import WORLDS
from flymotion.generators import Generators
from flymotion.photoreceptors import ZCAWhitening
from flymotion.plots.canvas import new_figure, save_figure
from flymotion.relations import IrreducibleRotations
from flymotion.similarity.features import outer_products
from flymotion.similarity.rivals import OuterProductPCA
from flymotion.world.eyes import Grid, Line
from flymotion.world.motions import Rotation
from flymotion.world.rendering import render, sample_pairs
from flymotion.world.scenes import ExponentialNoise, FlatScene, SmoothNoise

Found = dict[str, list[Any]]
"""What each way has found, one entry a seed."""

WAYS = {
    "antisymmetric, its component alone": IrreducibleRotations(method="antisymmetric", n_refinements=0),
    "antisymmetric, ten rounds": IrreducibleRotations(method="antisymmetric"),
    "differences, components alone": IrreducibleRotations(method="differences", n_refinements=0),
    "differences, ten rounds": IrreducibleRotations(method="differences"),
}

FALLS = {"white": 0.0, "1/f^2": 2.0}
"""Powers of the frequency by which the power of content falls."""


def cyclic(
    n: int, spectrum: str, n_pairs: int, rng: np.random.Generator, shifts: np.ndarray | None = None
) -> FramePairs:
    """Draw sums of all waves of n pixels (n odd) and a common level, shifted cyclically, by up to 0.5 px by default."""
    f = np.arange(1, (n - 1) // 2 + 1)
    content = rng.normal(size=(n_pairs, len(f))) + 1j * rng.normal(size=(n_pairs, len(f)))
    content *= f ** (-FALLS[spectrum] / 2)
    steps = rng.uniform(-0.5, 0.5, n_pairs) if shifts is None else shifts
    waves = np.exp(2j * np.pi * np.outer(f, np.arange(n)) / n)
    moved = content * np.exp(-2j * np.pi * f * steps[:, None] / n)
    level = rng.normal(size=(n_pairs, 1))
    return FramePairs((content @ waves).real + level, (moved @ waves).real + level, steps)


# -- planes ------------------------------------------------------------------------------------------------------------


def angles(planes: np.ndarray, spaces: list[np.ndarray]) -> np.ndarray:
    """Return each plane's largest principal angle with the nearest space [deg], smallest first.

    Planes have shape (K, 2, n), and spaces orthonormal columns.
    """
    bases = [np.linalg.qr(plane.T)[0] for plane in planes]
    cosines = [max(np.linalg.svd(basis.T @ space)[1][1] for space in spaces) for basis in bases]
    return np.sort(np.degrees(np.arccos(np.clip(cosines, -1, 1))))


def paired(frames: np.ndarray, K: int) -> np.ndarray:
    """Return the principal components of frames without their level, those nearest in variance paired first."""
    values, vectors = np.linalg.eigh(np.cov((frames - frames.mean(axis=1, keepdims=True)).T))
    values, vectors = values[::-1][: 3 * K], vectors.T[::-1][: 3 * K]
    values = np.maximum(values, 1e-12 * values[0])
    first: list[int] = []
    for i in np.argsort(np.log(values[:-1] / values[1:])[: 2 * K + 1]).tolist():
        if len(first) < K and not {i, i + 1} & {k for j in first for k in (j, j + 1)}:
            first.append(i)
    return np.array([vectors[[i, i + 1]] for i in sorted(first)])


def all_planes(pairs: FramePairs, K: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return the planes that each way finds, nulls included, shape (K, 2, n)."""
    planes = {name: way.set_params(n_planes=K).fit(pairs).planes_ for name, way in WAYS.items()}
    planes["null: PCA of frames, paired"] = paired(pairs.before, K)
    planes["null: PCA of differences, paired"] = paired(pairs.after - pairs.before, K)
    planes["null: random planes"] = np.linalg.qr(rng.normal(size=(pairs.n_pixels, 2 * K)))[0].T.reshape(K, 2, -1)
    return planes


def middle_and_worst(seeds: list[np.ndarray]) -> tuple[float, float]:
    """Return of each seed's values, sorted from best to worst, the middle one and the worst; the medians of both.

    Pairing may find fewer planes than asked for.
    """
    return float(np.median([one[len(one) // 2] for one in seeds])), float(np.median([one[-1] for one in seeds]))


def cyclic_part(n_seeds: int) -> Iterator[str]:
    """Planes of cyclic translation, 15 pixels."""
    n, K = 15, 7
    phases = 2 * np.pi * np.outer(np.arange(1, K + 1), np.arange(n)) / n
    spaces = [np.stack([np.cos(phase), np.sin(phase)], axis=1) * np.sqrt(2 / n) for phase in phases]
    cells: dict[str, list[str]] = {}
    for spectrum in FALLS:
        found: Found = {}
        for seed in range(n_seeds):
            rng = np.random.default_rng([seed, 7])
            for name, planes in all_planes(cyclic(n, spectrum, 10_000, rng), K, rng).items():
                found.setdefault(name, []).append(angles(planes, spaces))
        for name, one in found.items():
            middle, worst = middle_and_worst(one)
            cells.setdefault(name, []).append(f"{middle:.2f} / {worst:.2f} / {np.concatenate(one).max():.2f}")
    yield from table(["found by", "white", "power 1/f^2"], cells)


def in_disc(pairs: FramePairs, disc: np.ndarray) -> FramePairs:
    """Return pairs of the pixels of a disc."""
    return FramePairs(pairs.before.reshape(len(pairs), -1)[:, disc], pairs.after.reshape(len(pairs), -1)[:, disc],
                      pairs.motion)  # fmt: skip


def explained(planes: np.ndarray, mean: np.ndarray, turns: FramePairs) -> np.ndarray:
    """Return the share of turns that each plane's best whole order explains, largest first."""
    assert turns.motion is not None
    filters = planes[:, 0] + 1j * planes[:, 1]
    z, z_next = (turns.before - mean) @ filters.T, (turns.after - mean) @ filters.T
    turned = [np.exp(1j * order * np.radians(turns.motion)) * z for order in range(-7, 8) if order]
    left = [np.mean(np.abs(z_next - each) ** 2, axis=0) for each in turned]
    return np.sort(1 - np.min(left, axis=0) / np.mean(np.abs(z_next) ** 2 + np.abs(z) ** 2, axis=0))[::-1]


def harmonics(positions: np.ndarray) -> list[np.ndarray]:
    """Return what circular harmonics of each order, 1 to 5, span at positions in the unit disc: orthonormal columns.

    Three radial functions each. On few pixels some depend on others: orders have 5 or 6 dimensions.
    """
    across, down = positions.T
    r, azimuth = np.hypot(across, down), np.arctan2(-down, across)
    orders = [
        [wave(m * azimuth) * r ** (m + 2 * j) for j in range(3) for wave in (np.cos, np.sin)] for m in range(1, 6)
    ]
    return [orth(np.stack(one, axis=1), rcond=1e-10) for one in orders]


def rotation_part(n_seeds: int) -> Iterator[str]:
    """Planes of rotation inside a disc, with the circular harmonics of an order, three radial functions each."""
    eye, radius, K = Grid(7, 7, 0.6), 3.4, 6
    disc = np.linalg.norm(eye.positions, axis=1) <= radius
    spaces = harmonics(eye.positions[disc] / radius)
    scenes: list[Callable[..., FlatScene]] = [SmoothNoise, ExponentialNoise]
    cells: dict[str, list[str]] = {}
    for make in scenes:
        angle: Found = {}
        share: Found = {}
        for seed in range(n_seeds):
            scene = make(3.0, ndim=2, random_state=[seed, 3])
            pairs = in_disc(sample_pairs(scene, eye, Rotation(5.0), 6000, random_state=[seed, 4]), disc)
            turns = in_disc(sample_pairs(scene, eye, Rotation(30.0, 29.0), 500, random_state=[seed, 5]), disc)
            for name, planes in all_planes(pairs, K, np.random.default_rng([seed, 8])).items():
                angle.setdefault(name, []).append(angles(planes, spaces))
                share.setdefault(name, []).append(explained(planes, pairs.before.mean(axis=0), turns))
        for name in angle:
            cells.setdefault(name, []).append("{:.1f} / {:.1f}".format(*middle_and_worst(angle[name])))
            cells[name].append("{:.3f} / {:.3f}".format(*explained_shares(share[name])))
    heads = [f"{noise}: {what}" for noise in ("smooth", "exponential") for what in ("angle [deg]", "share explained")]
    yield from table(["found by", *heads], cells)


def explained_shares(seeds: list[np.ndarray]) -> tuple[float, float]:
    """Return the median over seeds of the planes' median, and of their least."""
    return float(np.median([np.median(one) for one in seeds])), float(np.median([one[-1] for one in seeds]))


# -- velocity ----------------------------------------------------------------------------------------------------------

SHIFTS = np.array([0.1, 0.3, 0.5, 1, 1.5, 2, 3, 4, 5, 6])

TABLED = [0.1, 0.5, 1, 2, 3, 4, 6]

PLACES = {"1/f^2, 15": ("1/f^2", 15), "white, 15": ("white", 15), "L2, 15": ("L2", 15), "L2, 25": ("L2", 25)}

N_REGISTERED = 1
"""Seeds with iterated registration, which takes long."""

LIMIT = 1.7
"""Largest shifts to learn from at which the midpoint feature's first component is still motion, at five pixels [px]."""


def shown(world: str, n: int, seed: int) -> tuple[FramePairs, list[FramePairs], Any]:
    """Return pairs to learn from, shifts up to 0.5 px, 150 new pairs of each of :data:`SHIFTS`, and the eye."""
    rng = np.random.default_rng([seed, n, 9])
    steps = [rng.choice([-shift, shift], 150) for shift in SHIFTS]
    if world in FALLS:
        pairs = cyclic(n, world, 8000, rng)
        return pairs, [cyclic(n, world, len(step), rng, step) for step in steps], Line(n)
    pairs, scene, eye = WORLDS[world].pairs(n, 8000, [seed, 0]), WORLDS[world].scene([seed, 1]), WORLDS[world].eye(n)
    low, high = scene.extent[0]
    places = [rng.uniform(low, high, (len(step), 1)) for step in steps]
    new = [
        FramePairs(render(scene, eye, place), render(scene, eye, place - step[:, None]), step)
        for place, step in zip(places, steps, strict=True)
    ]
    return pairs, new, eye


def errors(read: Callable[[FramePairs], np.ndarray], new: list[FramePairs]) -> list[float]:
    """Return the median absolute error at each shift [px]."""
    return [float(np.median(np.abs(read(pairs) - pairs.motion[:, 0]))) for pairs in new]


def scaled(way: IrreducibleRotations, unit: float, pairs: FramePairs) -> np.ndarray:
    """Return the velocities that planes tell, in a unit, shape (n_pairs,)."""
    return unit * way.velocity(pairs)


def velocity_errors(world: str, n: int, seed: int) -> dict[str, list[float]]:
    """Return the errors of every way to read shifts, its unit set on labelled pairs."""
    pairs, new, eye = shown(world, n, seed)
    assert pairs.motion is not None
    motion, found = pairs.motion[:, 0], {}
    for name, way in WAYS.items():
        way.set_params(n_planes=None).fit(pairs)
        known, told = motion[:1000], way.velocity(pairs[:1000])
        unit = np.sign(told @ known) * np.median(np.abs(known)) / max(np.median(np.abs(told)), 1e-300)
        found[f"planes: {name}"] = errors(partial(scaled, way, unit), new)
    whitening = ZCAWhitening(1e-5).fit(pairs)
    chi = outer_products(whitening.transform(pairs), "midpoint")
    filters = OuterProductPCA(1).fit(chi).generators_
    output = chi.project(filters)[:, 0]
    unit = (output @ motion) / (output @ output)

    def linear(p: FramePairs) -> np.ndarray:
        return unit * outer_products(whitening.transform(p), "midpoint").project(filters)[:, 0]

    found["midpoint filter: linear"] = errors(linear, new)
    if seed < N_REGISTERED:
        operators = Generators(filters, eye, whitening.matrix_).fitted(pairs)
        windows = None if world == "L2" else [np.ones(n)]
        few = [p[:20] for p in new]
        found["midpoint filter: register"] = errors(lambda p: operators.register(p, windows=windows)[:, 0], few)
    found["null: always 0"] = SHIFTS.tolist()
    return found


def measured(n_seeds: int) -> dict[str, Found]:
    """Return the errors in every place: of each way, one row a seed."""
    result: dict[str, Found] = {}
    for place, (world, n) in PLACES.items():
        found: Found = {}
        for seed in range(n_seeds):
            for name, row in velocity_errors(world, n, seed).items():
                found.setdefault(name, []).append(row)
        result[place] = found
    return result


def velocity_table(result: dict[str, Found]) -> Iterator[str]:
    """Tabulate medians over seeds."""
    columns = [int(np.flatnonzero(shift == SHIFTS)[0]) for shift in TABLED]
    cells: dict[str, list[str]] = {}
    for place, found in result.items():
        for name, rows in found.items():
            row = name if name.startswith("null") else f"{place}: {name}"
            cells[row] = [f"{error:.3f}" for error in np.median(rows, axis=0)[columns]]
    cells["null: always 0"] = cells.pop("null: always 0")
    yield from table(["shift [px]", *(f"{shift:g}" for shift in TABLED)], cells)


STYLES: dict[str, tuple[str, int]] = {
    "planes: antisymmetric, ten rounds": ("C0o-", 7),
    "planes: differences, ten rounds": ("C2s-", 4),
    "planes: antisymmetric, its component alone": ("C0o:", 4),
    "planes: differences, components alone": ("C2s:", 4),
    "midpoint filter: linear": ("C3^--", 4),
    "midpoint filter: register": ("C1v--", 4),
}
"""Line and marker, and the marker's size: the first two often agree, and both are to be seen."""


def draw(result: dict[str, Found], path: str) -> None:
    """Draw errors against shifts, medians over seeds."""
    figure = new_figure(9.5, 7.6)
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    for axes, (place, found) in zip(panels.flat, result.items(), strict=True):
        axes.plot(SHIFTS, SHIFTS, "k-", linewidth=1.2, label="null: always 0")
        for name, (style, size) in STYLES.items():
            label = f"{name}, 1 seed" if len(found[name]) == 1 else name
            axes.plot(SHIFTS, np.median(found[name], axis=0), style, markersize=size, linewidth=1.2, label=label)
        told = f"{LIMIT} px: largest shifts to learn from (midpoint feature, 5 pixels)"
        axes.axvline(LIMIT, color="0.5", linewidth=0.7, label=told)
        title = f"{place.replace('1/f^2', 'power 1/f²')} pixels, seeds: {len(found['midpoint filter: linear'])}"
        axes.set(xscale="log", yscale="log", title=title)
        axes.set_xticks([0.1, 0.3, 1, 3, 6], ["0.1", "0.3", "1", "3", "6"])
        axes.minorticks_off()
    for axes in panels[1]:
        axes.set_xlabel("shift [px]")
    for axes in panels[:, 0]:
        axes.set_ylabel("median absolute error [px]")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)
    save_figure(figure, path, dpi=100)


# -- telling -----------------------------------------------------------------------------------------------------------


def table(heads: list[str], cells: dict[str, list[str]]) -> Iterator[str]:
    """Write a table in Markdown."""
    yield f"\n| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for name, row in cells.items():
        yield f"| {name} | {' | '.join(row)} |"


def velocity_part(n_seeds: int, figure: str | None = None) -> Iterator[str]:
    """What planes read, and the midpoint feature's filter."""
    result = measured(n_seeds)
    yield from velocity_table(result)
    if figure:
        draw(result, figure)


PARTS: dict[str, Callable[..., Iterator[str]]] = {
    "cyclic": cyclic_part,
    "rotation": rotation_part,
    "velocity": velocity_part,
}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--figure", help="where to draw what the part `velocity` measures")
    given = parser.parse_args(arguments)
    for name in given.part:
        more = {"figure": given.figure} if name == "velocity" else {}
        for text in PARTS[name](given.seeds, **more):
            print(text, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

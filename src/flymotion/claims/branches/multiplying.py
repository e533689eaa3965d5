"""Where the soma of a neuron with branches says ``dx' W x``, and where it does not (Section 3.1).

The filters are those that the algorithm learns, of norm 1; nothing is learned here. Changes have a root mean square of
``depth`` times that which closes a shunt, intensities one of 1, and all conductances are relative to the leak of one
dendritic compartment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flymotion.circuits.membranes import Synapses, Voltages, implicit_euler, let_through, steady_state
from flymotion.claims.beside import Null, beside
from flymotion.claims.branches.designs import (
    CONTRASTS,
    DEPTHS,
    LARGER,
    OTHERS,
    REGIMES,
    SETTING,
    SHUNTS,
    SIZES,
    STANDARD,
    WAYS,
    Design,
    standard,
)
from flymotion.claims.lessons import of_norm_1, opposed
from flymotion.claims.nulls import random_filters
from flymotion.claims.rows import Claim, above, report
from flymotion.claims.worlds import WORLDS

if TYPE_CHECKING:
    from flymotion.claims.branches import Config

__all__ = ["Multiplied", "check_multiplying", "multiply"]

N_MAPPED = 500
"""Pairs of each place of the maps."""

N_DRAWN = 400
"""Pairs that the figure shows one by one."""

LONG = 20
"""Steps after which the time-stepped neuron is held against the closed form."""

SHORT = 0.02
"""Step that tells when it has settled [time constants]."""

OPEN = (0.1, 10.0, 1000.0)
"""Shunts of which it is told how much they veto [leak]."""

ANY = "random weights, each with its own product"
"""What stands beside a design: whether it multiplies by whatever weights it has."""

MEANT = {"depth": "changes relative to what closes a shunt", "size": "synapses"}
"""Axes of the maps."""


class Multiplied(NamedTuple):
    """Correlations with the product, by the number of pixels (first axis), and more of the smallest eye."""

    product: np.ndarray
    """Of the soma's voltage, the smaller of both filters', shape (n_widths,)."""
    rates: np.ndarray
    """Of rectified voltages with rectified products."""
    random: np.ndarray
    """Of the voltages of neurons with random synapses, without its sign, the larger."""
    switch: np.ndarray
    """Of ``sum_i sign(dx_i) (W x)_i``: what a veto alone would make."""
    opposed: np.ndarray
    """Of the difference of two neurons without inhibitory synapses."""
    others: np.ndarray
    """Of ``OTHERS``, shape (n_widths, n_others)."""
    any_weights: np.ndarray
    """Of neurons with random synapses with their own product: the standard and ``OTHERS``."""
    loads: np.ndarray
    """Root mean square conductance of a branch's distal synapses [leak]."""
    sizes: np.ndarray
    """Root mean square voltage of the soma [mV]."""
    larger: np.ndarray
    """The same of ``LARGER``, shape (n_widths, 3)."""
    regimes: np.ndarray
    """Of ``REGIMES``, shape (n_regimes, n_ways)."""
    by_size: np.ndarray
    """Shape (n_ways, n_shunts, n_sizes)."""
    by_depth: np.ndarray
    """Shape (n_ways, n_shunts, n_depths)."""
    slopes: np.ndarray
    """Log-log slope of the mean absolute voltage in the contrast, low and high, of the standard and ``OTHERS``."""
    stepped: np.ndarray
    """Largest difference of the soma's voltage after ``LONG`` steps of ten time constants from that in closed form,
    relative to the largest; and when it is first within 1 % of the largest, from rest [time constants]."""
    drawn: np.ndarray
    """Products, voltages of the standard [mV], and of one without inhibition, of some pairs, shape (3, n)."""


def multiply(config: Config, seed: int) -> Multiplied:
    """Show pairs to neurons that have the algorithm's filters."""
    by_width: list[tuple] = []
    smallest: tuple[np.ndarray, ...] = ()
    for n in config.widths:
        chi = WORLDS["L1"].lesson(n, config.n_pairs + config.n_test, [seed, 21]).chi
        W = of_norm_1(opposed(chi[: config.n_pairs]).filters)
        u, v = (x[config.n_pairs :] for x in standard(chi))
        drawn = random_filters(2, chi, np.random.default_rng([seed, n, 21]))
        by_width.append(_of_width(W, drawn, u, v))
        smallest = smallest or _of_the_smallest(W[:1], u, v)
    return Multiplied(*map(np.array, zip(*by_width, strict=True)), *smallest)


def _of_width(W: np.ndarray, drawn: np.ndarray, u: np.ndarray, v: np.ndarray) -> tuple:
    sought, voltages = _products(W, u, v), STANDARD.soma(W, u, v)
    designs = [design for design, _ in OTHERS.values()]
    somata = [design.soma(W, u, v) for design in designs]
    alone = somata[list(OTHERS).index("excitatory")]
    circuit = STANDARD.neurons(W).conductances(STANDARD.depth * u, v)
    return (
        _likeness(voltages, sought),
        _likeness(np.maximum(voltages, 0), np.maximum(sought, 0)),
        max(abs(_likeness(sign * STANDARD.soma(drawn, u, v), sought)) for sign in (1, -1)),
        _likeness(_products(W, np.sign(u), v), sought),
        _likeness(alone[:, :1] - alone[:, 1:], sought[:, :1] - sought[:, 1:]),
        [_likeness(soma, sought) for soma in somata],
        [_likeness(design.soma(drawn, u, v), _products(drawn, u, v)) for design in (STANDARD, *designs)],
        _root_mean_square(circuit.excited + circuit.inhibited),
        _root_mean_square(voltages),
        [_root_mean_square(design.soma(W, u, v)) for design in LARGER],
    )


def _of_the_smallest(W: np.ndarray, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
    sought, few = _products(W, u, v), slice(N_MAPPED)

    def of(pairs: slice, way: bool, **how: Any) -> float:
        return _likeness(replace(STANDARD, rectified=way, **how).soma(W, u[pairs], v[pairs]), sought[pairs])

    def mapped(name: str, values: np.ndarray) -> np.ndarray:
        cells = [of(few, way, shunt=S, **{name: value}) for way in WAYS.values() for S in SHUNTS for value in values]
        return np.reshape(cells, (len(WAYS), len(SHUNTS), len(values)))

    regimes = [[of(slice(None), way, **how) for way in WAYS.values()] for how, _ in REGIMES.values()]
    designs = [STANDARD, *(design for design, _ in OTHERS.values())]
    slopes = [[_slope(design, W, u, v, contrasts) for contrasts in CONTRASTS.values()] for design in designs]
    shown = [STANDARD, OTHERS["excitatory"][0]]
    drawn = [sought[:N_DRAWN, 0], *(design.soma(W, u[:N_DRAWN], v[:N_DRAWN])[:, 0] for design in shown)]
    maps = (mapped("size", SIZES), mapped("depth", DEPTHS))
    return np.array(regimes), *maps, np.array(slopes), _in_time(W, u[few], v[few]), np.array(drawn)


def _in_time(W: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    membrane, circuit = STANDARD.membrane, STANDARD.neurons(W).conductances(STANDARD.depth * u, v)
    end = steady_state(membrane, circuit)
    rest = Voltages(*(np.zeros_like(x) for x in end))

    def steps(dt: float) -> Iterator[float]:
        voltages = rest
        while True:
            voltages = implicit_euler(membrane, circuit, voltages, dt * membrane.tau)
            yield float(np.abs(voltages.soma - end.soma).max() / np.abs(end.soma).max())

    settled = next(k for k, error in enumerate(steps(SHORT), 1) if error < 0.01) * SHORT
    return np.array([list(islice(steps(10.0), LONG))[-1], settled])


def _products(W: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.stack([(u @ each * v).sum(axis=1) for each in W], axis=1)


def _likeness(a: np.ndarray, b: np.ndarray) -> float:
    """Correlation of columns, the smallest."""
    return min(float(np.corrcoef(x, y)[0, 1]) for x, y in zip(a.T, b.T, strict=True))


def _root_mean_square(x: np.ndarray) -> float:
    return float(np.sqrt((x**2).mean()))


def _slope(design: Design, W: np.ndarray, u: np.ndarray, v: np.ndarray, contrasts: np.ndarray) -> float:
    means = [np.abs(design.soma(W, c * u, c * v)).mean() for c in contrasts]
    return float(np.polyfit(np.log(contrasts), np.log(means), 1)[0])


# -- claims ------------------------------------------------------------------------------------------------------------


def check_multiplying(found: Multiplied, config: Config) -> Iterator[Claim]:
    """State where it is a product."""
    title = "correlation of the soma's voltage with dx' W x, new pairs, the smaller of both filters'"
    told = f"{SETTING}; branches' synapses {found.loads.mean():.2g} leaks and the soma's voltage "
    note = f"{told}{found.sizes.mean():.2g} mV in root mean square"
    nulls = {
        "any": Null(ANY, _by(found.any_weights[..., 0], config), np.min),
        "random": Null("random synapses, without its sign", _by(found.random, config)),
        "switch": Null("a veto alone, sum_i sign(dx_i) (W x)_i", _by(found.switch, config)),
    }
    yield from beside(above("C21.product", title, _by(found.product, config), 0.95, note=note), **nulls)
    title = "correlation of the rectified voltage with the rectified product"
    yield report("C21.rate", title, _by(found.rates, config), worst=np.min)
    title = "correlation of the soma's voltage with dx' W x: {}"
    for k, (name, (_, what)) in enumerate(OTHERS.items()):
        row = report(f"C21.{name}", title.format(what), _by(found.others[..., k], config), worst=np.min)
        yield from beside(row, any=Null(ANY, _by(found.any_weights[..., k + 1], config), np.min))
    title = "correlation of the difference of two neurons without inhibitory synapses with that of their products"
    yield report("C21.excitatory_opposed", title, _by(found.opposed, config), worst=np.min)
    ten, hundred, alone = found.larger.mean(axis=(0, 1))
    note = f"synapses ten times as large {ten:.2g} mV, a hundred times {hundred:.2g}; without inhibition {alone:.2g}"
    title = "root mean square of the soma's voltage"
    yield report("C21.voltage", title, _by(found.sizes, config), worst=np.mean, unit="mV", note=note)
    title = "largest difference of the time-stepped soma, steps of ten time constants, from the closed form, relative"
    yield report("C21.steps", title, found.stepped[:, 0], worst=np.max, note=f"implicit Euler, after {LONG} steps")
    title = "when all somata are within 1 % of the largest settled voltage of where they settle, from rest"
    yield report("C21.settled", title, found.stepped[:, 1], worst=np.max, unit="time constants of the membrane")
    yield from _check_regimes(found)
    yield from _check_contrast(found)


def _check_regimes(found: Multiplied) -> Iterator[Claim]:
    n = "the smallest eye; shunts that fall and rise with the change, and such that fall alone"
    for k, (name, (_, what)) in enumerate(REGIMES.items()):
        values = {way: found.regimes[:, k, w] for w, way in enumerate(WAYS)}
        yield report(
            f"C21.{name}", f"correlation with dx' W x where all is as stated but: {what}", values, worst=np.min, note=n
        )
    none = np.zeros(len(OPEN))
    closed, opened = (let_through(STANDARD.membrane, Synapses(none, none, np.array(S))) for S in (OPEN, none))
    title = "what a branch lets through where nothing changes, relative to one without a shunt, at the stated shunt"
    vetoes = dict(zip((f"{S:g} leaks" for S in OPEN), closed / opened, strict=True))
    note = ", ".join(f"{S} {share:.3g}" for S, share in vetoes.items())
    yield report("C21.veto", title, float(closed[1] / opened[1]), note=f"{note}; closed form")
    for name, places, cells in (("depth", DEPTHS, found.by_depth), ("size", SIZES, found.by_size)):
        good = np.median(cells, axis=0)[0] > 0.95
        ends = {f"{S:.3g} leaks": places[row][[0, -1]] for S, row in zip(SHUNTS, good, strict=True) if row.any()}
        note = "; ".join(f"{S}: {low:.2g} to {high:.2g}" for S, (low, high) in ends.items())
        title = f"share of the map of shunt and {MEANT[name]} where the correlation is above 0.95, shunts both ways"
        shares = (cells[:, 0] > 0.95).mean(axis=(1, 2))
        yield report(
            f"C21.map_{name}", title, shares, worst=np.median, note=f"median seed, lowest and highest by shunt: {note}"
        )


def _check_contrast(found: Multiplied) -> Iterator[Claim]:
    names = ["as stated", *(what for _, what in OTHERS.values())]
    for k, (name, contrasts) in enumerate(CONTRASTS.items()):
        title = (
            f"log-log slope of the mean absolute voltage in the contrast, from {contrasts[0]:g} to {contrasts[-1]:g}"
        )
        told = "; ".join(
            f"{what} {np.median(slope):.3g}" for what, slope in zip(names, found.slopes[..., k].T, strict=True)
        )
        yield report(
            f"C21.contrast_{name}", title, found.slopes[:, 0, k], worst=np.median, note=f"times the usual; {told}"
        )


def _by(values: np.ndarray, config: Config) -> dict[str, np.ndarray]:
    """Name values by the number of pixels, of shape (n_seeds, n_widths)."""
    return {f"n = {n}": column for n, column in zip(config.widths, values.T, strict=True)}

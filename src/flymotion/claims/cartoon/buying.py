r"""What detectors at one centre tell, against what they cost in pixels and multiplications.

A detector is a weighted sum of products :math:`\Delta x_a \bar x_b`, changes times mean intensities of both frames:
these are all products of pixels that are odd under time reversal, and in a world that looks the same backwards no
others help. Of the m central pixels there are three kinds:

- *every*: any weights, an m x m matrix, which takes m multiplications of sums over pixels (m - 1 if blind to the mean);
- *once*: a matrix of rank one, a single multiplication of a sum of changes by a sum of intensities;
- *row*: the change at the centre times a sum of intensities, as a row of the learned filter has it: one multiplication.

Weights are the best found with labelled pairs (logistic regression), on products brought to norm 1, since only their
sign counts; and tested on what was not learned from. Detectors of more pixels include those of fewer, so that more
pixels are never worse but for what is learned wrongly: what counts is the gain of the third pixel beside that of the
fourth, at as many multiplications, and what pixels tell that are spent otherwise. If detectors that see different
places are added up, their squared discriminabilities add, :math:`z^2` with z the normal quantile of the accuracy; so
the best buy is the number of pixels of largest :math:`z^2` a pixel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, ndtri
from scipy.stats import t as student

from flymotion.claims.bayes import posterior
from flymotion.claims.cartoon.regimes import NOISES, VISIONS, Seen, called
from flymotion.claims.content.classes import middle
from flymotion.claims.rows import Claim, report
from flymotion.claims.worlds import WORLDS, share_right
from flymotion.detectors import hassenstein_reichardt, three_pixel
from flymotion.detectors.temporal import Delay
from flymotion.frames import FramePairs
from flymotion.photoreceptors import ZCAWhitening
from flymotion.plots.canvas import new_figure
from flymotion.world.eyes import Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "DETECTORS",
    "PIXELS",
    "best_buy",
    "best_detectors",
    "check_costs",
    "draw_costs",
    "interval",
    "knowable",
    "logistic",
    "told",
    "worth",
]

PIXELS = (2, 3, 4, 5)
"""Of the detectors; one pixel tells no direction."""

KINDS = ("every", "once", "row")

FIXED = ("cartoon", "HRD", "labelled mean of 3", "random weights of 3")

DETECTORS = (*(f"{kind} {m}" for kind in KINDS for m in PIXELS), *FIXED)

COMPARED = {
    "two_to_three": ("every 3", "every 2", "best of 3 pixels - best of 2, a multiplication a pixel"),
    "three_to_four": ("every 4", "every 3", "best of 4 pixels - best of 3, a multiplication a pixel"),
    "once_two_to_three": ("once 3", "once 2", "best of 3 pixels - best of 2, one multiplication each"),
    "once_three_to_four": ("once 4", "once 3", "best of 4 pixels - best of 3, one multiplication each"),
    "row_two_to_three": ("row 3", "row 2", "best of 3 pixels - best of 2, one change, as in a row of the filter"),
    "row_three_to_four": ("row 4", "row 3", "best of 4 pixels - best of 3, one change, as in a row of the filter"),
    "hrd": ("cartoon", "HRD", "three-pixel cartoon, one multiplication - Hassenstein-Reichardt, two"),
    "cartoon": ("cartoon", "once 2", "three-pixel cartoon - best of 2 pixels, one multiplication each"),
    "spent": ("once 3", "every 2", "best of 3 pixels with one multiplication - best of 2 pixels with two"),
}
"""Detectors whose accuracies are compared: more, less, in words."""

INDEPENDENT = "95 % intervals over seeds in L1, over photographs in P, each tested with what the others taught"

RIDGE = 0.01
"""Of logistic regression, whose products have norm 1."""

N_STEPS = 20
"""Of logistic regression, at most; ten are enough as a rule."""

N_KNOWN = 800
"""New pairs whose posterior is found."""


def told(given: Seen, *, blind: bool, rng: np.random.Generator) -> np.ndarray:
    """Return the share of new pairs whose direction each detector tells, shape (n_detectors,)."""
    lesson, new = given
    best = [best_detectors(m, lesson, new, blind=blind) for m in PIXELS]
    readings = [of_m[kind] for kind in range(len(KINDS)) for of_m in best]
    three, step = middle(new, 3), Delay(1.0)
    movies = np.stack([three.before, three.after], axis=1)
    readings += [d(movies, 1.0, eye=Line(3))[:, 1, 0] for d in (three_pixel(step), hassenstein_reichardt(step))]
    products, new_products = (_outer(*_factors(3, pairs)) for pairs in (lesson, new))
    readings += [new_products @ (_right(lesson) @ products), new_products @ rng.standard_normal(9)]
    return np.array([share_right(reading, new) for reading in readings])


def best_detectors(m: int, lesson: FramePairs, new: FramePairs, *, blind: bool = False) -> np.ndarray:
    """Return outputs of the best detectors of the m central pixels to new pairs, in the order of KINDS.

    Parameters
    ----------
    m : int
        Pixels; of an even number one more lies left of the centre than right of it.
    lesson, new : FramePairs
        Pairs to learn from, and to test with, of the same odd number of pixels.
    blind : bool
        Whether weights onto intensities sum to 0, so that the luminance of photographs does not drown small gradients.

    Returns
    -------
    ndarray, shape (3, n_new)
    """
    right = _right(lesson)
    (change, x), (new_change, new_x) = (_factors(m, pairs, blind) for pairs in (lesson, new))
    P, Q = _whitening(change), _whitening(x)  # weights of like sizes are learned sooner
    centre = [m // 2]
    u, v, new_u, new_v = change @ P, x @ Q, new_change @ P, new_x @ Q
    W = _best(u, v, right)
    p, q = _once(W, u, v, right)
    row = new_change[:, centre] * (new_v @ _best(change[:, centre], v, right).T)
    return np.stack([((new_u @ W) * new_v).sum(axis=1), ((new_u @ p) * (new_v @ q))[:, 0], row[:, 0]])


def _once(W: np.ndarray, u: np.ndarray, v: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the best weights p q' of rank one, as columns: one after the other, from either component of any W."""
    found = []
    for start in np.linalg.svd(W)[0].T[:2]:
        q = _best(u @ start[:, None], v, right).T
        p = _best(u, v @ q, right)
        found.append((np.mean(np.sign((u @ p) * (v @ q))[:, 0] == right), p, q))
    return max(found, key=lambda each: each[0])[1:]


def _factors(m: int, pairs: FramePairs, blind: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return changes of the m central pixels, and their mean intensities or the differences from pixel to pixel."""
    seen = middle(pairs, m)
    before, after = seen.before, seen.after
    mean = (before + after) / 2
    return after - before, np.diff(mean, axis=1) if blind else mean


def _whitening(factor: np.ndarray) -> np.ndarray:
    return ZCAWhitening(0.0).fit(factor).matrix_


def _best(u: np.ndarray, v: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return weights onto products of u and v that tell +1 from -1 best, shape (n_u, n_v)."""
    lengths = np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1)
    seen = _outer(u, v) / np.maximum(lengths, 1e-300)[:, None]
    return logistic(seen, right).reshape(u.shape[1], v.shape[1])


def logistic(seen: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the weights of logistic regression, without a threshold: Newton's steps, as there are hundreds to fit."""
    w, signed = np.zeros(seen.shape[1]), seen * right[:, None]
    for _ in range(N_STEPS):
        wrong = expit(-(signed @ w))
        curvature = (signed * (wrong * (1 - wrong))[:, None]).T @ signed + RIDGE * np.eye(len(w))
        step = np.linalg.solve(curvature, signed.T @ wrong - RIDGE * w)
        w += step
        if np.abs(step).max() < 1e-3 * np.abs(w).max():
            break
    return w


def _outer(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return (u[:, :, None] * v[:, None, :]).reshape(len(u), -1)


def _right(pairs: FramePairs) -> np.ndarray:
    assert pairs.motion is not None
    return np.sign(pairs.motion[:, 0])


def knowable(noise: str, given: Seen) -> np.ndarray:
    """Return the share of new pairs of L1 whose direction the exact posterior tells from m pixels, for all PIXELS."""
    world, new = WORLDS["L1"], given.new[:N_KNOWN]
    variance = NOISES[noise] * given.lesson.before.var()
    views = [middle(new, m) for m in PIXELS]
    return np.array([share_right(posterior(world, view, variance).rightness(), view) for view in views])


# -- claims ------------------------------------------------------------------------------------------------------


def interval(values: np.ndarray) -> tuple[float, float]:
    """Return Student's 95 % interval of the mean of independent values; endless for a single one."""
    flat = np.ravel(values)
    if len(flat) < 2:
        return -math.inf, math.inf
    half = student.ppf(0.975, len(flat) - 1) * flat.std(ddof=1) / math.sqrt(len(flat))
    return float(flat.mean() - half), float(flat.mean() + half)


def worth(accuracies: np.ndarray, n_test: int) -> np.ndarray:
    """Return the squared normal quantile of accuracies, a pixel, for all PIXELS; half a pair is wrong at least."""
    z = ndtri(np.clip(accuracies, 0.5, 1 - 0.5 / n_test))
    return z**2 / np.array(PIXELS)


def best_buy(accuracies: np.ndarray, n_test: int) -> int:
    """Return the number of pixels that is worth most a pixel."""
    return PIXELS[int(worth(accuracies, n_test).argmax())]


def check_costs(accuracies: Mapping[str, np.ndarray], known: np.ndarray, n_test: int, n_seeds: int) -> Iterator[Claim]:
    """State what detectors tell, and what they cost.

    Parameters
    ----------
    accuracies : mapping of world to ndarray, shape (n_independent, n_visions, n_noises, n_detectors)
        Shares of new pairs whose direction is told.
    known : ndarray, shape (n_noises, n_pixels)
        What the posterior tells in L1, of raw frames.
    n_test : int
        New pairs of each independent part of a world.
    n_seeds : int
        Seeds behind all this.
    """
    regimes = {
        (world, vision, noise): of[:, i, j]
        for world, of in accuracies.items()
        for i, vision in enumerate(VISIONS)
        for j, noise in enumerate(NOISES)
    }
    for regime, of in regimes.items():
        yield from _bought(regime, of, n_test, n_seeds)
        if regime[:2] == ("L1", "raw"):
            yield _knowable_buy(regime, known[list(NOISES).index(regime[2])], n_test, n_seeds)
    for name, (more, less, words) in COMPARED.items():
        gained = {called(*regime): of[:, _of(more)] - of[:, _of(less)] for regime, of in regimes.items()}
        note = "; ".join(f"{regime} {_with_interval(gain)}" for regime, gain in gained.items())
        title = f"gain in accuracy of direction at one centre, new scenes: {words}: least mean of all regimes"
        least = min(gain.mean() for gain in gained.values())
        yield report(f"C4.{name}", title, least, seeds=n_seeds, note=f"{note}; {INDEPENDENT}")


def _bought(regime: tuple[str, str, str], of: np.ndarray, n_test: int, n_seeds: int) -> Iterator[Claim]:
    """State the best buy in one regime; the note tells accuracies, shape (n_independent, n_detectors)."""
    means = of.mean(axis=0)
    buys = {kind: best_buy(means[[_of(f"{kind} {m}") for m in PIXELS]], n_test) for kind in KINDS}
    shares = {name: _with_interval(of[:, k]) for k, name in enumerate(DETECTORS)}
    best = [f"{kind}: " + ", ".join(f"{m} px {shares[f'{kind} {m}']}" for m in PIXELS) for kind in KINDS]
    all_told = "; ".join([*best, *(f"{name} {shares[name]}" for name in FIXED)])
    most = worth(means[[_of(f"every {m}") for m in PIXELS]], n_test)
    worths = ", ".join(f"{m} px {value:.3f}" for m, value in zip(PIXELS, most, strict=True))
    others = f"with one multiplication {buys['once']}, as a row of the filter {buys['row']}; worth a pixel: {worths}"
    title = (
        "pixels that are the best buy, of the largest squared discriminability a pixel of the best detectors of 2 to 5 "
        f"pixels, {called(*regime)}"
    )
    note = f"{others}; accuracy of direction at one centre, new scenes: {all_told}; {INDEPENDENT}"
    yield report(f"C4.buy_{'_'.join(regime)}", title, buys["every"], unit="px", seeds=n_seeds, note=note)


def _knowable_buy(regime: tuple[str, str, str], known: np.ndarray, n_test: int, n_seeds: int) -> Claim:
    note = "accuracy: " + ", ".join(f"{m} px {share:.3f}" for m, share in zip(PIXELS, known, strict=True))
    title = f"pixels that are the best buy for the exact posterior, {called(*regime)}"
    return report(
        f"C4.buy_{'_'.join(regime)}_bayes", title, best_buy(known, n_test), unit="px", seeds=n_seeds, note=note
    )


def _of(detector: str) -> int:
    return DETECTORS.index(detector)


def _with_interval(values: np.ndarray) -> str:
    low, high = interval(values)
    return f"{values.mean():.3f} ({low:.3f} to {high:.3f})"


# -- figure ------------------------------------------------------------------------------------------------------


def draw_costs(accuracies: Mapping[str, np.ndarray], known: np.ndarray) -> Figure:
    """Draw accuracy against pixels, a panel a world and noise; shapes as for :func:`check_costs`."""
    figure = new_figure(13, 7.6)
    panels: Any = figure.subplots(len(accuracies), len(NOISES), sharex=True, sharey=True)
    for row, (world, of) in zip(panels, accuracies.items(), strict=True):
        for j, (axes, noise) in enumerate(zip(row, NOISES, strict=True)):
            _draw_panel(axes, of[:, :, j])
            axes.set_title(
                f"{world}, {'no noise' if noise == 'clean' else 'noise at ' + noise[:2] + ' dB'}", fontsize=10
            )
            if world == "L1":
                axes.plot(PIXELS, known[j], ":", color="k", label="exact posterior, raw")
        row[0].set_ylabel("share of pairs whose direction is told")
    panels[0, 0].set_ylim(0.45, 1.03)
    for axes in panels[-1]:
        axes.set_xlabel("pixels at one centre")
        axes.set_xticks(PIXELS)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.suptitle(
        "best detectors at one centre, new scenes; 95 % intervals over seeds (L1), from photograph to photograph (P)",
        fontsize=11,
    )
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    return figure


def _draw_panel(axes: Axes, of: np.ndarray) -> None:
    """Draw means and spreads of one world and noise, shape (n_independent, n_visions, n_detectors)."""
    words = {"every": "a multiplication a pixel", "once": "one multiplication", "row": "one, and one change"}
    for i, (vision, colour) in enumerate(zip(VISIONS, ("C0", "C1"), strict=True)):
        for kind, line in zip(KINDS, ("-", "--", "-."), strict=True):
            shown = of[:, i, [_of(f"{kind} {m}") for m in PIXELS]]
            _draw_intervals(
                axes, np.array(PIXELS) + 0.06 * i, shown, f"best, {words[kind]}, {vision}", color=colour, ls=line
            )
        for name, marker, pixels in (("cartoon", "*", 3), ("HRD", "s", 2)):
            cost = "one multiplication" if name == "cartoon" else "two multiplications"
            place = np.array([pixels - 0.15 + 0.06 * i])
            style: dict[str, Any] = {"color": colour, "marker": marker, "ls": "none", "markersize": 8}
            _draw_intervals(axes, place, of[:, i, [_of(name)]], f"{name}, {cost}, {vision}", **style)
    axes.axhline(0.5, color="0.6", linewidth=1)


def _draw_intervals(axes: Axes, places: np.ndarray, of: np.ndarray, label: str, **style: Any) -> None:
    """Draw means with 95 % intervals; of two photographs, whose interval would say nothing, from one to the other."""
    mean = of.mean(axis=0)
    ends = np.array([interval(values) for values in of.T]) if len(of) > 2 else np.transpose([of.min(0), of.max(0)])
    spread = np.nan_to_num(ends[:, 1] - mean, posinf=0.0)
    axes.errorbar(places, mean, yerr=spread, label=label, capsize=2, linewidth=1.2, **style)

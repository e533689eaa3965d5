"""Figure 1: the three single-layer networks on the same vectors, and what of their outputs is correlated (C26)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flymotion.claims.beside import Null, beside
from flymotion.claims.offline_online.plain_networks import random_rows, rule_alone
from flymotion.claims.offline_online.real_vectors import N_PASSES, RATE, RECONSTRUCTION_RATE, SIDE, draw_real
from flymotion.claims.rows import Claim, report
from flymotion.claims.running import Found
from flymotion.plots.canvas import new_figure, signed_colours
from flymotion.similarity.rivals import ReconstructionNetwork

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["NETWORKS", "Layers", "check_layers", "draw_layers", "learn_layers"]

K = 8

NETWORKS = ("reconstruction", "sm", "nsm")


class Layers(NamedTuple):
    """The three networks of Fig. 1, from random weights by their rules alone."""

    filters: np.ndarray
    """Feedforward weights, rows of norm 1, shape (3, K, n_features)."""
    lateral: np.ndarray
    """Lateral weights relative to the largest, shape (3, K, K): W'W, M and M."""
    outputs: np.ndarray
    """Root mean square of the correlations of different outputs, shape (3,)."""
    drives: np.ndarray
    """The same of the feedforward inputs W'x, shape (3,)."""
    random: np.ndarray
    """The same of random projections."""


def learn_layers(kind: str, seed: int) -> Layers:
    """Let all three learn from real vectors, less their mean."""
    X, n_passes = draw_real(kind, seed), N_PASSES[kind]
    X = X - X.mean(axis=0)
    reconstruction = ReconstructionNetwork(
        K, learning_rate=RECONSTRUCTION_RATE, n_passes=n_passes, random_state=np.random.default_rng([seed, 42])
    ).fit(X)
    similar = [
        rule_alone(X, K, [seed, 42], nonnegative=nonnegative, rate=RATE, n_passes=n_passes)
        for nonnegative in (False, True)
    ]
    networks: list[Any] = [reconstruction, *similar]
    W = np.stack([reconstruction.components_, *(each.S_ for each in similar)])
    lateral = np.stack([reconstruction.gramian_, *(each.R_ for each in similar)])
    return Layers(
        W / np.linalg.norm(W, axis=2, keepdims=True),
        lateral / np.abs(lateral).max(axis=(1, 2), keepdims=True),
        np.array([_correlation(each.transform(X)) for each in networks]),
        np.array([_correlation(X @ rows.T) for rows in W]),
        np.array(_correlation(X @ random_rows(K, X.shape[1], [seed, 43]).T)),
    )


def _correlation(outputs: np.ndarray) -> float:
    """Return the root mean square correlation of different outputs that vary at all."""
    outputs = outputs[:, outputs.std(axis=0) > 0]
    return float(np.sqrt((np.corrcoef(outputs.T)[np.triu_indices(outputs.shape[1], 1)] ** 2).mean()))


def check_layers(found: Found, config: Any) -> Iterator[Claim]:
    """Report how correlated outputs are, before and after competition."""
    for i, name in enumerate(NETWORKS):
        words = {"reconstruction": "the reconstruction network", "sm": "SM", "nsm": "NSM"}[name]
        title = f"root mean square correlation of different outputs of {words}"
        outputs, drives = (
            {kind: getattr(each, what)[:, i] for kind, each in found.items()} for what in ("outputs", "drives")
        )
        note = f"K = {K}, less the mean, from random weights by the rule alone; PCA's scores have 0"
        row = report(f"C26.correlation_{name}", title, outputs, worst=np.max, note=note)
        yield from beside(row, drive=Null("their feedforward inputs W'x, without competition", drives))
    yield from _check_filters(found["patches"].filters[:, 2])
    random = {kind: each.random for kind, each in found.items()}
    yield report(
        "C26.correlation_random", "root mean square correlation of different random projections", random, worst=np.max
    )


def _check_filters(filters: np.ndarray) -> Iterator[Claim]:
    """Report what filters NSM has for patches, shape (n_seeds, K, n_features), of norm 1."""
    spread = 1 / (filters**4).sum(axis=2) / filters.shape[2]
    title = "share of a patch that a filter of NSM covers, 1 over the sum of fourth powers of weights, median"
    note = f"{K} units; Gaussian weights cover 1/3, a grating 2/3: filters are no localised fields"
    yield report("C26.patches_spread", title, spread, worst=np.median, note=note)
    cosines = np.einsum("ska,sla->skl", filters, filters).min(axis=2)
    title = "cosine of a filter of NSM for patches with the one most opposite to it, median"
    yield report("C26.patches_opposite", title, cosines, worst=np.median, note=f"{K} units")


# -- Figure 1 ----------------------------------------------------------------------------------------------------------

LOCAL, NOT_LOCAL = "C2", "C3"
"""Colours of what a synapse knows, and of what it would have to know."""

TOLD = {
    "reconstruction": (
        "(a) reconstruction, Eqs. 1-2",
        "$x_i$, $y_j$, and all $y_k$ and $W_{ik}$",
        r"$-W^\top W$, of all $W$",
    ),
    "sm": ("(b) SM, Eqs. 3-6", "$x_i$, $y_j$", "$-M$, learned from $y_j$, $y_k$"),
    "nsm": ("(c) NSM, Eqs. 5-7: outputs max(., 0)", "$x_i$, $y_j$", "$-M$, learned from $y_j$, $y_k$"),
}
"""Titles; what a feedforward synapse has to know; what the lateral ones are."""


def draw_layers(layers: Layers) -> Figure:
    """Draw the networks, what their synapses have to know, and what they learned of digits, first seed."""
    figure = new_figure(10.5, 8.0)
    panels = figure.subplots(3, 3, height_ratios=(1.0, 0.65, 1.15))
    for i, name in enumerate(NETWORKS):
        _draw_network(panels[0, i], *TOLD[name], local=name != "reconstruction")
        limit = np.abs(layers.filters[0]).max()
        filters = _show(panels[1, i], _tiles(layers.filters[0, i]), limit)
        lateral = _show(panels[2, i], layers.lateral[0, i], 1.0)
        panels[1, i].set_axis_off()
        panels[1, i].set_title(f"feedforward weights of {K} units", fontsize=9)
        panels[2, i].set(xlabel="from unit", xticks=range(K), xticklabels=range(1, K + 1))
        panels[2, i].set(ylabel="to unit", yticks=range(K), yticklabels=range(1, K + 1))
        of = r"$W^\top W$" if name == "reconstruction" else "$M$"
        output, drive = layers.outputs[0, i], layers.drives[0, i]
        title = rf"{of}; correlation of outputs {output:.2f}, of $W^\top x$ {drive:.2f}"
        panels[2, i].set_title(title, fontsize=9)
    figure.colorbar(filters, ax=panels[1], label="weight (filters of norm 1)", shrink=0.8, pad=0.01)
    figure.colorbar(lateral, ax=panels[2], label="weight / largest", shrink=0.8, pad=0.01)
    title = "Figure 1: single-layer networks on the same digits, less their mean"
    figure.suptitle(f"{title}\ngreen: what a synapse can know; red: what it cannot", fontsize=11)
    return figure


def _show(axes: Axes, weights: np.ndarray, limit: float) -> Any:
    return axes.imshow(weights, cmap=signed_colours(), vmin=-limit, vmax=limit, interpolation="nearest")


def _tiles(filters: np.ndarray, n_rows: int = 2) -> np.ndarray:
    """Lay filters out as images in rows, with gaps between them."""
    tiles = np.full((n_rows, len(filters) // n_rows, SIDE + 1, SIDE + 1), np.nan)
    tiles[..., :SIDE, :SIDE] = filters.reshape(n_rows, -1, SIDE, SIDE)
    return tiles.transpose(0, 2, 1, 3).reshape(n_rows * (SIDE + 1), -1)[:-1, :-1]


def _draw_network(axes: Axes, title: str, knows: str, lateral: str, *, local: bool) -> None:
    colour = LOCAL if local else NOT_LOCAL
    below, above = [(x, 0.0) for x in (0.0, 1.0, 2.0)], [(0.3, 1.0), (1.7, 1.0)]
    for x, _ in below:
        for u, _ in above:
            axes.plot([x, u], [0.0, 1.0], color="0.7", linewidth=1, zorder=1)
    axes.plot([0.0, 0.3], [0.0, 1.0], color=colour, linewidth=2.5, zorder=1)
    style: dict[str, Any] = {
        "arrowstyle": "|-|,widthA=0.25,widthB=0.25",
        "color": colour,
        "linewidth": 2,
        "connectionstyle": "arc3,rad=-0.35",
    }
    axes.annotate("", (1.62, 1.12), (0.38, 1.12), arrowprops=style)
    axes.scatter([x for x, _ in below], [0.0] * 3, s=260, color="white", edgecolor="black", zorder=2)
    axes.scatter([u for u, _ in above], [1.0] * 2, s=330, color="white", edgecolor="black", zorder=2)
    for (x, y), name in zip(below + above, ("$x_i$", "", "$x_n$", "$y_j$", "$y_k$"), strict=True):
        axes.text(x, y, name, ha="center", va="center", fontsize=9, zorder=3)
    axes.text(1.0, 1.62, lateral, ha="center", fontsize=9, color=colour)
    axes.text(1.0, -0.55, f"this synapse needs {knows}", ha="center", fontsize=9, color=colour)
    axes.set(xlim=(-0.5, 2.5), ylim=(-0.75, 1.9))
    axes.set_title(title, fontsize=10)
    axes.set_axis_off()

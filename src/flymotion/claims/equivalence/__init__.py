r"""Three-pixel, Hassenstein-Reichardt and shared-line detectors: equal in sum, unlike one by one (Suppl. E; C16, C20).

Supplement E, corrected, with the sign of content: f is the delayed signal, g the fast one, centres run from a to b,

.. math:: \sum_{i=a}^{b} (g_i - f_i)(g_{i-1} - g_{i+1}) = \sum_{i=a}^{b-1} (f_i g_{i+1} - g_i f_{i+1})
   + (g_a - f_a)\, g_{a-1} - (g_b - f_b)\, g_{b+1}

for any f. In a scene that is alike everywhere the two boundary products have on average the output of one detector, so
their share falls as one over the number of detectors. On a ring they cancel. A learned detector :math:`\Delta x' T f`
whose T is antisymmetric and the same everywhere (Toeplitz), with weights :math:`c_k` onto the pixel k to the left, has
none: :math:`\Delta x' T f = \sum_k c_k \sum_i (f_i g_{i+k} - g_i f_{i+k})`, a weighted sum of HRDs of every base
length k, on a ring and on one patch.

A single detector is another matter (Section 3.2). To a drifting grating the HRD's output is flat, and the other two
oscillate at twice the grating's frequency. With F the transfer function of the filter that makes f, their phases differ
by :math:`\arg(1 - F) - \arg F`, and the correlation is the cosine of that: 0 for a low-pass at any frequency, and
:math:`-\sin(\omega\tau/2)` for a delay: -0.71 at the frequency at which it responds best, :math:`1/4\tau`, and -1 at
twice that. How unlike the shared line is depends on what its fast arm is: high-passed, as the three-pixel detector's
is, its output is nearly the same. And about a mean luminance what is linear in contrast decides: a learned patch is
then nearly like an HRD.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flymotion.claims.equivalence.apart import check_apart, tell_apart
from flymotion.claims.equivalence.learned_sums import check_learned, compare_learned
from flymotion.claims.equivalence.movies import DT
from flymotion.claims.equivalence.singles import check_singles, compare_singles
from flymotion.claims.equivalence.sums import boundary_shares, check_fields, sum_fields
from flymotion.claims.rows import Claim
from flymotion.claims.running import Found, Work, each_seed
from flymotion.plots.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "check", "figures", "work"]

CLAIMS = {
    "C16": "three-pixel detectors sum to HRDs, but for the boundary",
    "C20": "a single three-pixel detector is no HRD",
}


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Scenes of noise, draws of rows of photographs, and filters learned in each world.
    n_frames : int
        Frames of noise.
    speeds : tuple of float
        Of noise and photographs, multiples of 1/20 [pixels per frame].
    wavelengths : tuple of float
        Of gratings [pixels].
    frequencies : tuple of float
        Of gratings, relative to the best.
    n_rows, n_row_frames : int
        Rows of photographs a seed, and frames of each.
    fields : tuple of int
        Numbers of HRDs that are summed.
    n, n_pairs : int
        Pixels of the learned filters, and pairs to learn from.
    n_learned : int
        Frames of noise and photographs that learned detectors are shown.
    """

    n_seeds: int = 10
    n_frames: int = 1600
    speeds: tuple[float, ...] = (0.05, 0.2, 0.3)
    wavelengths: tuple[float, ...] = (6.0, 20.0)
    frequencies: tuple[float, ...] = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
    n_rows: int = 16
    n_row_frames: int = 500
    fields: tuple[int, ...] = (8, 16, 32, 64, 128, 256, 512)
    n: int = 15
    n_pairs: int = 10_000
    n_learned: int = 600


QUICK = {"n_seeds": 2}


def work(config: Config) -> Work:
    """Show moving scenes to all detectors."""
    pieces = {"singles": compare_singles, "fields": sum_fields, "apart": tell_apart, "learned": compare_learned}
    return {name: each_seed(piece, config.n_seeds, config) for name, piece in pieces.items()}


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C16 and C20."""
    yield from check_fields(found["fields"], config)
    yield from check_learned(found["learned"], config)
    yield from check_singles(found["singles"], config)
    yield from check_apart(found["apart"], config)


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw outputs of one detector of each kind, of their sums over a line, and the boundary's share of the sums."""
    figure = new_figure(12, 5.6)
    grid = figure.add_gridspec(2, 3)
    outputs = found["singles"].outputs[0]
    for row, scene in enumerate(("noise", "grating")):
        for column, what in enumerate(("one detector", "sum over 60 pixels")):
            axes = figure.add_subplot(grid[row, column])
            _draw_outputs(axes, outputs[row, column])
            axes.set(title=f"{scene}: {what}", xlabel="time [s]", ylabel="output [contrast squared]")
    first = figure.axes[0]
    first.set_ylim(top=1.35 * first.get_ylim()[1])
    first.legend(fontsize=8, ncols=3, loc="upper left")
    _draw_shares(figure.add_subplot(grid[:, 2]), np.array(config.fields), boundary_shares(found["fields"]))
    figure.suptitle("Supplement E: detectors with one delay, content moving right", fontsize=11)
    return {"equivalence": figure}


def _draw_outputs(axes: Axes, outputs: np.ndarray) -> None:
    axes.axhline(0, color="0.8", linewidth=1)
    styles = (("three-pixel", "C3", "-"), ("HRD", "C0", "--"), ("shared line", "C2", ":"))
    for output, (name, colour, style) in zip(outputs, styles, strict=True):
        axes.plot(DT * np.arange(len(output)), output, style, color=colour, label=name, linewidth=2)


def _draw_shares(axes: Axes, fields: np.ndarray, shares: np.ndarray) -> None:
    """Draw the boundary's share against the field, log-log, and a line of slope -1."""
    for share, name, marker in zip(shares, ("noise", "grating"), "os", strict=True):
        axes.loglog(fields, share, marker, label=name)
    middle = np.exp(np.log(shares[0] * fields).mean())
    axes.loglog(fields, middle / fields, color="0.6", label="slope -1")
    axes.set(title="boundary terms", xlabel="HRDs summed", ylabel="root mean square over the mean sum of HRDs")
    axes.legend(fontsize=8)

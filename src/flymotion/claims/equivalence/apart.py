r"""The stimulus that tells three-pixel detector, HRD and shared line apart best, and the trials that it takes (C20).

All three have the same filters, so that they have the same mean (Suppl. E), and nothing about their gains has to be
guessed. Stimuli have the same root mean square as one pixel sees them. Outputs are in units of the mean output to a
grating of 12 pixels at the best frequency, a trial lasts one second, and the noise of a recording is white, and of a
standard deviation of one such unit in the mean over a trial. Between two detectors whose outputs differ by D then

.. math:: d'^2 = \overline{D^2}, \quad n = \lceil (2 \cdot 1.645 / d')^2 \rceil

trials tell in 95 % of cases which it is. What counts is the pair that is the hardest to tell.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import erf

from flymotion.claims.equivalence import movies
from flymotion.claims.equivalence.movies import DT, FILTERS, SETTLED, START, WAVELENGTH, respond
from flymotion.claims.equivalence.singles import trio
from flymotion.claims.passing import moving, noise
from flymotion.claims.rows import Claim, report
from flymotion.claims.worlds import WORLDS
from flymotion.detectors.temporal import Step

if TYPE_CHECKING:
    from flymotion.claims.equivalence import Config

__all__ = ["check_apart", "stimuli", "tell_apart", "trials"]

TRIAL = round(1 / DT)
"""Frames of a trial."""

ERROR = 1.645
"""Standard deviations that leave 5 %."""


def stimuli(config: Config) -> list[str]:
    """Return the names of all stimuli, in the order of ``tell_apart``."""
    gratings = itertools.product(config.wavelengths, config.frequencies)
    moved = [f"{kind} at {v:g} px a frame" for kind in ("noise", "an edge") for v in config.speeds]
    return [*(f"a grating of {w:g} px at {f:g} of the best frequency" for w, f in gratings), *moved]


def tell_apart(config: Config, seed: int) -> np.ndarray:
    """Return d' of the hardest pair in a trial of each stimulus, shape (n_filters, n_stimuli)."""
    rng = np.random.default_rng([seed, 22])
    n_frames = START + 8 * TRIAL
    seen = noise(WORLDS["L1"], 4, n_frames, max(config.speeds), rng)
    moved = [moving(seen, 4, n_frames, v) for v in config.speeds] + [_edge(v) for v in config.speeds]
    found = []
    for step, best in FILTERS.values():
        shown = [
            movies.grating(w, movies.period(best, f), 4)[SETTLED - START :]
            for w, f in itertools.product(config.wavelengths, config.frequencies)
        ]
        unit = _outputs(movies.grating(WAVELENGTH, movies.period(best, 1.0), 4)[SETTLED - START :], step)[0].mean()
        found.append([_hardest(_outputs(movie, step) / unit) for movie in [*shown, *moved]])
    return np.array(found)


def _edge(speed: float) -> np.ndarray:
    """Return an edge from 1 to -1, as L1's optics blur it, that passes by in the middle of a trial, (n_frames, 4)."""
    frames = np.arange(START + TRIAL)[:, None]
    places = np.arange(4) - 1 - speed * (frames - START - TRIAL / 2)
    return -erf(places / WORLDS["L1"].sigma / math.sqrt(2))


def _outputs(movie: np.ndarray, step: Step) -> np.ndarray:
    """Return outputs, as at an rms of 1: three-pixel detector, shared line, HRDs on either side; (4, n_frames)."""
    three, hrd, shared = (respond(d, movie) for d in trio(step))
    outputs = np.stack([three[:, 0], shared[:, 0], hrd[:, 0], hrd[:, 1]])[:, START:]
    return outputs / (movie[START:, 1] ** 2).mean()


def _hardest(outputs: np.ndarray) -> float:
    """Return d' of the pair that is the hardest to tell apart, the HRD on the side that is nearer."""
    three, shared, *hrds = outputs
    pairs = [(three, shared), *((other, hrd) for other in (three, shared) for hrd in hrds)]
    return min(math.sqrt(((a - b) ** 2).mean()) for a, b in pairs)


def trials(d_prime: np.ndarray) -> np.ndarray:
    """Return how many trials tell in 95 % of cases which of two detectors it is."""
    return np.ceil((2 * ERROR / np.maximum(d_prime, 1e-9)) ** 2)


def check_apart(d_prime: np.ndarray, config: Config) -> Iterator[Claim]:
    """Report the best stimulus; d' of each seed, of each filter."""
    names, typical = stimuli(config), np.median(d_prime, axis=0).round(6)  # many gratings are as good
    best = typical.argmax(axis=-1)
    told = []
    for way, of_filter in zip(FILTERS, typical, strict=True):
        kinds = [np.array([kind in name for name in names]) for kind in ("grating", "noise", "edge")]
        firsts = [int(np.where(of_kind, of_filter, -1).argmax()) for of_kind in kinds]
        told.append(
            f"{way}: " + ", ".join(f"{names[k]} {of_filter[k]:.3g} ({trials(of_filter[k]):.0f})" for k in firsts)
        )
    note = f"best of each kind, d' (trials): {'; '.join(told)}; noise of one mean output over a trial of 1 s"
    by = {way: d_prime[:, j, best[j]] for j, way in enumerate(FILTERS)}
    title = "d' in one trial of the hardest pair of three-pixel detector, HRD and shared line, best stimulus"
    yield report("C20.apart", title, by, worst=np.min, note=note)
    title = "trials that tell three-pixel detector, HRD and shared line apart in 95 % of cases, best stimulus"
    yield report("C20.trials", title, {way: trials(d) for way, d in by.items()}, worst=np.max, unit="trials", note=note)

r"""What correlations know of what can be known, in more and more noise (Section 2.5, Supplement C; C33).

With the covariance C(s) of the pixels after and before content has moved by s, and noise of variance
:math:`\sigma^2`, the slope of the log likelihood at theta = 0 is :math:`\Delta x' A \bar x / 2 \sigma^2`, with the mean
:math:`\bar x` of both frames and :math:`A = 2 C'(0) (2 C(0) + \sigma^2)^{-1}`, the derivative of what can be told of
the scene: called matched here. So in much noise the posterior mean is the correlation :math:`\Delta x' A \bar x /
\lambda`, with :math:`\lambda = 2 \sigma^2 / \mathrm{var}\,\theta`. (For an antisymmetric A, such as the central
difference, :math:`\Delta x' A \bar x = \Delta x' A x`, the paper's.)

The share of what can be known is measured without the true motion: as :math:`E[c\,\theta] = E[c\,m]` for the posterior
mean m and any c that is computed from the frames, the best multiple of c explains :math:`E[c m]^2 / E[c^2] E[m^2]` of
the variance that m explains. So it is known at -10 dB too, where :math:`E[m^2]` is a 14,000th of the variance of
theta, and where 10,000 pairs with their true motion tell nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from flymotion.claims.bayes import covariance, posterior
from flymotion.claims.beside import Null, beside
from flymotion.claims.rows import Claim, above, report
from flymotion.claims.worlds import WORLDS
from flymotion.frames import FramePairs
from flymotion.generators import derivative_operator
from flymotion.photoreceptors import SensorNoise, ZCAWhitening
from flymotion.plots.canvas import new_figure
from flymotion.similarity.features import outer_products

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flymotion.claims.regression import Config

__all__ = ["OPERATORS", "RIDGES", "Known", "change_snr", "check_noise", "draw", "estimate", "matched", "noisy", "terms"]

WORLD = WORLDS["L1"]

OPERATORS = {
    "paper": "the central difference of intensities (Suppl. C)",
    "whitened": "the central difference, on whitened frames",
    "matched": "the operator matched to the noise",
    "spaced": "half the difference of the pixels two away on either side",
    "labelled": "mean chi of motion right less that of motion left, on whitened frames, of as many other pairs",
    "population": "the mean of chi of small motions right, on whitened frames, in closed form",
    "random": "random weights",
}
"""What change and intensity are correlated through; all but the first three are nulls."""

RIDGES = ("paper", "matched")
"""Operators of which the best penalty is looked for."""

LABELS = {
    "paper": "central difference",
    "whitened": "central difference, whitened",
    "matched": "matched to the noise",
    "spaced": "two pixels away",
    "labelled": "labelled mean, whitened",
    "population": "mean in closed form, whitened",
    "random": "random",
}
"""The same in the figure."""

DOMINANT = 10.0
"""Times |A x|^2 from which a penalty dominates the denominator."""

SHARE = "share of the variance explained by the posterior mean that the correlation explains"

OPTIMAL = 'Sec. 2.5: "may be viewed as a Bayesian optimal estimate of velocity in the low SNR regime"'
DOMINATES = 'Suppl. C: "the regularizer lambda dominates the denominator in the realistic setting"'

STATED = {"minus_10": -10.0, "0": 0.0, "10": 10.0, "20": 20.0, "30": 30.0}
"""Ratios of signal to noise that rows speak of [dB]."""


class Known(NamedTuple):
    """What can be known of the motion, and how much of it correlations know (C33)."""

    bayes: np.ndarray
    """Share of the motion's variance that the posterior mean explains, shape (n_snrs,)."""
    share: np.ndarray
    """Share of that which the best multiple of each correlation explains, shape (n_operators, n_snrs)."""
    direct: np.ndarray
    """The same of the same multiples, both shares from the true motion, shape (n_operators, n_snrs)."""
    ridge: np.ndarray
    """The share of the ridge regression with the best penalty, shape (n_ridges, n_snrs)."""
    penalty: np.ndarray
    """That penalty, relative to the mean of |A x|^2, shape (n_ridges, n_snrs)."""


def change_snr() -> float:
    """Return what the change's ratio of signal to noise exceeds the intensity's by; negative [dB]."""
    nodes, weights = np.polynomial.legendre.leggauss(15)
    moved = [covariance(WORLD, 1, WORLD.max_shift * node)[0, 0] for node in nodes]
    return float(10 * np.log10(1 - weights @ moved / 2 / covariance(WORLD, 1)[0, 0]))


def _slope(n: int, step: float = 1e-3) -> np.ndarray:
    """Return C'(0), shape (n, n): the mean of chi of small motions right, relative to them."""
    return (covariance(WORLD, n, step) - covariance(WORLD, n, -step)) / (2 * step)


def matched(n: int, variance: float) -> np.ndarray:
    """Return the operator of which dx' A x / 2 variance is the score, the slope of the log density, at theta = 0."""
    return 2 * _slope(n) @ np.linalg.inv(2 * covariance(WORLD, n) + variance * np.eye(n))


def estimate(config: Config, seed: int) -> Known:
    """Compare correlations with the posterior mean at every ratio of signal to noise."""
    clean, others = (WORLD.pairs(config.n, config.n_pairs, [seed, 33, k]) for k in (0, 1))
    rows = []
    for snr in config.snrs:
        variance = float(covariance(WORLD, 1)[0, 0] * 10 ** (-snr / 10))
        pairs, lesson = (noisy(some, variance, [seed, 34, k]) for k, some in enumerate((clean, others)))
        operators = _operators(lesson, variance, np.random.default_rng([seed, 35]))
        rows.append(_compare(pairs, operators, posterior(WORLD, pairs, variance).mean()))
    return Known(*(np.array(field).T for field in zip(*rows, strict=True)))


def noisy(pairs: FramePairs, variance: float, seed: Any) -> FramePairs:
    """Add noise of a variance to both frames."""
    return SensorNoise(np.sqrt(variance), random_state=seed).fit_transform(pairs)


def _operators(lesson: FramePairs, variance: float, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return operators on frames that are not whitened, as in ``OPERATORS``."""
    n = lesson.n_pixels
    assert lesson.motion is not None
    Z, chi = ZCAWhitening(0.0).fit(lesson).matrix_, outer_products(lesson, "midpoint")
    labelled = chi.accumulate(np.sign(lesson.motion))[0]
    ZZ = np.linalg.inv(covariance(WORLD, n) + variance * np.eye(n))
    central, wide = derivative_operator((n,)), (np.eye(n, k=-2) - np.eye(n, k=2)) / 2
    return {
        "paper": central,
        "whitened": Z @ central @ Z,
        "matched": matched(n, variance),
        "spaced": wide,
        "labelled": Z @ Z @ labelled @ Z @ Z,
        "population": ZZ @ _slope(n) @ ZZ,
        "random": rng.standard_normal((n, n)),
    }


def _compare(pairs: FramePairs, operators: dict[str, np.ndarray], mean: np.ndarray) -> tuple[Any, ...]:
    """Compare correlations and ridge regressions with the posterior mean; return fields of Known."""
    change, middle = pairs.after - pairs.before, (pairs.before + pairs.after) / 2
    correlated = {name: terms(change, middle, operators[name]) for name in OPERATORS}
    known, reference = np.mean(mean**2), _explained(mean, pairs)
    fitted = [products * (products @ mean) / (products @ products) for products, _ in correlated.values()]
    ridges, penalties = zip(*(_best_ridge(*correlated[name], mean) for name in RIDGES), strict=True)
    return (
        known / (WORLD.max_shift**2 / 3),
        [np.mean(estimates * mean) / known for estimates in fitted],
        [_explained(estimates, pairs) / reference for estimates in fitted],
        ridges,
        penalties,
    )


def _explained(estimates: np.ndarray, pairs: FramePairs) -> float:
    """Return the share of the true motion's variance that estimates explain."""
    assert pairs.motion is not None
    theta = pairs.motion[:, 0]
    return float(1 - np.mean((estimates - theta) ** 2) / np.mean(theta**2))


def _best_ridge(products: np.ndarray, sizes: np.ndarray, mean: np.ndarray) -> tuple[float, float]:
    """Return the share that ridge regression explains, and its penalty relative to the mean size.

    The posterior mean stands for the true motion: errors of any estimate differ by what cannot be known.
    """
    scale = sizes.mean()

    def error(log_penalty: float) -> float:
        return float(np.mean((products / (sizes + scale * np.exp(log_penalty)) - mean) ** 2) / np.mean(mean**2))

    best = minimize_scalar(error, bounds=(-7, 14), method="bounded")
    return 1 - best.fun, np.exp(best.x)


def terms(change: np.ndarray, middle: np.ndarray, A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return dx' A x and ``|A x|^2``, x the mean of both frames, each of shape (n_pairs,)."""
    predicted = middle @ A.T
    return (change * predicted).sum(axis=1), (predicted**2).sum(axis=1)


# -- claims --------------------------------------------------------------------------------------------------------


_least = partial(report, worst=np.min)


def check_noise(known: Known, config: Config) -> Iterator[Claim]:
    """State C33."""
    world = f"L1 with sensor noise, {config.n} pixels, {config.n_pairs} pairs"
    places = {name: config.snrs.index(snr) for name, snr in STATED.items()}

    def share(operator: str, name: str, note: str = "") -> dict[str, Any]:
        """Return title, values and note of a row, by name."""
        title = f"{SHARE}, at {STATED[name]:g} dB: {OPERATORS[operator]}"
        values = known.share[:, list(OPERATORS).index(operator), places[name]]
        return {"title": title, "values": values, "note": f"{note}{world}"}

    for name in STATED:
        for operator in ("paper", "whitened"):
            yield _least(f"C33.{operator}_{name}", **share(operator, name, f"{OPTIMAL}; "))
        if name == "10":
            yield from _check_modest(known, places[name], partial(share, name=name), world)
        else:
            yield _least(f"C33.matched_{name}", **share("matched", name))
        title = f"share of the motion's variance that the posterior mean of a pair explains, at {STATED[name]:g} dB"
        least = known.bayes[:, places[name]].min()
        note = f"so errors of any two estimates relative to the variance differ by no more than {least:.2g}; {world}"
        yield _least(f"C33.matched_{name}_bayes", title, known.bayes[:, places[name]], note=note)
        yield _least(f"C33.matched_{name}_population", **share("population", name))
    yield from _check_penalties(known, config.snrs, places, world)


def _check_modest(known: Known, k: int, share: Callable[..., dict[str, Any]], world: str) -> Iterator[Claim]:
    """State what is bounded, at 10 dB, and its nulls."""
    nulls = {key: Null(OPERATORS[key], share(key)["values"]) for key in ("random", "spaced", "labelled")}
    yield from beside(above("C33.matched_10", least=0.96, **share("matched")), **nulls)
    direct = dict(zip(OPERATORS, known.direct[..., k].T, strict=True))
    note = f"paper's operator {direct['paper'].min():.3f} to {direct['paper'].max():.3f}; {world}"
    title = f"{SHARE}, at 10 dB, both told from the true motion of the pairs: {OPERATORS['matched']}"
    yield above("C33.matched_10_direct", title, direct["matched"], 0.96, note=note)


def _check_penalties(known: Known, snrs: Sequence[float], places: Mapping[str, int], world: str) -> Iterator[Claim]:
    """Report whether lambda dominates the denominator, and whether the correlation is nearly optimal where it does."""
    for name, k in places.items():
        for i, operator in enumerate(RIDGES):
            of = known.share[:, list(OPERATORS).index(operator), k].mean(), known.ridge[:, i, k].mean()
            told = f"of what can be known the correlation explains {of[0]:.3f}, the ridge {of[1]:.3f}, means"
            note = f"{told}; {DOMINATES}; {world}"
            title = f"best lambda over the mean of |A x|^2, at {STATED[name]:g} dB: {OPERATORS[operator]}"
            yield _least(f"C33.lambda_{operator}_{name}", title, known.penalty[:, i, k], note=note)
    dominates = known.penalty[:, RIDGES.index("paper")].min(axis=0) > DOMINANT
    title = f"{SHARE}, at the best of the ratios at which lambda is more than {DOMINANT:g} times |A x|^2"
    best = known.share[:, list(OPERATORS).index("paper"), dominates].max(axis=1)
    note = f"a large lambda makes the ridge a correlation, not the correlation optimal; {DOMINATES}; {world}"
    yield report("C33.dominated", f"{title}: {OPERATORS['paper']}", best, worst=np.max, note=note)
    optimal = (known.share[:, list(OPERATORS).index("matched")] > 0.96).all(axis=0)
    title = "best lambda over the mean of |A x|^2 at the highest ratio at which the correlation explains more than 0.96"
    highest = int(optimal.argmax())
    penalties = known.penalty[:, RIDGES.index("matched"), highest]
    yield _least("C33.optimal", f"{title}: {OPERATORS['matched']}", penalties, note=f"{snrs[highest]:g} dB; {world}")


def draw(known: Known, config: Config) -> Figure:
    """Draw what correlations know of what can be known, and the best penalty, against signal to noise."""
    figure = new_figure(10, 4.8)
    left, right = figure.subplots(1, 2, sharex=True)
    for k, (name, label) in enumerate(LABELS.items()):
        _draw_curve(left, config.snrs, known.share[:, k], "o-", f"C{k}", label)
        if name in RIDGES:
            i = RIDGES.index(name)
            _draw_curve(left, config.snrs, known.ridge[:, i], "s--", f"C{k}", f"{label}, ridge regression")
            _draw_curve(right, config.snrs, known.penalty[:, i], "o-", f"C{k}", label)
    _draw_curve(left, config.snrs, known.bayes, ":", "black", "what can be known, of the motion's variance")
    left.set(ylabel="share of what can be known (posterior mean)", ylim=(0, 1.03))
    right.axhline(1, color="0.6", linewidth=1, zorder=0, label="as large as what it is added to")
    right.set(ylabel="best lambda / mean of |A x|^2", yscale="log")
    right.legend(fontsize=8, loc="upper right")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    to_change, back = (partial(np.add, shift) for shift in (change_snr(), -change_snr()))
    for axes in (left, right):
        axes.set_xlabel("signal-to-noise ratio of the intensity [dB]")
        upper = axes.secondary_xaxis("top", functions=(to_change, back))
        upper.set_xlabel("of the change from frame to frame [dB]")
    return figure


def _draw_curve(axes: Axes, snrs: Any, values: np.ndarray, style: str, colour: str, label: str) -> None:
    """Draw the mean of the seeds, shape (n_seeds, n_snrs), and a band from the least to the most."""
    axes.plot(snrs, values.mean(axis=0), style, color=colour, label=label, markersize=4)
    axes.fill_between(snrs, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.15, linewidth=0)

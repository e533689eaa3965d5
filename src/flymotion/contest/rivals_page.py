"""What the contest found, as a page: a table of all worlds, a table a world, and what synapses need to know."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from flymotion.contest.arenas import ARENAS
from flymotion.contest.learners import entry

if TYPE_CHECKING:
    from flymotion.contest.competing import Contest

__all__ = ["rivals_page"]

LEGEND = """\
Medians over seeds; in brackets the worst seed. `match`: the largest |cosine| of a filter with the analytic generator,
of the worst parameter of the motion; `span`: how much of that generator the filters hold together; `found`: ways to
move that are named right more often than half-way between chance and always; `accuracy`: new pairs named right, in
noise of sensors, too; `velocity`: correlation of a linear readout with the motion; `other`: accuracy on rows of
photographs; `pairs`: from how many on accuracy is 0.9, of those tried; `state`: bytes of what is learned, as it is
pickled, samples that are kept included.
Times [microseconds a pair] are of this run and this machine: they are compared in a column, and no two runs agree.
Outputs marked ± have a sign, and each of them counts as two, one for each of two opposite ways. Nulls are in italics.
"""


def rivals_page(contest: Contest) -> str:
    """Return the page, in Markdown."""
    config = contest.config
    nulls = sum(entry(name).null for name in config.learners)
    parts = [
        "# Rivals\n",
        f"`flymotion rivals`: {_counted(len(config.learners), 'learner')}, {nulls or 'none'} of them nulls, in "
        f"{_counted(len(config.worlds), 'world')}, {_counted(config.n_seeds, 'seed')}, up to "
        f"{max(config.n_pairs):,} pairs to learn from, {config.n_new:,} new ones. "
        "What is measured, and how to read it: docs/rivals.md.\n",
        "## New pairs whose motion is named right\n",
        _accuracies(contest),
        *(each for world in config.worlds for each in (f"## {world}\n", _of_world(contest, world))),
        LEGEND,
        "## What a synapse needs to know\n",
        _locality(contest),
    ]
    if failures := list(contest.failures()):
        parts += ["## What could not be done\n", "".join(f"- {w}, {who}: {why}\n" for w, who, why in failures)]
    return "\n".join(parts)


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _accuracies(contest: Contest) -> str:
    worlds = contest.config.worlds
    rows = [
        [_called(name), *(number(contest.median(world, name, "accuracy")) for world in worlds)]
        for name in contest.config.learners
    ]
    return _table(["learner", *worlds], rows)


def _of_world(contest: Contest, world: str) -> str:
    config = contest.config
    noisy = [f"{snr:g} dB" for snr in config.snrs]
    columns = ["learner", "match", "span", "found", "accuracy", *noisy, "velocity", "other", "pairs", "state"]
    rows = []
    for name in config.learners:
        needed = contest.pairs_needed(world, name)
        measured = (number(contest.median(world, name, key)) for key in ("match_least", "span_least"))
        in_noise = (number(contest.median(world, name, "accuracy", snr=snr)) for snr in config.snrs)
        found, state = contest.median(world, name, "found"), contest.median(world, name, "state_bytes")
        rows.append(
            [_called(name), *measured, _whole(found), _with_worst(contest.of(world, name, "accuracy")), *in_noise]
            + [number(contest.median(world, name, key)) for key in ("velocity", "accuracy_other")]
            + ["never" if needed is None else f"{needed:,}", _whole(state)]
            + [number(contest.median(world, name, key), 3) for key in ("learn_us", "answer_us")]
        )
    return f"{ARENAS[world].words}.\n\n" + _table([*columns, "to learn", "to answer"], rows)


def _locality(contest: Contest) -> str:
    of = {name: entry(name) for name in contest.config.learners}
    rows = [[_called(n), e.local, e.knows, e.feature or "pairs", e.source] for n, e in of.items()]
    return _table(["learner", "local", "what a synapse needs to know", "given", "source"], rows)


def _called(name: str) -> str:
    of = entry(name)
    return (f"*{name}*" if of.null else name) + (" ±" if of.signed else "")


def number(value: float, digits: int = 0) -> str:
    """Return a share in two digits, or another number in so many significant ones; a dash for none."""
    if math.isnan(value):
        return "-"
    return f"{value:.{digits}g}" if digits else f"{value:.2f}"


def _whole(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:,.0f}"


def _with_worst(values: np.ndarray) -> str:
    if not len(values) or np.isnan(values).any():
        return "-"
    return f"{np.median(values):.2f} ({values.min():.2f})"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)

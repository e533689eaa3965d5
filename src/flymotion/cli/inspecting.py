"""``flymotion inspect``: what a model file holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from flymotion.cli.common import figure, one_line_errors, say_json, table, width
from flymotion.cli.ending import note, say
from flymotion.cli.options import Renamed, json_option
from flymotion.cli.waiting import progress_bar
from flymotion.writing import check

if TYPE_CHECKING:
    import numpy as np

    from flymotion.circuits import T4T5Circuit
    from flymotion.generators import Generators
    from flymotion.learner import MotionLearner

__all__ = ["inspect"]

GLYPHS = "=-.+#"
"""Weights, from the most negative to the most positive."""

LONGEST = 200
"""Characters of text from a file."""

LARGEST = 16
"""Pixels along a side of filters that are shown in the terminal."""


class Shown(NamedTuple):
    """What is shown of a model's filters.

    Attributes
    ----------
    names : sequence of str
        One a filter.
    columns : dict of str to sequence
        Their figures, by title; a dash stands for None.
    images : ndarray, shape (n_filters, height, width), or None
        What of them a terminal can show.
    what : str
        What that is.
    generators : Generators or None
        All of them, to draw; as operators of an eye,
    matrices : ndarray, shape (n_matrices, n_rows, n_columns), or None
        or as plain matrices.
    """

    names: Sequence[str]
    columns: dict[str, Sequence[float | None]]
    images: np.ndarray | None = None
    what: str = ""
    generators: Generators | None = None
    matrices: np.ndarray | None = None


@click.command(short_help="Show what a model file holds, and how good it is.")
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "--png",
    cls=Renamed,
    old=["--out"],
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw the filters, or inputs.",
)
@json_option
def inspect(model: Path, png: Path | None, json: bool) -> None:
    """Show what MODEL, a file, holds: what it is, how it was trained, its filters and scores.

    MODEL is what "flymotion learn", "flymotion fly" or flymotion.save wrote, or flymotion 0.1. No code in it is run. In
    the terminal filters of a line are matrices (rows: the change at a pixel, columns: the intensity), those of a grid
    the weights of the intensities onto the change at its middle pixel.
    """
    from flymotion.keeping import look

    with one_line_errors():
        if png is not None:
            check(png, sources=[model])
        header, what = look(model)
        with progress_bar("looking"):  # at what the outputs answer to
            shown = _filters(what)
            found = _found(model, header, what, shown)
        if json:
            say_json(found)
        else:
            _tell_all(found, what, shown)
        if png is not None:
            _draw(what, shown, png, model)
            note(png)


def _found(model: Path, header: Any, what: Any, shown: Shown | None) -> dict[str, Any]:
    """Return what there is to be said of a model, figures and sentences."""
    from flymotion.learner import MotionLearner

    parameters = what.get_params(deep=False) if hasattr(what, "get_params") else {}
    found = {
        "file": str(model),
        "kind": header.kind,
        "version": _printable(header.version),
        "parameters": {name: _plain(value) for name, value in parameters.items()},
        "training": list(_trained(what)),
        "filters": [] if shown is None else _figures(shown),
    }
    if isinstance(what, MotionLearner) and _has_score(what):
        verdict = what.verdict_
        found |= {"accuracy": what.direction_accuracy_, "chance": 1 / what.n_components}
        found |= {"succeeded": verdict.ok, "verdict": str(verdict), "score": _scored(what)}
    return found


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str | None) else _brief(value)


def _figures(shown: Shown) -> list[dict[str, Any]]:
    """Return the figures of each filter, by their titles."""
    names = [_printable(name) for name in shown.names]
    return [{"name": name} | {title: v[k] for title, v in shown.columns.items()} for k, name in enumerate(names)]


def _tell_all(found: dict[str, Any], what: Any, shown: Shown | None) -> None:
    say(f"{found['file']}: {found['kind']}, written by flymotion {found['version']}")
    if hasattr(what, "get_params"):
        say(", ".join(f"{name} {_brief(value)}" for name, value in what.get_params(deep=False).items()))
    for line in found["training"]:
        say(line)
    if shown is not None:
        _tell(shown)
    if "score" in found:
        say(found["score"])
        if not found["succeeded"]:
            say(found["verdict"])


def _printable(text: str) -> str:
    """Return text from a file as a terminal may have it: not long, and of characters that do nothing."""
    return "".join(c if c.isprintable() else "?" for c in text[:LONGEST])


def _brief(value: Any) -> str:
    import numpy as np

    if isinstance(value, np.ndarray):
        return f"an array of {' x '.join(map(str, value.shape))}"
    return f"{value:.4g}" if isinstance(value, float) else _printable(str(value))


# -- how it was trained ----------------------------------------------------------------------------------------------


def _trained(what: Any) -> Iterator[str]:
    """Yield lines on what a model was learned from."""
    from flymotion.circuits import T4T5Circuit
    from flymotion.learner import MotionLearner
    from flymotion.similarity.online import OnlineNetwork

    if isinstance(what, MotionLearner):
        yield from _watched(what)
    elif isinstance(what, T4T5Circuit):
        yield from _of_circuit(what)
    elif hasattr(what, "n_samples_seen_"):
        shape = " x ".join(map(str, what.feature_shape_))
        waits = isinstance(what, OnlineNetwork) and not hasattr(what, "_state")
        yield f"learned from {what.n_samples_seen_:,} samples of {shape} features" + (
            "; its warm-up is not complete" if waits else ""
        )
        if isinstance(what, OnlineNetwork) and what.dead_units_.size:
            yield f"units that have never been active: {', '.join(map(str, what.dead_units_))}"
    elif hasattr(what, "eye"):
        yield f"on {_brief(what.eye)}" if not hasattr(what, "half_saturation") else f"of {what.n_features_in_} pixels"
    else:
        yield f"of {what.n_features_in_:,} {'features' if hasattr(what, 'feature_shape_') else 'pixels'}"


def _watched(learner: MotionLearner) -> Iterator[str]:
    state = learner.state_
    assert state is not None
    patch = " x ".join(map(str, state.vision.patch_shape))
    yield (
        f"{learner.n_frames_seen_:,} frames and {learner.n_pairs_seen_:,} pairs of frames seen; learned from "
        f"{learner.n_patches_seen_:,} pairs of patches of {patch} pixels, by the {state.feature} feature"
    )
    for video in learner.watched_:
        reduced = f", reduced by {video.scale}" if video.scale > 1 else ""
        yield (
            f"{_printable(video.name)}: {video.n_pairs:,} pairs of frames{reduced}; {video.share:.0%} "
            "of their patches learned from"
        )
    if not learner.__sklearn_is_fitted__():
        yield f"no detectors yet: {state.vision.so_far}"


def _of_circuit(circuit: T4T5Circuit) -> Iterator[str]:
    there, (t4, t5) = circuit.patches_.there, circuit.named_.mean(axis=0)
    yield (
        f"{len(there):,} columns, {there.all(axis=1).sum():,} of them with all columns about them; learned from "
        f"{circuit.n_frames_seen_:,} frames"
    )
    yield f"T4 of {t4:.0%} of the columns, and T5 of {t5:.0%}, prefer four different directions"


def _has_score(learner: MotionLearner) -> bool:
    """Say whether it is known how well motions are told apart; of a single detector, chance is always right."""
    state = learner.state_
    return state is not None and state.is_ready and state.tells_motions and learner.n_components > 1


def _scored(learner: MotionLearner) -> str:
    translations = learner.state_ is not None and learner.state_.tells_directions
    held_out = any(video.n_held_out for video in learner.watched_)
    return (
        f"{'direction' if translations else 'motion'} right on {learner.direction_accuracy_:.1%} of single "
        f"{'held-out ' if held_out else ''}patches at known {'shifts' if translations else 'motions'} "
        f"(chance {1 / learner.n_components:.0%})"
    )


# -- its filters -----------------------------------------------------------------------------------------------------


def _filters(what: Any) -> Shown | None:
    """Return what is to be shown of a model's filters; None where it has none."""
    from flymotion.generators import Generators, Operators
    from flymotion.learner import MotionLearner

    if isinstance(what, MotionLearner):
        return _of_learner(what) if what.__sklearn_is_fitted__() else None
    if isinstance(what, Operators):
        return _of_generators(Generators(what.operators, what.eye), "operator")
    if isinstance(what, Generators):
        return _of_generators(what, "filter")
    if hasattr(what, "feature_shape_"):
        return _of_network(what)
    if hasattr(what, "matrix_"):
        return Shown(["whitening"], {}, what.matrix_[None], "weights", matrices=what.matrix_[None])
    return None


def _of_learner(learner: MotionLearner) -> Shown:
    found = _of_generators(learner.generators_, "detector")
    columns: dict[str, Sequence[float | None]] = dict(found.columns)
    state = learner.state_
    assert state is not None
    if not state.tells_motions:
        return found
    if state.tells_directions:
        del columns["direction [deg]"]  # by its shape
        columns = {"direction, measured [deg]": learner.directions_.tolist()} | columns
        gain = "gain [1/(px/frame)]"
    else:
        columns = {name: values for name, values in columns.items() if "share" in name}
        gain = "gain"
    return found._replace(names=learner.labels_, columns=columns | {gain: learner.gain_.tolist()})


def _of_generators(generators: Generators, name: str) -> Shown:
    import numpy as np

    from flymotion.generators import cosine, derivative_operator

    columns: dict[str, Sequence[float | None]] = {"antisymmetric share": generators.antisymmetric_share().tolist()}
    ndim = generators.eye.positions.shape[1]
    if ndim < 3:
        directions = generators.directions()
        analytic = np.stack([derivative_operator(generators.eye, angle) for angle in directions])
        alike = cosine(generators.operators, analytic)
        columns = {"direction [deg]": directions.tolist()} | columns | {"cos with derivative": alike.tolist()}
    grid = len(generators.shape) == 2
    images = generators.rows() if grid else generators.operators if ndim == 1 else None
    what = "weights onto the change at the middle pixel" if grid else "weights: change by intensity"
    return Shown([f"{name} {k + 1}" for k in range(len(generators))], columns, images, what, generators)


def _of_network(what: Any) -> Shown:
    """Return filters of a network or one of its rivals, and what share of the samples' energy, or number, is whose."""
    import numpy as np

    filters = what.cluster_centers_ if hasattr(what, "cluster_centers_") else what.components_
    columns: dict[str, Sequence[float | None]] = {"norm": np.linalg.norm(filters, axis=1).tolist()}
    if hasattr(what, "R_"):
        columns["share of output"] = (np.diag(what.R_) / max(np.trace(what.R_), 1e-300)).tolist()
    elif hasattr(what, "labels_"):
        columns["samples"] = np.bincount(what.labels_, minlength=len(filters)).tolist()
    elif hasattr(what, "explained_energy_ratio_"):
        columns["explained energy"] = what.explained_energy_ratio_.tolist()
    matrices = filters.reshape(-1, *what.feature_shape_) if len(what.feature_shape_) == 2 else filters[:, None]
    return Shown([f"unit {k + 1}" for k in range(len(filters))], columns, matrices, "weights", matrices=matrices)


def _tell(shown: Shown) -> None:
    """Print figures and images of filters."""
    shown = shown._replace(names=[_printable(name) for name in shown.names])
    if shown.columns:
        titles = [("", "left"), *((title, "right") for title in shown.columns)]
        cells = zip(*([figure(value) for value in values] for values in shown.columns.values()), strict=True)
        table(titles, [[name, *row] for name, row in zip(shown.names, cells, strict=True)])
    if shown.images is None or max(shown.images.shape[1:]) > LARGEST:
        say("the filters are larger than a terminal; --png draws them")
        return
    say(f"{shown.what}, from {GLYPHS[0]} by way of {GLYPHS[2]} to {GLYPHS[-1]}:")
    for line in _side_by_side(shown.names, shown.images):
        say(line)


def _side_by_side(names: Sequence[str], images: np.ndarray) -> Iterator[str]:
    import numpy as np

    limit = max(float(np.abs(images).max(initial=0)), 1e-300)
    levels = np.rint(2 * images / limit).astype(int) + 2
    wide = max(2 * images.shape[2], max(map(len, names))) + 2
    n = max(1, width() // wide)
    for first in range(0, len(names), n):
        some = range(first, min(first + n, len(names)))
        yield "".join(names[k].ljust(wide) for k in some).rstrip()
        for i in range(images.shape[1]):
            yield "".join(" ".join(GLYPHS[level] for level in levels[k, i]).ljust(wide) for k in some).rstrip()


def _draw(what: Any, shown: Shown | None, out: Path, model: Path) -> None:
    from flymotion import plots
    from flymotion.circuits import T4T5Circuit
    from flymotion.flying.portraits import draw_inputs
    from flymotion.plots.canvas import save_figure

    if isinstance(what, T4T5Circuit):
        drawn = draw_inputs(what)
    elif shown is None or (shown.generators is None and shown.matrices is None):
        raise ValueError(f"{model}: has no filters to draw")
    elif shown.generators is not None:
        drawn = plots.filter_sheet(shown.generators, shown.names)
    else:
        drawn = plots.draw_filters(shown.matrices, shown.names)
    save_figure(drawn, out)

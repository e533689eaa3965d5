r"""Learned detectors as an ONNX graph, for programs that are not in Python: two frames in, a field of responses out.

The graph computes what ``MotionField(detectors, exact=True, outputs=("directions", "opponent"))`` does, of frames of
any height and width: with :math:`\Delta x` the change of a patch and :math:`\bar x` its mean over both frames,

.. math:: y_k = \Delta x' A_k \bar x = \sum_i \Delta x_i (A_k \bar x)_i

at every pixel. As in :mod:`flymotion.field.forms` the sum is one over separable cosine modes of the patch, in which
operators that undo a whitening do not cancel as much as in pixels: one convolution along each axis makes the modes of
:math:`\Delta x` and of :math:`\bar x`, a matrix product at every pixel what :math:`A_k` makes of the latter, and the
rest is a sum of products. A number near the mean luminance is taken off both frames first, as single precision is
coarse; its part of the lowest mode is put back.
"""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from flymotion.generators import Generators
from flymotion.generators.patch_modes import cosine_modes
from flymotion.keeping.saving import ModelError, load
from flymotion.learner import MotionLearner
from flymotion.video.viewing import blur
from flymotion.writing import WriteError, whole

__all__ = ["export_onnx"]

OPSET, IR = 18, 8
"""Of the graph, both of 2022: runtimes since then read it."""


def export_onnx(
    model: MotionLearner | str | os.PathLike[str], path: str | os.PathLike[str], *, view: bool = True
) -> Path:
    """Write the detectors of a model as an ONNX graph: two frames in, the responses at every pixel out.

    Its inputs are ``before`` and ``after``, shape (height, width), float32, luminance of any height and width from a
    patch on. Its outputs are ``directions``, shape (n_directions, height, width), rectified responses, and
    ``opponent``, shape (2, height, width), signed ones along (x right, y down): those of
    ``MotionField(model.generators_, exact=True)`` to rounding, 0 where the patch is not all inside the frame. Its
    metadata tell the rest, lists as JSON: ``angles_deg`` and ``directions_deg``, the preferred directions by the
    detectors' shape and as measured, 0 = right, 90 = up; ``labels``; ``patch_pixels``; ``reduced_by``; ``units``; and
    ``flymotion_version``.

    Parameters
    ----------
    model : MotionLearner or path
        Fitted, of square patches. Detectors that have never answered are left out, as in :func:`flymotion.detect`.
    path : path
        Where to. Its folder is made.
    view : bool
        Whether the graph looks at frames as the learner did: of a model of video it reduces and blurs them first, and
        its outputs have the size of reduced frames. Otherwise it expects frames that are looked at so already.

    Returns
    -------
    Path
        The same path.

    Raises
    ------
    ModelError
        A file that holds no fitted MotionLearner of square patches; a path that cannot be written to.
    ValueError
        The package onnx is not installed.

    Notes
    -----
    Velocity is not exported: its search from coarse scales to fine ones, over windows that agree, is no graph of few
    operators.

    Examples
    --------
    >>> import tempfile
    >>> from flymotion import Grid, SmoothNoise, Translation, sample_pairs
    >>> scene = SmoothNoise(2.0, ndim=2, period=64.0, random_state=0)
    >>> pairs = sample_pairs(scene, Grid(3, 3, sigma=0.6), Translation(0.3), 3_000, random_state=0)
    >>> learner = MotionLearner(4, patch=3, warm_up=1_000).fit(pairs)
    >>> path = export_onnx(learner, Path(tempfile.mkdtemp()) / "four.onnx")
    >>> import onnx
    >>> [output.name for output in onnx.load(path).graph.output]
    ['directions', 'opponent']
    """
    if find_spec("onnx") is None:
        raise ValueError("the package onnx is not installed; pip install onnx")
    learner = model if isinstance(model, MotionLearner) else load(model, kind=MotionLearner)
    name, path = "the model" if learner is model else str(model), Path(path)
    if not learner.__sklearn_is_fitted__():
        raise ModelError(f"{name}: has not seen enough to have detectors")
    answering = learner.generators_.answering
    detectors = learner.generators_[answering].in_pixels()
    if len(detectors.shape) != 2 or detectors.shape[0] != detectors.shape[1]:
        raise ModelError(f"{name}: has detectors of {detectors.eye}; expected square patches of frames")
    about = {
        "flymotion_version": _version(),
        "patch_pixels": detectors.shape[0],
        "reduced_by": (learner.scale_ or 1) if view else 1,
        "angles_deg": np.nan_to_num(detectors.directions()).round(3).tolist(),
        "directions_deg": [d if np.isfinite(d) else None for d in learner.directions_[answering].round(3).tolist()],
        "labels": [learner.labels_[k] for k in answering],
        "units": "responses: squared units of the frames' luminance; directions: deg, 0 = right, 90 = up",
    }
    written = _model(detectors, learner.scale_ if view else None, about).SerializeToString(deterministic=True)
    try:
        with whole(path, sources=[model]) as place:
            place.write_bytes(written)
    except WriteError as error:
        raise ModelError(str(error)) from error
    return path


def _version() -> str:
    from flymotion import __version__

    return __version__


def _model(detectors: Generators, scale: int | None, about: dict[str, Any]) -> Any:
    from onnx import TensorProto, checker, helper

    graph = _Graph()
    given = [graph("Unsqueeze", name, graph.whole([0, 1])) for name in ("before", "after")]
    level = graph("Round", graph("ReduceMean", given[0], graph.whole([2, 3])))  # exact to take off whole grey levels
    before, after = (graph("Sub", frame, level) for frame in given)
    if scale is not None:
        before, after = (_seen(graph, frame, scale) for frame in (before, after))
    directions, opponent = _responses(graph, before, after, level, detectors)
    graph("Squeeze", directions, graph.whole([0]), to="directions")
    graph("Squeeze", opponent, graph.whole([0]), to="opponent")
    size = ["height", "width"]
    seen = size if scale is None else ["reduced_height", "reduced_width"]
    tell = helper.make_tensor_value_info
    inputs = [tell(name, TensorProto.FLOAT, size) for name in ("before", "after")]
    outputs = [tell("directions", TensorProto.FLOAT, [len(detectors), *seen])]
    outputs += [tell("opponent", TensorProto.FLOAT, [2, *seen])]
    made = helper.make_model(
        helper.make_graph(graph.nodes, "motion", inputs, outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR,
        producer_name="flymotion",
        producer_version=about["flymotion_version"],
        doc_string="Responses of learned motion detectors at every pixel of a pair of frames.",
    )
    helper.set_model_props(
        made, {key: each if isinstance(each, str) else json.dumps(each) for key, each in about.items()}
    )
    checker.check_model(made, full_check=True)
    return made


class _Graph:
    """Nodes and constants of a graph, as they are added: a call adds a node, and returns its output's name."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def __call__(self, operator: str, *inputs: str, to: str | None = None, **attributes: Any) -> str:
        from onnx import helper

        name = to or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def weights(self, values: Any) -> str:
        """Add numbers, float32."""
        return self._constant(np.ascontiguousarray(values, np.float32))

    def whole(self, values: Any) -> str:
        """Add whole numbers."""
        return self._constant(np.array(values, np.int64))

    def _constant(self, values: np.ndarray) -> str:
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(values, name))
        return name


def _responses(graph: _Graph, before: str, after: str, level: str, detectors: Generators) -> tuple[str, str]:
    """Add what makes responses of frames, shape (1, 1, height, width) each, that a level was taken off."""
    size, angles = detectors.shape[0], np.radians(np.nan_to_num(detectors.directions()))
    basis, both = cosine_modes(size)
    changes = _modes(graph, graph("Sub", after, before), basis)
    means = _modes(graph, graph("Mul", graph("Add", before, after), graph.weights(0.5)), basis)
    each, rests = [], []
    for operator in both @ detectors.operators @ both.T:
        rows = graph("Conv", means, graph.weights(operator[:, :, None, None]))
        each.append(graph("ReduceSum", graph("Mul", changes, rows), graph.whole([1])))  # Eq. 10
        rests.append(size * operator[:, 0])  # of a patch of ones, whose lowest mode is its side
    rest = graph("Conv", changes, graph.weights(np.array(rests)[:, :, None, None]))
    responses = graph("Add", graph("Concat", *each, axis=1), graph("Mul", level, rest))
    axes = np.stack([np.cos(angles), -np.sin(angles)])
    opponent = graph("Conv", responses, graph.weights(axes[:, :, None, None]))
    first, last = size // 2, size - 1 - size // 2
    border = graph.whole([0, 0, first, first, 0, 0, last, last])
    return graph("Pad", graph("Relu", responses), border), graph("Pad", opponent, border)


def _modes(graph: _Graph, frame: str, basis: np.ndarray) -> str:
    """Add what makes the cosine modes of all patches of a frame, those down a patch first, shape (1, P, ., .)."""
    size = len(basis)
    down = graph("Conv", frame, graph.weights(basis[:, None, :, None]))
    return graph("Conv", down, graph.weights(np.tile(basis[:, None, None, :], (size, 1, 1, 1))), group=size)


def _seen(graph: _Graph, frame: str, scale: int) -> str:
    """Add what reduces and blurs a frame, as :func:`flymotion.video.viewing.view` does."""
    if scale > 1:
        frame = graph("AveragePool", frame, kernel_shape=[scale, scale], strides=[scale, scale])
    weights = blur()
    reach = len(weights) // 2
    for axis in (2, 3):
        least = np.iinfo(np.int64).min
        parts = [
            graph("Slice", frame, *map(graph.whole, ([start], [end], [axis], [-1])))
            for start, end in ((reach - 1, least), (-1, -reach - 1))
        ]
        frame = graph("Concat", parts[0], frame, parts[1], axis=axis)  # the border pixel twice, as scipy's "reflect"
        frame = graph("Conv", frame, graph.weights(weights.reshape(1, 1, *((-1, 1) if axis == 2 else (1, -1)))))
    return frame

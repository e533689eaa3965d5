"""Saving and loading a learner: one file of plain arrays and a JSON header, no code.

The file is a numpy ``.npz`` archive, whatever its name. It holds everything that learning goes on from, so that
``fit(a); save; load; partial_fit(b)`` equals ``fit(a); partial_fit(b)`` to the bit.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from flymotion.frames import FramePairs
from flymotion.learner.estimator import MotionLearner
from flymotion.photoreceptors import ContrastNormalization, ZCAWhitening
from flymotion.similarity.features import OuterProducts
from flymotion.similarity.state import State
from flymotion.similarity.vectors import to_numpy

__all__ = ["FORMAT", "ModelError", "load", "save"]

FORMAT = 1
"""Version of the file format."""


class ModelError(ValueError):
    """A model file that cannot be read or written; names the file and the reason."""


def save(learner: MotionLearner, path: str | os.PathLike[str]) -> Path:
    """Write a learner to exactly this path, in one step: a file that was there stays whole until the new one is.

    Parameters
    ----------
    learner : MotionLearner
        Fitted, or amid a stream.
    path : path
        Where to.

    Raises
    ------
    ModelError
        A learner that has seen nothing, parameters that JSON cannot hold, or a path that cannot be written to.
    """
    path = Path(path)
    if not hasattr(learner, "n_pairs_seen_"):
        raise ModelError(f"{path}: the learner has seen no frames; fit it before saving")
    header, arrays = _pack(learner)
    try:
        text = json.dumps(header, default=_plain)
    except TypeError as error:
        raise ModelError(f"{path}: parameters must be numbers, text or None ({error})") from error
    arrays["header"] = np.frombuffer(text.encode(), dtype=np.uint8)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(unfinished, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        os.replace(unfinished, path)
    except OSError as error:
        raise ModelError(f"{path}: cannot be written ({error.strerror})") from error
    finally:
        if unfinished.exists():
            unfinished.unlink()
    return path


def _plain(number: Any) -> Any:
    if isinstance(number, np.generic):
        return number.item()
    raise TypeError(f"not {type(number).__name__}")


def load(path: str | os.PathLike[str]) -> MotionLearner:
    """Read a learner from a file that :func:`save` wrote.

    Raises
    ------
    ModelError
        A file that is missing, truncated, not a model, or of a newer format.
    """
    path = Path(path)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays["header"].tobytes())
        found = header["format"]
        if found == FORMAT:
            return _unpack(header, arrays)
    except FileNotFoundError:
        raise ModelError(f"{path}: no such file") from None
    except Exception as error:  # damage makes zipfile and numpy raise anything: BadZipFile, EOFError, ValueError, ...
        raise ModelError(f"{path}: not a flymotion model, or a truncated one ({type(error).__name__})") from error
    raise ModelError(f"{path}: format {found!r}; this flymotion reads format {FORMAT}")


def _pack(learner: MotionLearner) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    from flymotion import __version__

    network = learner.network_
    state = getattr(network, "_state", None)
    params = learner.get_params()
    if not isinstance(params["random_state"], int | np.integer | None):
        params["random_state"] = None  # seed_ holds what was drawn from it
    header = {
        "format": FORMAT,
        "flymotion": __version__,
        "params": params,
        "counts": [learner.n_pairs_seen_, learner.n_frames_seen_, learner.seed_],
        "names": learner._names,
        "scale": learner.scale_,
        "pixels": list(getattr(learner, "pixels_", ())),
        "dtype": None if state is None else str(np.dtype(state.dtype)),
        "n_samples_seen": 0 if state is None else state.n_samples_seen,
    }
    arrays: dict[str, np.ndarray] = {"kept": np.array(learner._kept)}
    if learner._last is not None:
        arrays["last"] = learner._last
    if learner._known is not None:
        arrays |= _pack_pairs("known", learner._known)
    if learner._waiting:
        arrays |= _pack_pairs("waiting", FramePairs.concatenate(learner._waiting))
    if hasattr(learner, "whitening_"):
        arrays |= {"mean": learner.whitening_.mean_, "matrix": learner.whitening_.matrix_}
        arrays["contrast"] = np.array(learner.contrast_.contrast_)
    if state is not None:
        arrays |= {"S": to_numpy(state.S), "R": state.R}
    elif getattr(network, "_waiting", []):
        chi = OuterProducts.concatenate(network._waiting)
        arrays |= {"u": chi.u, "v": chi.v}
    return header, arrays


def _pack_pairs(name: str, pairs: FramePairs) -> dict[str, np.ndarray]:
    packed = {f"{name}_before": pairs.before, f"{name}_after": pairs.after}
    return packed if pairs.motion is None else packed | {f"{name}_motion": pairs.motion}


def _unpack_pairs(name: str, arrays: dict[str, np.ndarray]) -> FramePairs | None:
    if f"{name}_before" not in arrays:
        return None
    return FramePairs(arrays[f"{name}_before"], arrays[f"{name}_after"], arrays.get(f"{name}_motion"))


def _unpack(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> MotionLearner:
    learner = MotionLearner(**header["params"])
    learner._reset()
    learner.n_pairs_seen_, learner.n_frames_seen_, learner.seed_ = header["counts"]
    learner.scale_ = header.get("scale")
    if header["pixels"]:
        learner.pixels_ = tuple(header["pixels"])
    learner._kept = list(arrays["kept"])
    learner._last = arrays.get("last")
    learner._known = _unpack_pairs("known", arrays)
    if learner._known is not None and header.get("names"):
        learner._known = replace(learner._known, names=tuple(map(tuple, header["names"])))
    waiting = _unpack_pairs("waiting", arrays)
    learner._waiting = [] if waiting is None else [waiting]
    if "matrix" in arrays:
        learner.whitening_ = ZCAWhitening(learner.regularization)
        learner.whitening_.mean_, learner.whitening_.matrix_ = arrays["mean"], arrays["matrix"]
        learner.contrast_ = ContrastNormalization(learner.half_saturation)
        learner.contrast_.contrast_ = float(arrays["contrast"])
        learner.whitening_.n_features_in_ = learner.contrast_.n_features_in_ = len(arrays["mean"])
        learner._prepare_network(len(arrays["mean"]))
    _unpack_network(learner.network_, header, arrays)
    return learner


def _unpack_network(network: Any, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    if "S" in arrays:
        S = arrays["S"]
        network._state = State(S, arrays["R"], array_namespace(S), np.dtype(header["dtype"]))
        network._state.n_samples_seen = header["n_samples_seen"]
        shape = S.shape[1:]
    elif "u" in arrays:
        chi = OuterProducts(arrays["u"], arrays["v"])
        network._waiting = [chi]
        shape = chi.feature_shape
    else:
        return
    network.feature_shape_ = tuple(int(s) for s in shape)
    network.n_features_in_ = int(np.prod(shape))

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

from flymotion.frames import FramePairs
from flymotion.learner.corpus import PatchStream, Pool, Survey
from flymotion.learner.estimator import MotionLearner
from flymotion.learner.intake import Pairing
from flymotion.learner.learned_state import LearnedState
from flymotion.learner.plain_vision import PlainVision
from flymotion.learner.starting import follow
from flymotion.learner.video_vision import Part, VideoVision
from flymotion.photoreceptors import ContrastNormalization, ZCAWhitening
from flymotion.similarity.networks import NonnegativeSimilarityMatching
from flymotion.similarity.online import pack, unpack

__all__ = ["FORMAT", "ModelError", "load", "save"]

FORMAT = 1
"""Version of the file format."""


Numbers = dict[str, Any]
Arrays = dict[str, np.ndarray]


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
    state = learner.state_
    if state is None:
        raise ModelError(f"{path}: the learner has seen no frames; fit it before saving")
    follow(learner, state)
    header, arrays = _pack(learner, state)
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


def _pack(learner: MotionLearner, state: LearnedState) -> tuple[Numbers, Arrays]:
    from flymotion import __version__

    params = learner.get_params()
    if not isinstance(params["random_state"], int | np.integer | None):
        params["random_state"] = None  # the seeds hold what was drawn from it
    vision = state.vision
    of_vision, arrays = _pack_plain(vision) if isinstance(vision, PlainVision) else _pack_video(vision)
    numbers, of_network = pack(state.network)
    header = {
        "format": FORMAT,
        "flymotion": __version__,
        "params": params,
        "counts": [state.seen.n_pairs, vision.n_frames, state.seed],
        "n_patches": state.n_patches,
        "feature": state.feature,
        "warm_up": state.warm_up,
        "scale": vision.scale,
        "pixels": list(vision.pixels or ()),
        **of_vision,
        **numbers,
    }
    if vision.whitening is not None and vision.contrast is not None:
        arrays |= {"mean": vision.whitening.mean_, "matrix": vision.whitening.matrix_}
        arrays["contrast"] = np.array(vision.contrast.contrast_)
    return header, arrays | of_network


def _unpack(header: Numbers, arrays: Arrays) -> MotionLearner:
    params = {"vision": "plain" if header.get("scale") is None else "video"} | header["params"]
    seed = header["counts"][2]
    of_vision = header.get("vision", params | {"seed": seed})  # the first files had the parameters alone
    vision = (_unpack_plain if params["vision"] == "plain" else _unpack_video)(of_vision, header, arrays)
    network = NonnegativeSimilarityMatching(params["n_components"], forgetting=params["forgetting"])
    feature, warm_up = header.get("feature", params["feature"]), header.get("warm_up", params["warm_up"])
    state = LearnedState(vision, network, feature, warm_up, seed, vision.seen, header.get("n_patches", 0))
    if "matrix" in arrays:
        state.prepare(len(arrays["matrix"]))
    unpack(network, header, arrays)
    return MotionLearner.from_state(params, state)


# -- plain vision ----------------------------------------------------------------------------------------------------

PLAIN = ("patch", "patches_per_pair", "warm_up", "regularization", "half_saturation", "seed")


def _pack_plain(vision: PlainVision) -> tuple[Numbers, Arrays]:
    arrays: Arrays = {"kept": np.array(vision.kept)}
    if vision.pairing.last is not None:
        arrays["last"] = vision.pairing.last
    if vision.known is not None:
        arrays |= _pack_pairs("known", vision.known)
    if vision.waiting:
        arrays |= _pack_pairs("waiting", FramePairs.concatenate(vision.waiting))
    names = None if vision.known is None else vision.known.names
    return {"names": names, "vision": {name: getattr(vision, name) for name in PLAIN}}, arrays


def _unpack_plain(of_vision: Numbers, header: Numbers, arrays: Arrays) -> PlainVision:
    known, waiting = _unpack_pairs("known", arrays), _unpack_pairs("waiting", arrays)
    if known is not None and header["names"]:
        known = replace(known, names=tuple(map(tuple, header["names"])))
    return PlainVision(
        **{name: of_vision[name] for name in PLAIN},
        n_frames=header["counts"][1],
        n_pairs=header["counts"][0],
        pixels=tuple(header["pixels"]) or None,
        pairing=Pairing(last=arrays.get("last")),
        waiting=[] if waiting is None else [waiting],
        kept=list(arrays["kept"]),
        known=known,
        **_fitted(of_vision, arrays),
    )


def _fitted(of_vision: Numbers, arrays: Arrays) -> Numbers:
    """Return the whitening and contrast normalisation, if they were fitted."""
    if "matrix" not in arrays:
        return {}
    whitening = ZCAWhitening(of_vision["regularization"])
    contrast = ContrastNormalization(of_vision["half_saturation"])
    whitening.mean_, whitening.matrix_ = arrays["mean"], arrays["matrix"]
    contrast.contrast_ = float(arrays["contrast"])
    whitening.n_features_in_ = contrast.n_features_in_ = len(arrays["mean"])
    return {"whitening": whitening, "contrast": contrast}


def _pack_pairs(name: str, pairs: FramePairs) -> Arrays:
    packed = {f"{name}_before": pairs.before, f"{name}_after": pairs.after}
    return packed if pairs.motion is None else packed | {f"{name}_motion": pairs.motion}


def _unpack_pairs(name: str, arrays: Arrays) -> FramePairs | None:
    if f"{name}_before" not in arrays:
        return None
    return FramePairs(arrays[f"{name}_before"], arrays[f"{name}_after"], arrays.get(f"{name}_motion"))


# -- vision of video -------------------------------------------------------------------------------------------------

VIDEO = ("patch", "patches_per_pair", "seed", "is_cut")
STREAM = ("n_candidates", "seed", "name", "n_pairs_seen", "n_candidates_seen", "n_chosen")


def _pack_video(vision: VideoVision) -> tuple[Numbers, Arrays]:
    arrays = {f"beginning{i}": part.frames for i, part in enumerate(vision.beginning)}
    streams = []
    for i, stream in enumerate(vision.streams):
        streams.append({name: getattr(stream, name) for name in STREAM} | {"scale": stream.survey.scale})
        arrays |= {f"looked{i}": stream.survey.last, f"contrast{i}": np.array(stream.survey.contrast)}
        arrays[f"held_out{i}"] = np.array(stream.held_out)
        if stream.pairing.last is not None:
            arrays[f"last{i}"] = stream.pairing.last
    if vision.pool is not None and vision.pool.gathered:
        arrays |= _pack_pairs("gathered", FramePairs.concatenate(vision.pool.gathered))
    header = {
        "vision": {name: getattr(vision, name) for name in VIDEO},
        "cuts": [part.cut for part in vision.beginning],
        "streams": streams,
        "n_shown": 0 if vision.pool is None else vision.pool.n_shown,
    }
    return header, arrays


def _unpack_video(of_vision: Numbers, header: Numbers, arrays: Arrays) -> VideoVision:
    vision = VideoVision(
        **{name: of_vision.get(name, True) for name in VIDEO},
        n_frames=header["counts"][1],
        pixels=tuple(header["pixels"]) or None,
        beginning=[Part(arrays[f"beginning{i}"], cut) for i, cut in enumerate(header.get("cuts", []))],
    )
    if "streams" not in header:
        return _unpack_video_of_first_files(vision, header, arrays)
    if header["streams"]:
        gathered, Z = _unpack_pairs("gathered", arrays), arrays["matrix"]
        pool = Pool(Z, vision.seed, [] if gathered is None else [gathered], header["n_shown"])
        streams = [_unpack_stream(vision.patch, i, numbers, arrays) for i, numbers in enumerate(header["streams"])]
        vision.start(streams, pool)
    return vision


def _unpack_stream(patch: int, i: int, numbers: Numbers, arrays: Arrays) -> PatchStream:
    survey = Survey(patch, numbers["scale"], float(arrays[f"contrast{i}"]), arrays[f"looked{i}"])
    pairing, held_out = Pairing(last=arrays.get(f"last{i}")), list(arrays[f"held_out{i}"])
    of_stream = {name: numbers[name] for name in STREAM}
    return PatchStream(survey, arrays["matrix"], **of_stream, pairing=pairing, held_out=held_out)


def _unpack_video_of_first_files(vision: VideoVision, header: Numbers, arrays: Arrays) -> VideoVision:
    """Return what the first files held of a video: enough for answers, not to go on, so without a least contrast."""
    kept, Z = list(arrays["kept"]), arrays["matrix"]
    survey = Survey(vision.patch, header["scale"], np.nan, kept[-1])
    stream = PatchStream(survey, Z, n_pairs_seen=header["counts"][0], held_out=kept[::-1])
    vision.start([stream], Pool(Z, n_shown=header["n_samples_seen"]))
    return vision

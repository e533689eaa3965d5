"""Models of flymotion 0.1, format 1: what its ``.npz`` files hold, put as the classes pack it now.

The first of these files had the parameters alone where later ones say how the learner saw. Of video they hold what
answers need, but not what learning goes on from: their least contrast is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from flymotion.models.packing import brief
from flymotion.models.strict_json import MOST_TEXT, parsed
from flymotion.models.tensor_file import AnotherFormat, Header
from flymotion.similarity.initialisation import warm_up_length

__all__ = ["first_format"]

FIRST = 1

Arrays = dict[str, Any]

PLAIN = ("patch", "patches_per_pair", "warm_up", "regularization", "half_saturation", "seed")
STREAM = ("n_candidates", "seed", "name", "n_pairs_seen", "n_candidates_seen", "n_chosen")


def first_format(arrays: Mapping[str, Any]) -> tuple[Header, Arrays]:
    """Return what a file of format 1 says of a learner, and its arrays, by the names of today.

    Parameters
    ----------
    arrays : mapping of str to array
        Those of the file, the header among them; of types and shapes that are known before they are read.

    Raises
    ------
    ValueError
        A file of another format, or of none.
    """
    old = dict(arrays)
    try:
        text = old.pop("header")
        if str(text.dtype) != "uint8" or len(text.shape) != 1 or text.shape[0] > MOST_TEXT:
            raise ValueError("no header")
        header = parsed(np.asarray(text).tobytes())
        if type(header["format"]) is not int or header["format"] != FIRST:
            raise AnotherFormat(f"format {brief(header['format'])}")
        numbers, found = _learner(header, old)
    except (LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"a header that is none of a model, {type(error).__name__}") from error
    if old:
        raise ValueError(f"unknown arrays {ascii(sorted(old))[:80]}")
    return Header("MotionLearner", header["flymotion"], numbers), found


def _learner(header: dict[str, Any], old: Arrays) -> tuple[dict[str, Any], Arrays]:
    params = {"vision": "plain" if header.get("scale") is None else "video"} | header["params"]
    n_pairs, n_frames, seed = header["counts"]
    of_vision = {"n_frames": n_frames, "pixels": header["pixels"]}
    plain = params["vision"] == "plain"
    # the first files had the parameters alone
    seen_through = header.get("vision", params | {"seed": seed, "is_cut": True})
    make = _plain if plain else _video
    n_pixels = None if "matrix" not in old else old["matrix"].shape[0]
    numbers, arrays = make(header, old, of_vision, {"is_cut": True} | seen_through, n_pairs)
    feature, warm_up = header.get("feature", params["feature"]), header.get("warm_up", params["warm_up"])
    network, learned = _network(header, old, params, _warm_up(n_pixels, warm_up))
    state = {"feature": feature, "warm_up": warm_up, "seed": seed, "n_patches": header.get("n_patches", 0)}
    state |= {"vision": numbers, "network": network}
    arrays = {f"state.vision.{name}": array for name, array in arrays.items()}
    arrays |= {f"state.network.{name}": array for name, array in learned.items()}
    return {"parameters": params, "state": state}, arrays


def _warm_up(n_pixels: int | None, warm_up: int) -> int | None:
    """Return what the network starts from, as :meth:`LearnedState.prepare` says; it was not kept."""
    return None if n_pixels is None else max(warm_up_length(n_pixels**2, 2 * n_pixels), min(4 * n_pixels, warm_up))


def _plain(header: Any, old: Arrays, numbers: Any, seen_through: Any, n_pairs: int) -> tuple[dict[str, Any], Arrays]:
    numbers |= {name: seen_through[name] for name in PLAIN} | {"n_pairs": n_pairs, "pairing": {}, "eye": None}
    arrays = {"kept": old.pop("kept")}
    if 0 in arrays["kept"].shape:
        arrays.pop("kept")
    arrays |= {"pairing.last": old.pop("last")} if "last" in old else {}
    for name in ("known", "waiting"):
        numbers[name] = None
        if f"{name}_before" in old:
            numbers[name] = {"names": header["names"] if name == "known" else None}
            arrays |= _pairs(name, old)
    numbers["whitening"] = numbers["contrast"] = None
    if "matrix" in old:
        n = {"n_features_in": old["matrix"].shape[0], "feature_names_in": None}
        numbers["whitening"] = {"regularization": seen_through["regularization"]} | n
        contrast = _number(old.pop("contrast"))
        numbers["contrast"] = {"half_saturation": seen_through["half_saturation"], "contrast": contrast} | n
        arrays |= {"whitening.mean": old.pop("mean"), "whitening.matrix": old.pop("matrix")}
    return numbers, arrays


def _pairs(name: str, old: Arrays) -> Arrays:
    parts = ("before", "after", *(["motion"] if f"{name}_motion" in old else []))
    return {f"{name}.{part}": old.pop(f"{name}_{part}") for part in parts}


def _number(array: Any) -> float:
    if array.shape != ():
        raise ValueError(f"a number of shape {array.shape}")
    return float(np.asarray(array))


def _network(header: Any, old: Arrays, params: Any, warm_up: int | None) -> tuple[dict[str, Any], Arrays]:
    names = ("n_components", "forgetting")
    numbers: dict[str, Any] = {name: params[name] for name in names} | {"warm_up": warm_up}
    numbers |= {"n_passes": 1, "max_sweeps": 100, "init_strength": 1.0, "feature_names_in": None}
    numbers |= {"state": None, "waiting": None}
    arrays, shape = {}, None
    if "S" in old:
        numbers["state"] = {"dtype": header["dtype"], "n_samples_seen": header["n_samples_seen"]}
        shape = [*old["S"].shape[1:]]
        arrays = {"state.S": old.pop("S"), "state.R": old.pop("R")}
    elif "u" in old:
        numbers["waiting"] = {"kind": "OuterProducts"}
        shape = [old["u"].shape[-1], old["v"].shape[-1]]
        arrays = {"waiting.u": old.pop("u"), "waiting.v": old.pop("v")}
    return numbers | {"feature_shape": shape, "n_features_in": shape and int(np.prod(shape))}, arrays


def _video(header: Any, old: Arrays, numbers: Any, seen_through: Any, n_pairs: int) -> tuple[dict[str, Any], Arrays]:
    numbers |= {name: seen_through[name] for name in ("patch", "patches_per_pair", "seed", "is_cut")}
    numbers |= {"beginning": [{"cut": cut} for cut in header.get("cuts", [])], "streams": [], "pool": None}
    arrays = {f"beginning.{i}.frames": old.pop(f"beginning{i}") for i in range(len(numbers["beginning"]))}
    for name in ("mean", "contrast"):  # of the whitening, which is the pool's, and 1
        old.pop(name, None)
    if "streams" not in header:
        return _first_video(header, old, numbers, n_pairs)
    for i, stream in enumerate(header["streams"]):
        survey = {"patch": numbers["patch"], "scale": stream["scale"], "contrast": _number(old.pop(f"contrast{i}"))}
        numbers["streams"].append({name: stream[name] for name in STREAM} | {"survey": survey, "pairing": {}})
        kept = {"survey.last": f"looked{i}", "held_out": f"held_out{i}", "pairing.last": f"last{i}"}
        found = {f"streams.{i}.{name}": old.pop(was) for name, was in kept.items() if was in old}
        arrays |= {name: array for name, array in found.items() if 0 not in array.shape}
    if "matrix" in old:
        gathered = {"names": None} if "gathered_before" in old else None
        numbers["pool"] = {"seed": numbers["seed"], "n_shown": header["n_shown"], "gathered": gathered}
        arrays |= {"pool.Z": old.pop("matrix")} | (
            {f"pool.{k}": a for k, a in _pairs("gathered", old).items()} if gathered else {}
        )
    return numbers, arrays


def _first_video(header: Any, old: Arrays, numbers: Any, n_pairs: int) -> tuple[dict[str, Any], Arrays]:
    """Take what the first files held of a video; one least contrast, which is unknown, and its frames as viewed."""
    kept, scale = np.asarray(old.pop("kept")), header["scale"]
    survey = {"patch": numbers["patch"], "scale": scale, "contrast": None}
    counts = {"n_pairs_seen": n_pairs, "n_candidates_seen": 0, "n_chosen": 0}
    stream = {"n_candidates": 200, "seed": 0, "name": "frames", "survey": survey, "pairing": {}} | counts
    numbers["streams"] = [stream]
    numbers["pool"] = {"seed": 0, "n_shown": header["n_samples_seen"], "gathered": None}
    numbers["pixels"] = [size * scale for size in kept.shape[1:]]
    old.pop("last", None)
    arrays = {"streams.0.survey.last": kept[-1], "streams.0.held_out": kept[::-1], "pool.Z": old.pop("matrix")}
    return numbers, arrays

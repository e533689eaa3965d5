"""Model files that are damaged, hostile or none: one error that names the file, at once, and without much memory.

The quick runs have some hundreds of files, the slow ones more than ten thousand together, of every kind of model and of
both formats.
"""

import contextlib
import json
import os
import pickle
import struct
import time
import tracemalloc
import warnings
from itertools import islice

import numpy as np
import pytest
from hostile_files import ARCHIVES, DAMAGED, HOSTILE, HOSTILE_ARCHIVES, OTHERS, Raw, rebuilt, taken_apart
from kept_models import GOING_ON, MODELS, answers, go_on
from test_first_format import FOLDER

from flymotion.keeping import KINDS, ModelError, load, save
from flymotion.models import Given, tensor_file

MOST_SECONDS, MOST_BYTES = 1.0, 100 * 2**20


@pytest.fixture(scope="session")
def contents(tmp_path_factory):
    """Bytes of a file of each model, by name."""
    folder = tmp_path_factory.mktemp("models")
    return {name: save(make(), folder / "model").read_bytes() for name, make in MODELS.items()}


@pytest.fixture(scope="session")
def archives():
    """Bytes of files of 0.1, by name."""
    return {path.stem: path.read_bytes() for path in sorted(FOLDER.glob("*.npz"))}


def judged(path, content):
    """Return the model that bytes hold, or None for one error that names the file; and see what it takes to say so."""
    path.write_bytes(content)
    return judged_file(path)


def judged_file(path):
    began, model = time.process_time(), None
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        model = load(path)
    except ModelError as error:
        assert str(error).startswith(f"{path}: ") and str(error).isprintable() and len(str(error)) < 600
    assert time.process_time() - began < MOST_SECONDS
    assert tracemalloc.get_traced_memory()[1] - before < MOST_BYTES
    return model


@pytest.fixture
def judge(tmp_path):
    """As ``judged``."""
    tracemalloc.start()
    yield lambda content: judged(tmp_path / "model", content)
    tracemalloc.stop()


def used(name, model):
    """Let a model that passed answer and learn, if one did; it may say in words that it cannot."""
    going_on = go_on if name in GOING_ON and hasattr(model, "partial_fit") else lambda name, model: model
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        for use in (answers, lambda model: going_on(name, model)):
            with contextlib.suppress(ValueError):
                use(model) if model is not None else None


def made(makers, contents, seed):
    """Yield files made of good ones without end: in turns of every kind, and of every model."""
    rng = np.random.default_rng(seed)
    while True:
        for make in makers.values():
            for name, content in contents.items():
                yield name, content, make(content, rng)


def sizes(quick, full):
    return pytest.mark.parametrize("n", [quick, pytest.param(full, marks=pytest.mark.slow)])


@sizes(210, 4000)
def test_damage_is_always_found(judge, contents, n):
    for _, content, damaged in islice(made(DAMAGED, contents, 0), n):
        assert damaged == content or judge(damaged) is None


@sizes(280, 5000)
def test_files_with_a_checksum_that_is_right_are_refused_or_work(judge, contents, n):
    """Whoever is hostile can compute the checksum, so that only what it says of a model decides."""
    for name, _, hostile in islice(made(HOSTILE, contents, 1), n):
        used(name, judge(hostile))


@sizes(60, 1200)
def test_damage_to_files_of_0_1_is_found_or_changes_nothing(judge, archives, tmp_path, n):
    """A zip archive has bits that nothing depends on, such as dates."""
    kept = {name: save(load(FOLDER / f"{name}.npz"), tmp_path / "kept").read_bytes() for name in archives}
    for name, _, damaged in islice(made(DAMAGED, archives, 2), n):
        model = judge(damaged)
        assert model is None or save(model, tmp_path / "kept").read_bytes() == kept[name]


@sizes(50, 500)
def test_archives_of_another_make_are_refused(judge, archives, n):
    """Compressed ones, bombs, objects, names given twice, and arrays that claim to be larger than they are."""
    for _, _, other in islice(made(ARCHIVES, archives, 3), n):
        assert judge(other) is None


@sizes(60, 1000)
def test_hostile_files_of_0_1_are_refused_or_work(judge, archives, n):
    for name, _, hostile in islice(made(HOSTILE_ARCHIVES, archives, 4), n):
        used(name, judge(hostile))


@pytest.mark.parametrize("name", OTHERS)
def test_other_files_are_not_models(judge, tmp_path, name):
    assert judge(OTHERS[name]) is None
    with pytest.raises(ModelError, match=r"model: not a flymotion model, or a damaged one"):
        load(tmp_path / "model")


@pytest.mark.parametrize("name", MODELS)
def test_every_bit_of_the_head_is_looked_at(judge, contents, name):
    content = contents[name]
    rng = np.random.default_rng(5)
    for at in rng.permutation(8 + int.from_bytes(content[:8], "little"))[:10]:
        assert judge(content[:at] + bytes([content[at] ^ 1 << int(rng.integers(8))]) + content[at + 1 :]) is None


# One by one


def of(contents, name, **changes):
    """Return a file of which numbers, by their path, are others, and the checksum is right."""
    arrays, said, data = taken_apart(contents[name])
    for path, value in changes.items():
        inside = said
        *way, last = path.split("__")
        for key in way:
            inside = inside[key]
        inside[last] = value
    return rebuilt(arrays, said, data)


STATE = "numbers__state"

ONE_BY_ONE = {
    "an unknown kind": ("NSM", {"kind": "Spell"}, "a 'Spell'; expected one of MotionLearner"),
    "an unknown number": ("NSM", {"numbers__new": 1}, "'new' is not known to this flymotion"),
    "units that are not there": (
        "NSM",
        {"numbers__n_components": 3},
        r"state.S is float64 of shape \(2, 3, 3\); .*3, 3, 3",
    ),
    "a number that is a truth value": (
        "NSM",
        {"numbers__n_components": True},
        "n_components is True; expected a whole",
    ),
    "a number that is text": ("NSM", {"numbers__forgetting": "1"}, "forgetting is '1'; expected a number"),
    "a number that is none": ("NSM", {"numbers__forgetting": Raw("NaN")}, "not finite"),
    "a number that is too large": ("NSM", {"numbers__forgetting": Raw("1e999")}, "not finite"),
    "a number out of range": ("NSM", {"numbers__forgetting": 1.5}, r"forgetting is 1.5; expected a factor in \(0, 1\]"),
    "digits without end": ("NSM", {"numbers__max_sweeps": Raw("9" * 5000)}, "a whole number of 5000 digits"),
    "layers without end": ("NSM", {"numbers__new": Raw("[" * 9000 + "]" * 9000)}, "JSON in too many layers"),
    "a name given twice": ("NSM", {"numbers__state": Raw('{"dtype": 1, "dtype": 2}')}, "JSON with a name given twice"),
    "a part that is missing": (
        "a learner",
        {f"{STATE}__network": None},
        "state.network is None; expected numbers by name",
    ),
    "a type of numbers": (
        "NSM",
        {f"{STATE}__dtype": "object"},
        "state.dtype is 'object'; expected one of float64, float32",
    ),
    "no eye": ("generators of a line", {"numbers__eye__kind": "Fly"}, "eye.kind is 'Fly'; expected one of Line, Grid"),
    "another eye": (
        "generators of a line",
        {"numbers__eye__n": 9},
        r"operators of shape \(2, 4, 4\) for frames of \(9,\)",
    ),
    "a huge eye": (
        "generators of a line",
        {"numbers__eye__n": 2**60},
        "eye.n is .*; expected a whole number of 1 or more",
    ),
    "rings without end": (
        "a circuit",
        {"numbers__n_rings": 2**31},
        r"decorrelation_T4 is float64 of shape \(7, 7, 7\)",
    ),
    "columns without end": ("a circuit", {"numbers__eye__radius": 2000}, r"decorrelation_T4 is .*; expected .*, 7, 7"),
    "no hexagonal eye": (
        "a circuit",
        {"numbers__eye": {"kind": "Line", "n": 7, "sigma": 0.4}},
        "Line is no hexagonal lattice",
    ),
    "a feature": ("a learner", {f"{STATE}__feature": "spell"}, "state.feature is 'spell'; expected one of change"),
    "an inconsistent feature": (
        "a learner whose network is warming up",
        {f"{STATE}__feature": "antisymmetric"},
        "one of other samples than the antisymmetric feature",
    ),
    "other frames": ("a learner", {f"{STATE}__vision__pixels": [7]}, r"pairing.last is float64 of shape \(5,\)"),
    "another vision": ("a learner", {"numbers__parameters__vision": "video"}, "state.vision.* is missing"),
    "an unknown vision": ("a learner", {"numbers__parameters__vision": "third eye"}, "vision is 'third eye'; expected"),
    "a pool without streams": (
        "a learner of video",
        {f"{STATE}__vision__streams": []},
        "pool is without streams, or with a beginning",
    ),
    "text that is no text": (
        "a learner of video",
        {f"{STATE}__vision__is_cut": 0},
        "is_cut is 0; expected true or false",
    ),
    "a negative seed": ("a learner", {f"{STATE}__seed": -1}, "state.seed is -1; expected a whole number of 0 or more"),
    "a version that is none": ("NSM", {"flymotion": 1}, "a header that is none of a model"),
    "a newer format": ("NSM", {"format": 3, "axes": "new"}, "model: format 3; this flymotion reads formats 1 and 2"),
}
"""What is changed of which model, and what is said of it."""


@pytest.mark.case("B37")
@pytest.mark.parametrize("case", ONE_BY_ONE)
def test_errors_say_what_is_wrong(contents, tmp_path, case):
    name, changes, reason = ONE_BY_ONE[case]
    (tmp_path / "model").write_bytes(of(contents, name, **changes))
    with pytest.raises(ModelError, match=reason):
        load(tmp_path / "model")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
def test_arrays_of_what_is_not_finite_are_refused(judge, contents, value):
    for content in contents.values():
        arrays, said, data = taken_apart(content)
        for entry in arrays.values():
            start, stop = entry["data_offsets"]
            number = {"F32": struct.pack("<f", np.nan)}.get(entry["dtype"], struct.pack("<d", value))
            assert (
                judge(rebuilt(arrays, said, data[:start] + number + data[start + len(number) :])) is None
                or stop == start
            )


def test_files_that_are_huge_and_empty_are_refused_at_once(judge, contents, tmp_path):
    """Files of holes: of a terabyte, and of 3 GB in an array that nobody asked for."""
    _, said, _ = taken_apart(contents["ON and OFF"])
    size = 3 * 2**30
    head = rebuilt({"new": {"dtype": "F64", "shape": [size // 8], "data_offsets": [0, size]}}, said, b"")
    for length, start in ((2**40, contents["NSM"]), (2**40, b"PK\x03\x04"), (len(head) + size, head)):
        with open(tmp_path / "model", "wb") as file:
            file.write(start)
            file.truncate(length)
        began = time.process_time()
        with pytest.raises(ModelError, match="not a flymotion model, or a damaged one"):
            load(tmp_path / "model")
        assert time.process_time() - began < MOST_SECONDS
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES


class Trap:
    """What a malicious file does when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.case("B37")
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_are_not_run(judge, tmp_path, protocol):
    assert judge(pickle.dumps(Trap(tmp_path / "sprung"), protocol)) is None
    np.savez(tmp_path / "trap.npz", header=np.array([Trap(tmp_path / "sprung")], dtype=object))
    with pytest.raises(ModelError, match="not a flymotion model"):
        load(tmp_path / "trap.npz")
    assert not (tmp_path / "sprung").exists()


def test_a_file_may_not_be_larger_than_models_are(monkeypatch, contents, tmp_path):
    monkeypatch.setattr(tensor_file, "MOST_BYTES", 500)
    with pytest.raises(ModelError, match="more than a model may have"):
        save(MODELS["NSM"](), tmp_path / "model")
    (tmp_path / "model").write_bytes(contents["NSM"])
    with pytest.raises(ModelError, match="bytes with a head of"):
        load(tmp_path / "model")


def test_what_is_given_is_asked_for_once():
    given = Given({"n": 1, "part": {"m": 2}}, {"x": np.zeros(3), "part.y": np.zeros(2)})
    part = given.part("part")
    assert (given.number("n", int), part.number("m", int), given.array("x", 3).tolist()) == (1, 2, [0, 0, 0])
    with pytest.raises(ValueError, match=r"'part\.y' is not known to this flymotion"):
        given.finish()
    part.array("y", None)
    given.finish()


def test_every_kind_is_made_hostile(contents):
    assert {json.loads(json.dumps(taken_apart(content)[1]))["kind"] for content in contents.values()} == KINDS.keys()

"""Files that are damaged or hostile, made of good ones: name to function of (content, rng), which returns bytes.

Those of ``DAMAGED`` have to be refused. Those of ``HOSTILE`` have a checksum that is right, which anybody can compute,
so they are refused or hold a model that works.
"""

import hashlib
import io
import json
import pickle
import warnings
import zipfile

import numpy as np

__all__ = ["ARCHIVES", "DAMAGED", "HOSTILE", "HOSTILE_ARCHIVES", "OTHERS", "rebuilt", "taken_apart"]

BLANK = "0" * 64


class Raw(str):
    """Text put into JSON as it is."""


VALUES = (
    *(None, True, False, 0, 1, -1, 2, 3, 5, 2**31, 2**53, 2**63, 2**64, -(2**70), 10**90),
    *(0.0, -0.0, 0.5, -1.5, 1e-320, 1e149, 1e300, -1e308, 1e16),
    *(
        "",
        "x",
        "plain",
        "video",
        "midpoint",
        "antisymmetric",
        "float32",
        "\x1b[31m\r\n",
        "\ud800",
        "9" * 300,
        "../../etc",
    ),
    *(
        [],
        {},
        [0],
        [1, 1],
        [[]],
        {"": {}},
        [None] * 9,
        [2**40, 2**40],
        [5, 5],
        [25],
        {"kind": "Line", "n": 4, "sigma": 0.1},
    ),
    *map(
        Raw,
        ("NaN", "-Infinity", "1e999", "7" * 5000, "[" * 5000 + "]" * 5000, '{"a": 1, "a": 2}', "nul", "[1,", '"\\ud8"'),
    ),
)
"""What takes the place of something in JSON."""

NUMBERS = (np.nan, np.inf, -np.inf, 1e300, -1e300, 5e-324, 0.0, -1.0, 1e100, 1e-100)
"""What takes the place of numbers in arrays."""


def taken_apart(content):
    """Return the list of arrays, what the header says, and the arrays' bytes."""
    length = int.from_bytes(content[:8], "little")
    arrays = json.loads(content[8 : 8 + length])
    said = json.loads(arrays.pop("__metadata__")["flymotion"])
    return arrays, said, content[8 + length :]


def rebuilt(arrays, said, data):
    """Return a file, with a checksum that is right."""
    head = dumped({"__metadata__": {"flymotion": dumped(said | {"sha256": BLANK})}} | arrays).encode(errors="replace")
    whole = len(head).to_bytes(8, "little") + head + data
    return whole.replace(BLANK.encode(), hashlib.sha256(whole).hexdigest().encode(), 1)


def dumped(value):
    """Return JSON with what is raw as it is."""
    raw = []

    def marked(each):
        match each:
            case Raw():
                raw.append(each)
                return f"<raw {len(raw) - 1}>"
            case dict():
                return {str(key): marked(inner) for key, inner in each.items()}
            case list():
                return [marked(inner) for inner in each]
        return each

    text = json.dumps(marked(value))
    for k, each in enumerate(raw):
        text = text.replace(f'"<raw {k}>"', each)
    return text


def places(value, path=()):
    """Every place in a tree of dicts and lists, by the keys that lead there."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        yield (*path, key)
        yield from places(inner, (*path, key))


def changed(tree, rng):
    """Return a tree with something changed: another value, a key gone, renamed or new, or two things exchanged."""
    tree = json.loads(json.dumps(tree))
    *way, last = list(places(tree))[rng.integers(sum(1 for _ in places(tree)))]
    inside = tree
    for key in way:
        inside = inside[key]
    what = rng.choice(["value", "value", "value", "gone", "renamed", "new", "exchanged"])
    if what == "value":
        inside[last] = VALUES[rng.integers(len(VALUES))]
    elif what == "gone":
        del inside[last]
    elif what == "renamed" and isinstance(inside, dict):
        inside[f"{last}x"] = inside.pop(last)
    elif what == "new" and isinstance(inside, dict):
        inside["new"] = VALUES[rng.integers(len(VALUES))]
    else:
        keys = list(inside) if isinstance(inside, dict) else range(len(inside))
        other = list(keys)[rng.integers(len(keys))]
        inside[last], inside[other] = inside[other], inside[last]
    return tree


# Damaged


def flipped(content, rng):
    content = bytearray(content)
    at = rng.integers(len(content))
    content[at] ^= 1 << rng.integers(8)
    return bytes(content)


def cut_off(content, rng):
    return content[: rng.integers(len(content))]


def blanked(content, rng):
    start = rng.integers(len(content))
    return content[:start] + b"\xff" * 40 + content[start + 40 :]


def longer(content, rng):
    return content + rng.bytes(rng.integers(1, 50))


def of_another_head_length(content, rng):
    return int(rng.integers(2**62)).to_bytes(8, "little") + content[8:]


def without_a_middle(content, rng):
    start, stop = np.sort(rng.integers(1, len(content), 2))
    return content[:start] + content[stop + 1 :]


DAMAGED = {
    make.__name__: make for make in (flipped, cut_off, blanked, longer, of_another_head_length, without_a_middle)
}


# Hostile


def of_other_numbers(content, rng):
    arrays, said, data = taken_apart(content)
    return rebuilt(arrays, changed(said, rng), data)


def of_other_arrays(content, rng):
    arrays, said, data = taken_apart(content)
    return rebuilt(changed(arrays, rng), said, data) if arrays else rebuilt(arrays, changed(said, rng), data)


def of_exchanged_arrays(content, rng):
    arrays, said, data = taken_apart(content)
    names = list(arrays)
    return rebuilt(dict(zip(names, [arrays[name] for name in rng.permutation(names)], strict=True)), said, data)


def of_another_shape(content, rng):
    """As many numbers in other axes, or in axes of another order."""
    arrays, said, data = taken_apart(content)
    for entry in arrays.values():
        n = int(np.prod(entry["shape"]))
        entry["shape"] = [[n], entry["shape"][::-1], [1, n], [n, 1], [*entry["shape"], 1], [n, 0][:1]][rng.integers(6)]
    said["axes"] = {name: rng.permutation(len(entry["shape"])).tolist() for name, entry in arrays.items()}
    return rebuilt(arrays, said, data)


def of_a_huge_array(content, rng):
    arrays, said, data = taken_apart(content)
    for entry in arrays.values():
        entry["shape"] = [2 ** int(rng.integers(1, 62)) for _ in entry["shape"]]
        entry["data_offsets"][1] = int(np.prod([float(n) for n in entry["shape"]]) * 8) % 2**62
    return rebuilt(arrays | {"new": {"dtype": "F64", "shape": [2**50, 2**50], "data_offsets": [0, 2**60]}}, said, data)


def of_another_kind(content, rng):
    arrays, said, data = taken_apart(content)
    kinds = [
        "MotionLearner",
        "Generators",
        "ZCAWhitening",
        "SimilarityMatching",
        "NonnegativeSimilarityMatching",
        "Line",
    ]
    return rebuilt(arrays, said | {"kind": str(rng.choice(kinds)) + "x" * int(rng.integers(2))}, data)


def of_wrong_numbers(content, rng):
    """Some numbers of arrays others, of any size, or none."""
    arrays, said, data = taken_apart(content)
    data = bytearray(data)
    for entry in arrays.values():
        start, stop = entry["data_offsets"]
        values = np.frombuffer(memoryview(data)[start:stop], "<f4" if entry["dtype"] == "F32" else "<f8")
        with np.errstate(over="ignore"):
            values[rng.permutation(len(values))[: rng.integers(2)]] = rng.choice(NUMBERS)
    return rebuilt(arrays, said, bytes(data))


def of_noise(content, rng):
    arrays, said, data = taken_apart(content)
    return rebuilt(arrays, said, rng.bytes(len(data)))


HOSTILE = {
    make.__name__: make
    for make in (
        of_other_numbers,
        of_other_arrays,
        of_exchanged_arrays,
        of_another_shape,
        of_a_huge_array,
        of_another_kind,
        of_wrong_numbers,
        of_noise,
    )
}


# Archives, as flymotion 0.1 wrote them


def members(content):
    with np.load(io.BytesIO(content)) as file:
        arrays = dict(file)
    return json.loads(arrays.pop("header").tobytes()), arrays


def archive(header, arrays, write=np.savez, **more):
    file = io.BytesIO()
    text = header if isinstance(header, bytes) else dumped(header).encode(errors="replace")
    write(file, header=np.frombuffer(text, dtype=np.uint8), **arrays, **more)
    return file.getvalue()


def zipped(content, rng):
    header, arrays = members(content)
    return archive(header, arrays, np.savez_compressed)


def with_a_bomb(content, rng):
    header, arrays = members(content)
    return archive(header, arrays | {"S": np.zeros((2, 2**9, 2**9))}, np.savez_compressed)


def with_an_object(content, rng):
    header, arrays = members(content)
    return archive(header, arrays | {str(rng.choice(list(arrays))): np.array([{}, print], dtype=object)})


def with_a_name_twice(content, rng):
    file = io.BytesIO(content)
    with zipfile.ZipFile(file, "a") as more:
        name = more.namelist()[rng.integers(len(more.namelist()))]
        with warnings.catch_warnings(action="ignore"):  # of zipfile, which has seen the name before
            more.writestr(name, more.read(name))
    return file.getvalue()


def with_a_claim(content, rng):
    """An array that claims to be larger than what there is of it."""
    header, arrays = members(content)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name, array in ({"header": np.frombuffer(json.dumps(header).encode(), np.uint8)} | arrays).items():
            begins = {"descr": array.dtype.str, "fortran_order": False, "shape": (2**40, *array.shape)}
            member = io.BytesIO()
            np.lib.format.write_array_header_1_0(member, begins)
            made.writestr(f"{name}.npy", member.getvalue() + array.tobytes())
    return file.getvalue()


ARCHIVES = {make.__name__: make for make in (zipped, with_a_bomb, with_an_object, with_a_name_twice, with_a_claim)}


def archive_of_other_numbers(content, rng):
    header, arrays = members(content)
    return archive(changed(header, rng), arrays)


def archive_of_other_arrays(content, rng):
    header, arrays = members(content)
    names = list(arrays)
    arrays = dict(zip(names, [arrays[name] for name in rng.permutation(names)], strict=True))
    name = str(rng.choice(names))
    array = arrays[name]
    others = (
        array.ravel(),
        array[None],
        array.astype(np.int64),
        np.zeros((0, *array.shape)),
        np.zeros(()),
        array * np.nan,
    )
    return archive(header, arrays | {name: others[rng.integers(len(others))]})


HOSTILE_ARCHIVES = {make.__name__: make for make in (archive_of_other_numbers, archive_of_other_arrays)}

OTHERS = {
    "nothing": b"",
    "text": b"not a model at all\n",
    "noise": np.random.default_rng(0).bytes(1000),
    "a video's start": b"\x00\x00\x00\x20ftypisom" + bytes(500),
    "a pickle": pickle.dumps({"S": np.zeros(3)}),
    "an array": b"\x93NUMPY" + bytes(100),
    "an empty archive": b"PK\x05\x06" + bytes(18),
    "the start of an archive": b"PK\x03\x04" + bytes(400),
    "an archive of no header": archive(b"{}", {}),
    "an archive of no JSON": archive(b"{format: 1", {}),
    "an archive of a list": archive(b"[1]", {}),
    "an archive without parameters": archive(b'{"format": 1}', {}),
    "tensors of something else": rebuilt({}, {}, b""),
    "tensors without a word": b"\x02" + bytes(7) + b"{}",
    "a head of 2 MB of lists": (2**21).to_bytes(8, "little") + b"[" + b"[]," * 699050 + b"1",
    "a head that claims to be of 2^63 bytes": (2**63).to_bytes(8, "little") + b"{}",
}
"""Other files."""

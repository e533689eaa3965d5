"""A trained circuit in a file, as other models are kept: arrays and a header, no code, whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from flymotion.circuits.t4t5 import T4T5Circuit
from flymotion.models.packing import Given, ModelError
from flymotion.models.tensor_file import Header, content, reading
from flymotion.writing import WriteError, whole

__all__ = ["load_circuit", "save_circuit"]

KIND = T4T5Circuit.__name__


def save_circuit(circuit: Any, path: str | os.PathLike[str]) -> Path:
    """Write a trained circuit to exactly this path, in one step.

    Parameters
    ----------
    circuit : T4T5Circuit
        Trained.
    path : path
        Where to. Its folder is made.

    Returns
    -------
    Path
        The same path.

    Raises
    ------
    ModelError
        A circuit that cannot be kept, or a path that cannot be written to.
    """
    from flymotion import __version__

    path = Path(path)
    try:
        numbers, arrays = circuit.pack()
        written = content(Header(KIND, __version__, numbers), arrays)
        with whole(path) as place:
            place.write_bytes(written)
    except WriteError as error:
        raise ModelError(str(error)) from error
    except ValueError as error:
        raise ModelError(f"{path}: {error}") from error
    return path


def load_circuit(path: str | os.PathLike[str]) -> Any:
    """Read what :func:`save_circuit` wrote; learning and watching go on from there to the bit.

    Returns
    -------
    T4T5Circuit

    Raises
    ------
    ModelError
        A file that is missing, damaged, or holds no circuit.
    """
    path = Path(path)
    try:
        with reading(path) as (header, arrays):
            if header.kind != KIND:
                raise ModelError(f"{path}: holds a {header.kind}; expected a {KIND}")
            given = Given(header.numbers, arrays)
            circuit = T4T5Circuit.unpack(given)
            given.finish()
        return circuit
    except ModelError:
        raise
    except (ValueError, OSError, MemoryError) as error:
        raise ModelError(f"{path}: not a flymotion circuit, or a damaged one ({error})") from error

"""Saving and loading what was learned: one file of arrays and a header in JSON, and no code.

What a class packs is written as it is, so that ``fit(a); save; load; partial_fit(b)`` equals ``fit(a); partial_fit(b)``
to the bit. Reading looks at everything before it believes it: sizes against that of the file, names, types, shapes and
ranges as each class unpacks itself, and the checksum.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from flymotion.circuits import T4T5Circuit
from flymotion.generators import Generators, Operators
from flymotion.keeping.first_format import first_format
from flymotion.learner import MotionLearner
from flymotion.models.archive import archived, is_archive
from flymotion.models.packing import Given, ModelError, brief
from flymotion.models.tensor_file import FORMAT, AnotherFormat, Header, content, reading
from flymotion.photoreceptors import (
    ContrastNormalization,
    DivisiveNormalization,
    LogIntensity,
    OnOff,
    SensorNoise,
    WeberContrast,
    ZCAWhitening,
)
from flymotion.similarity import NonnegativeSimilarityMatching, SimilarityMatching
from flymotion.similarity.online import OnlineNetwork
from flymotion.similarity.rivals import (
    CCIPCA,
    AdaOja,
    FastSimilarityMatching,
    OjaSubspace,
    OuterProductKMeans,
    OuterProductPCA,
    ReconstructionNetwork,
)
from flymotion.writing import WriteError, whole

__all__ = ["FORMAT", "KINDS", "ModelError", "load", "look", "save"]

KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(MotionLearner, T4T5Circuit),
        *(NonnegativeSimilarityMatching, SimilarityMatching),
        *(OuterProductKMeans, OuterProductPCA, ReconstructionNetwork),
        *(CCIPCA, AdaOja, FastSimilarityMatching, OjaSubspace),
        *(Generators, Operators),
        *(ContrastNormalization, DivisiveNormalization, LogIntensity, OnOff, SensorNoise, WeberContrast, ZCAWhitening),
    )
}
"""What can be kept in a file, by the names that files have for it."""


def save(what: Any, path: str | os.PathLike[str]) -> Path:
    """Write what was learned to exactly this path, in one step: a file that was there stays whole until the new one is.

    Parameters
    ----------
    what : MotionLearner, T4T5Circuit, network, rival, Generators, Operators, or stage of early vision
        Fitted, or amid a stream; one of :data:`KINDS`. Tensors are kept as numpy arrays.
    path : path
        Where to. Its folder is made.

    Returns
    -------
    Path
        The same path.

    Raises
    ------
    ModelError
        What has learned nothing, is of another kind or cannot be kept whole; a path that cannot be written to.

    Examples
    --------
    >>> import tempfile
    >>> from flymotion import Generators, Line
    >>> path = Path(tempfile.mkdtemp()) / "right.model"
    >>> load(save(Generators([[[0.0, -1.0], [1.0, 0.0]]], Line(2)), path)).directions()
    array([0.])
    """
    from flymotion import __version__

    path, kind = Path(path), type(what).__name__
    try:
        if KINDS.get(kind) is not type(what):
            raise ValueError(f"a {kind} cannot be kept; expected one of {', '.join(KINDS)}")
        if isinstance(what, OnlineNetwork):
            check_is_fitted(what)
        numbers, arrays = what.pack()
        written = content(Header(kind, __version__, numbers), arrays)
        with whole(path) as place:
            place.write_bytes(written)
            _read(place)  # what cannot be read again must not take the place of what can
    except WriteError as error:
        raise ModelError(str(error)) from error
    except ValueError as error:
        raise ModelError(f"{path}: {error}") from error
    return path


def load(path: str | os.PathLike[str], *, kind: type | None = None) -> Any:
    """Read what :func:`save` wrote, or flymotion 0.1; learning goes on from there to the bit.

    Parameters
    ----------
    path : path
        Of the file. No code in it is run, and nothing is made of it before it is known to be right.
    kind : type, optional
        What it has to hold; anything, by default.

    Returns
    -------
    MotionLearner, or another of :data:`KINDS`
        Of what kind the file says.

    Raises
    ------
    ModelError
        A file that is missing, damaged, not a model, of a newer format, or of another kind.

    Examples
    --------
    >>> import tempfile
    >>> from flymotion import Generators, Line
    >>> right = Generators([[[0.0, -1.0], [1.0, 0.0]]], Line(2))
    >>> load(save(right, Path(tempfile.mkdtemp()) / "right.model"), kind=Generators).shape
    (2,)
    """
    what = look(path)[1]
    if kind is not None and not isinstance(what, kind):
        raise ModelError(f"{path}: holds a {type(what).__name__}; expected a {kind.__name__}")
    return what


def look(path: str | os.PathLike[str]) -> tuple[Header, Any]:
    """Read a model as :func:`load` does, and what its file says of it.

    Returns
    -------
    header : Header
        Kind, version of flymotion and numbers.
    what : object
        The model.

    Raises
    ------
    ModelError
        As :func:`load`.

    Examples
    --------
    >>> import tempfile
    >>> from flymotion import Generators, Line
    >>> right = Generators([[[0.0, -1.0], [1.0, 0.0]]], Line(2))
    >>> header, what = look(save(right, Path(tempfile.mkdtemp()) / "right.model"))
    >>> header.kind, what.directions()
    ('Generators', array([0.]))
    """
    path = Path(path)
    try:
        if not path.exists():
            raise ModelError(f"{path}: no such file")
        if not path.is_file():
            raise ValueError("a folder, or no file")
        return _read(path)
    except ModelError:
        raise
    except AnotherFormat as error:
        raise ModelError(f"{path}: {error}; this flymotion reads formats 1 and {FORMAT}") from error
    except (ValueError, OSError, MemoryError) as error:
        raise ModelError(f"{path}: not a flymotion model, or a damaged one ({error})") from error


def _read(path: Path) -> tuple[Header, Any]:
    opened = archived if is_archive(path) else reading
    with opened(path) as found:
        header, arrays = first_format(found) if isinstance(found, dict) else found
        if header.kind not in KINDS:
            raise ValueError(f"a {brief(header.kind)}; expected one of {', '.join(KINDS)}")
        given = Given(header.numbers, arrays)
        what = KINDS[header.kind].unpack(given)
        given.finish()
    return header, what

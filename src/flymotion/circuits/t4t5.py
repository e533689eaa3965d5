r"""The motion circuit of the fly: T4a-d and T5a-d of every column, learned from what is seen (Section 3.2, Fig. 4).

.. math:: \theta_k = \max\Big(\Delta x_c \sum_j W_{kj} x_j - \sum_{l \ne k} M_{kl} \theta_l,\ 0\Big)

=============  ==============================================================================================
``dx_c``       the change at the column, of one polarity: what Mi1 and Tm3 (T5: Tm1, Tm2 and Tm4) carry
``x_j``        intensities of the neighbours: what Mi9 and Mi4 (T5: Tm9 and CT1) carry, decorrelated
``W``          learned by each cell from its own output: Eq. 16 with Delta x a scalar and x a vector (C34)
``M``          lateral inhibition of the four cells of a column and polarity, learned: Eq. 17
=============  ==============================================================================================
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from flymotion.circuits.cell_inputs import CellInputs, blocks
from flymotion.circuits.circuit_detectors import mean_column
from flymotion.circuits.circuit_parameters import LEARNED_WITH, NUMBERS, check_parameters
from flymotion.circuits.circuit_streams import CircuitStream
from flymotion.circuits.column_signals import ColumnSignals, check_light
from flymotion.circuits.competing_columns import Columns
from flymotion.circuits.input_neurons import PATHWAYS
from flymotion.circuits.learned_columns import LearnedColumns
from flymotion.circuits.patches import Patches
from flymotion.detectors.detector import Detector
from flymotion.frames import unmasked
from flymotion.models.packing import Given, Packed, packed, seed_of
from flymotion.photoreceptors.stage import check_unchanged
from flymotion.world.conventions import as_generator, positive
from flymotion.world.eyes import Eye
from flymotion.world.kinds_of_eyes import unpack_eye
from flymotion.world.lattices import lattice_of

__all__ = ["T4T5Circuit"]

EARLY = 4
"""Clips, the first ones, that early vision is fitted to."""

POOL = 2
"""Rings of columns whose outputs are summed where they are pooled."""

FEW = 0.5
"""Share of the columns with four directions below which that is warned of."""


class T4T5Circuit(LearnedColumns, TransformerMixin, BaseEstimator):
    r"""T4 and T5 cells of all columns of an eye, four directions each, that learn online from moving scenes.

    Parameters
    ----------
    eye : Hexagon or CompoundEye
        Whose columns.
    dt : float
        Time between the frames that it learns from [s].
    n_rings : int
        Rings of columns about each that a cell has inputs from.
    pooled : bool
        Whether cells learn from the outputs of all columns within two rings together: a control (C34). By default each
        learns from its own.
    contrasts : bool
        Whether movies are contrasts already; by default they are luminance, 0 or more, in any unit.
    decorrelation : {"learned", "surround", "none"}
        What takes out what neighbours share: lateral connections fitted to the first four clips
        (:mod:`~flymotion.circuits.decorrelating`), the surrounds that were published, or nothing.
    start : {"oriented", "random"}
        Dendrites that reach to one side, as T4's do, or anyhow.
    scatter : float
        Norm of the random weights that are added to oriented ones, of norm 1.
    strength : float
        Of the start: as if it had been learned for so long, in units of summed squared outputs.
    forgetting : float
        Share of what was learned that is kept from frame to frame.
    every : int
        Every which frame is learned from: neighbouring frames say much the same.
    half_saturation : float
        h: contrast of a patch at which responses are half way to saturation, relative to the usual one.
    random_state : int, Generator, RandomState or None
        Of the start.

    Attributes
    ----------
    weights_ : ndarray, shape (n_columns, 8, n_offsets)
        Effective weights of T4a-d and T5a-d onto the intensities at ``rings(n_rings)``, decorrelation taken into
        account; NaN where there is no column.
    start_ : ndarray, shape (n_columns, 8, n_offsets)
        The same of the same cells before learning.
    lateral_ : ndarray, shape (n_columns, 2, 4, 4)
        Lateral inhibition among T4a-d, and among T5a-d: onto the cell of the row.
    named_ : ndarray of bool, shape (n_columns, 2)
        Whether T4, and T5, of a column prefer four different directions. Cells are named by what they prefer after
        learning; where that is not four directions, as well as can be.

    Raises
    ------
    ValueError
        In ``fit``: movies of another shape, negative luminance, parameters out of range, an eye without a lattice.

    Notes
    -----
    A cell's own output teaches it, so that it finds the first component of ``E[dx^2 x x']`` (C34): what is normalised
    has to be decorrelated, and what the centre's intensity tells of its neighbours has to go first.

    References
    ----------
    Bahroun, Sengupta & Chklovskii (2019), Section 3.2 and Fig. 4. Takemura et al. (2017), The comprehensive connectome
    of a neural substrate for ON motion detection in Drosophila. eLife 6:e24394.

    Examples
    --------
    >>> from flymotion.circuits.schooling import schooling
    >>> from flymotion.world import Hexagon
    >>> from flymotion.world.scenes import SmoothNoise
    >>> eye, noise = Hexagon(2), SmoothNoise(2.0, ndim=2, period=50.0, random_state=0)
    >>> circuit = T4T5Circuit(eye, contrasts=True, random_state=0)
    >>> for movie in schooling(eye, n_clips=2, duration=4.0, scenes=[noise], random_state=0):
    ...     _ = circuit.partial_fit(movie)
    >>> circuit.transform(movie).shape, circuit.weights_.shape
    ((200, 19, 8), (19, 8, 7))
    """

    def __init__(
        self,
        eye: Eye,
        *,
        dt: float = 0.02,
        n_rings: int = 1,
        pooled: bool = False,
        contrasts: bool = False,
        decorrelation: str = "learned",
        start: str = "oriented",
        scatter: float = 0.3,
        strength: float = 20.0,
        forgetting: float = 1.0,
        every: int = 2,
        half_saturation: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.eye = eye
        self.dt = dt
        self.n_rings = n_rings
        self.pooled = pooled
        self.contrasts = contrasts
        self.decorrelation = decorrelation
        self.start = start
        self.scatter = scatter
        self.strength = strength
        self.forgetting = forgetting
        self.every = every
        self.half_saturation = half_saturation
        self.random_state = random_state

    def fit(self, movies: Any, y: Any = None) -> Self:
        """Learn anew.

        Parameters
        ----------
        movies : array, shape (n_frames, n_columns), or iterable of such
            Clips without cuts; NaN where nothing is seen.
        y : None
            Ignored.

        Warns
        -----
        RuntimeWarning
            Many columns whose cells do not prefer four directions.
        """
        check_parameters(self)
        clips = (self._checked(movie) for movie in _movies(movies))
        first = list(islice(clips, EARLY))
        if not first:
            raise ValueError("there are no movies to learn from; expected one or more")
        self._begin(first)
        for movie in chain(first, clips):
            self._learn(movie)
        self._warn()
        return self

    def partial_fit(self, movie: Any, y: Any = None) -> Self:
        """Learn from one more clip, shape (n_frames, n_columns); early vision is fitted to the first."""
        check_parameters(self)
        if hasattr(self, "networks_"):
            self._check_learned()
        movie = self._checked(movie)
        if not hasattr(self, "networks_"):
            self._begin([movie])
        self._learn(movie)
        return self

    def transform(self, movie: Any, *, dt: float | None = None) -> np.ndarray:
        """Respond to a movie.

        Parameters
        ----------
        movie : array, shape (n_frames, n_columns)
            Before its first frame the eye saw that frame for ever.
        dt : float, optional
            Time between frames [s]; by default that of the movies learned from.

        Returns
        -------
        ndarray, shape (n_frames, n_columns, 8)
            Responses of T4a-d and T5a-d, 0 or more; NaN where a column's inputs are.
        """
        stream, movie = self.stream(dt=dt), self._checked(movie)
        found = [stream.respond(block) for block in blocks(movie)]
        return np.concatenate(found) if found else np.zeros((*movie.shape, 8))

    def stream(self, *, dt: float | None = None) -> CircuitStream:
        """Return an object that answers frame by frame: ``push(frame)`` returns shape (n_columns, 8).

        Examples
        --------
        >>> from flymotion.circuits.schooling import schooling
        >>> from flymotion.world import Hexagon
        >>> from flymotion.world.scenes import SmoothNoise
        >>> eye, noise = Hexagon(1), SmoothNoise(2.0, ndim=2, period=50.0, random_state=0)
        >>> circuit = T4T5Circuit(eye, contrasts=True, random_state=0)
        >>> stream = circuit.fit(schooling(eye, n_clips=2, duration=2.0, scenes=[noise], random_state=0)).stream()
        >>> [stream.push(frame).shape for frame in np.zeros((2, 7))]  # T4a-d and T5a-d of seven columns
        [(7, 8), (7, 8)]
        """
        self._check_learned()
        dt = self.dt if dt is None else dt
        positive(dt=dt)
        return CircuitStream(self, dt)

    def detector(self) -> Detector:
        """Return the mean column as a detector of contrasts, on an even lattice, with units T4a-d and T5a-d."""
        check_is_fitted(self, "networks_")
        return mean_column(self)

    def signals(self, dt: float) -> ColumnSignals:
        """Return untouched early vision."""
        return ColumnSignals(self.eye, dt, contrasts=self.contrasts, surrounds=self.decorrelation == "surround")

    def _begin(self, movies: Sequence[np.ndarray]) -> None:
        """Fit early vision to some clips, and begin with untaught cells."""
        patches, rng = Patches(self.eye, self.n_rings), as_generator(self.random_state)
        signals = [self.signals(self.dt) for _ in movies]
        learned = self.decorrelation == "learned"
        inputs = CellInputs.fitted(movies, patches, signals, self.half_saturation, learned)
        self.patches_, self.inputs_, self.started_, self.n_frames_seen_ = patches, inputs, [], 0
        self.learned_with_ = {name: getattr(self, name) for name in LEARNED_WITH}
        for pathway in PATHWAYS.values():
            W = patches.random(rng)
            W = pathway.polarity * patches.oriented() + self.scatter * W if self.start == "oriented" else W
            self.started_.append(W)
        self.networks_ = [Columns.of_weights(W, self.strength) for W in self.started_]

    def _learn(self, movie: np.ndarray) -> None:
        signals = self.signals(self.dt)
        pool = lattice_of(self.eye).around(POOL) if self.pooled else None
        at = 0
        for block in blocks(movie):
            change, intensity, seen = signals.push(block)
            known = self.patches_.known(seen)
            chosen = np.arange(-at % self.every, len(block), self.every)
            at += len(block)
            for k, network in enumerate(self.networks_):
                patches = self.patches_.gather(intensity[k][chosen])
                chi = self.inputs_[k](change[k][chosen], patches) * known[chosen]
                for t in range(len(chosen)):
                    network.learn(chi[:, t], self.forgetting, pool)
        self.n_frames_seen_ += len(movie)

    def _checked(self, movie: Any) -> np.ndarray:
        movie = unmasked(movie, "movie", float)
        n = len(self.eye.positions)
        if movie.ndim != 2 or movie.shape[1] != n:
            raise ValueError(f"the movie has shape {movie.shape}; expected (n_frames, {n}), a number for each lens")
        check_light("movie", movie, self.contrasts)
        return movie

    def _check_learned(self) -> None:
        check_is_fitted(self, "networks_")
        check_unchanged(self, **self.learned_with_)

    def _warn(self) -> None:
        if (share := float(self.named_.mean())) < FEW:
            warnings.warn(
                f"in {1 - share:.0%} of the columns the four cells do not prefer four directions (named_): longer or "
                "more varied movies may help",
                RuntimeWarning,
                stacklevel=3,
            )

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the circuit of again."""
        check_is_fitted(self, "networks_")
        numbers = {name: getattr(self, name) for name in NUMBERS} | {
            "random_state": seed_of(self),
            "n_frames_seen": self.n_frames_seen_,
        }
        arrays = {
            "scales": np.array([inputs.scale for inputs in self.inputs_]),
            "means": np.array([inputs.mean.flat[np.abs(inputs.mean).argmax()] for inputs in self.inputs_]),
        }
        for k, name in enumerate(PATHWAYS):
            arrays[f"decorrelation_{name}"] = self.inputs_[k].decorrelation.matrices
            arrays[f"start_{name}"] = self.started_[k]
            arrays[f"S_{name}"], arrays[f"R_{name}"] = self.networks_[k].S, self.networks_[k].R
        return packed(numbers, arrays, eye=self.eye)

    @classmethod
    def unpack(cls, given: Given) -> T4T5Circuit:
        """Return the circuit that was packed."""
        eye = unpack_eye(given.part("eye"))
        kinds: dict[str, Any] = {name: given.number(name, kind) for name, kind in NUMBERS.items()}
        circuit = cls(eye, **kinds, random_state=given.seed("random_state", optional=True))
        check_parameters(circuit)
        n, m = math.prod(eye.shape), 3 * circuit.n_rings * (circuit.n_rings + 1) + 1
        matrices = [given.array(f"decorrelation_{name}", n, m, m) for name in PATHWAYS]
        patches = Patches(eye, circuit.n_rings)  # after those, which in a file take the place they say
        scales, means = given.array("scales", 2, least=1e-150).tolist(), given.array("means", 2).tolist()
        circuit.learned_with_ = {name: getattr(circuit, name) for name in LEARNED_WITH}
        circuit.patches_, circuit.n_frames_seen_ = patches, given.number("n_frames_seen", int, least=0)
        each, h = zip(matrices, scales, means, strict=True), circuit.half_saturation
        circuit.inputs_ = [CellInputs.of_matrices(A, scale, mean, patches, h) for A, scale, mean in each]
        circuit.started_ = [given.array(f"start_{name}", 4, m, n) for name in PATHWAYS]
        circuit.networks_ = [Columns.unpack(given, name, (4, m, n)) for name in PATHWAYS]
        return circuit


def _movies(movies: Any) -> Iterator[Any]:
    if isinstance(movies, np.ndarray) or not isinstance(movies, Iterable):
        yield movies
    else:
        yield from movies

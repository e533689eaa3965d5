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

import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from flymotion.circuits.column_signals import ColumnSignals
from flymotion.circuits.competing_columns import Columns
from flymotion.circuits.decorrelating import Decorrelation, normalised_covariance
from flymotion.circuits.input_neurons import PATHWAYS
from flymotion.circuits.patches import Patches
from flymotion.frames import unmasked
from flymotion.world.conventions import as_generator, not_below_0, positive
from flymotion.world.eyes import Eye
from flymotion.world.lattices import lattice_of

__all__ = ["CircuitStream", "T4T5Circuit"]

BLOCK = 64
"""Frames computed at a time."""

EARLY = 4
"""Clips, the first ones, that early vision is fitted to."""

SAMPLES = 20_000
"""Patches that it is fitted to, about."""

POOL = 2
"""Rings of columns whose outputs are summed where they are pooled."""

DECORRELATIONS = ("learned", "surround", "none")
STARTS = ("oriented", "random")


class T4T5Circuit(TransformerMixin, BaseEstimator):
    """T4 and T5 cells of all columns of an eye, four directions each, that learn online from moving scenes."""

    def __init__(
        self,
        eye: Eye,
        *,
        dt: float = 0.01,
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
        """Learn anew from a movie, shape (n_frames, n_columns), or an iterable of them, each a clip without cuts."""
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
        """Learn from one more clip, shape (n_frames, n_columns)."""
        movie = self._checked(movie)
        if not hasattr(self, "networks_"):
            self._begin([movie])
        self._learn(movie)
        return self

    def transform(self, movie: Any, *, dt: float | None = None) -> np.ndarray:
        """Respond to a movie, shape (n_frames, n_columns); returns shape (n_frames, n_columns, 8)."""
        stream, movie = self.stream(dt=dt), self._checked(movie)
        blocks = [stream.respond(block) for block in _blocks(movie)]
        return np.concatenate(blocks) if blocks else np.zeros((0, movie.shape[1], 8))

    def stream(self, *, dt: float | None = None) -> CircuitStream:
        """Return an object that answers frame by frame; the circuit does not learn from them."""
        check_is_fitted(self, "networks_")
        return CircuitStream(self, self.dt if dt is None else dt)

    @property
    def weights_(self) -> np.ndarray:
        """Effective weights onto the intensities of the patch, shape (n_columns, 8, n_offsets), NaN where no column."""
        check_is_fitted(self, "networks_")
        return self._effective([network.W for network in self.networks_])

    @property
    def start_(self) -> np.ndarray:
        """The same before learning, of the same cells."""
        check_is_fitted(self, "networks_")
        return self._effective(self.started_)

    @property
    def lateral_(self) -> np.ndarray:
        """Lateral inhibition of T4a-d, and of T5a-d, shape (n_columns, 2, 4, 4): onto rows from columns."""
        check_is_fitted(self, "networks_")
        each = []
        for network, order in zip(self.networks_, self.order_, strict=True):
            M = network.M.transpose(2, 0, 1)
            each.append(np.take_along_axis(np.take_along_axis(M, order[:, :, None], 1), order[:, None], 2))
        return np.stack(each, axis=1)

    @property
    def order_(self) -> list[np.ndarray]:
        """Which cell of T4, and of T5, is subtype a to d in each column, shape (n_columns, 4) each."""
        return [order for order, _ in self._names()]

    @property
    def named_(self) -> np.ndarray:
        """Whether a column's T4, and T5, prefer four different directions, shape (n_columns, 2)."""
        return np.stack([four for _, four in self._names()], axis=1)

    def _names(self) -> list[tuple[np.ndarray, np.ndarray]]:
        weights = [d.matrices for d in self.decorrelations_]
        found = []
        for network, A, pathway in zip(self.networks_, weights, PATHWAYS.values(), strict=True):
            onto = np.einsum("kin,nij->nkj", network.W, A) * pathway.polarity
            found.append(self.patches_.named(self.patches_.directions(onto)))
        return found

    def _effective(self, each: list[np.ndarray]) -> np.ndarray:
        found = []
        for W, decorrelation, order in zip(each, self.decorrelations_, self.order_, strict=True):
            onto = np.einsum("kin,nij->nkj", W, decorrelation.matrices)
            found.append(np.take_along_axis(onto, order[:, :, None], axis=1))
        there = self.patches_.there[:, None]
        return np.where(there, np.concatenate(found, axis=1), np.nan)

    def _learn(self, movie: np.ndarray) -> None:
        signals = self._signals(self.dt)
        pool = lattice_of(self.eye).around(POOL) if self.pooled else None
        for block in _blocks(movie):
            change, intensity, seen = signals.push(block)
            known = self.patches_.gather(seen.astype(float)).sum(axis=0) == self.patches_.there.sum(axis=1)
            for k, network in enumerate(self.networks_):
                chi = self._chi(k, change[k], intensity[k]) * known
                for t in range(0, len(block), self.every):
                    network.learn(chi[:, t], self.forgetting, pool)
        self.n_frames_seen_ += len(movie)

    def _signals(self, dt: float) -> ColumnSignals:
        return ColumnSignals(self.eye, dt, contrasts=self.contrasts, surrounds=self.decorrelation == "surround")

    def _begin(self, movies: Sequence[np.ndarray]) -> None:
        """Fit early vision to some clips, and begin with untaught cells."""
        self._check()
        patches, rng = Patches(self.eye, self.n_rings), as_generator(self.random_state)
        there, centre = patches.there, patches.centre
        samples, changes = self._sampled(movies, patches)
        h = self.half_saturation
        if self.decorrelation == "learned":
            each = [Decorrelation.fitted(normalised_covariance(x, centre, h), there, centre) for x in samples]
        else:
            each = [Decorrelation.none(x.T @ x / max(len(x), 1), there, centre) for x in samples]
        self.patches_, self.decorrelations_, self.scales_ = patches, each, changes
        self.started_, self.networks_, self.n_frames_seen_ = [], [], 0
        for pathway in PATHWAYS.values():
            W = patches.random(rng)
            W = pathway.polarity * patches.oriented() + self.scatter * W if self.start == "oriented" else W
            self.started_.append(W)
            self.networks_.append(Columns.of_weights(W, self.strength))

    def _sampled(self, movies: Sequence[np.ndarray], patches: Patches) -> tuple[list[np.ndarray], np.ndarray]:
        """Return intensities of whole patches as T4 and T5 see them, and the root mean square of their changes."""
        whole = np.flatnonzero(patches.there.sum(axis=1) == patches.there.sum(axis=1).max())
        step = max(1, sum(map(len, movies)) * len(whole) // SAMPLES)
        found: list[list[np.ndarray]] = [[], []]
        sums = np.zeros((2, 2))
        at = 0
        for movie in movies:
            signals = self._signals(self.dt)
            for block in _blocks(movie):
                change, intensity, seen = signals.push(block)
                sums += [[(c[seen] ** 2).sum(), seen.sum()] for c in change]
                known = patches.gather(seen.astype(float))[..., whole].all(axis=0).ravel()
                chosen = np.arange(-at % step, known.size, step)
                at += known.size
                for k in range(2):
                    x = patches.gather(intensity[k])[..., whole].reshape(len(patches.there.T), -1)
                    found[k].append(x[:, chosen][:, known[chosen]].T)
        scales = np.sqrt(sums[:, 0] / np.maximum(sums[:, 1], 1))
        return [np.concatenate(x) for x in found], np.where(scales > 0, scales, 1.0)

    def _chi(self, k: int, change: np.ndarray, intensity: np.ndarray) -> np.ndarray:
        """Return the change at the centre times what cells see of the patch, each bounded, (n_offsets, ..., n)."""
        x = self.decorrelations_[k](self.patches_.gather(intensity))
        size = np.maximum(self.patches_.there.sum(axis=1) - 1, 1) * self.half_saturation**2
        gain = change / np.sqrt(change**2 + self.scales_[k] ** 2)
        return x * (gain / np.sqrt((x**2).sum(axis=0) + size))

    def _checked(self, movie: Any) -> np.ndarray:
        movie = unmasked(movie, "movie", float)
        n = len(self.eye.positions)
        if movie.ndim != 2 or movie.shape[1] != n:
            raise ValueError(f"the movie has shape {movie.shape}; expected (n_frames, {n}), one column a lens")
        return movie

    def _check(self) -> None:
        positive(dt=self.dt, strength=self.strength, half_saturation=self.half_saturation)
        not_below_0(scatter=self.scatter)
        if self.decorrelation not in DECORRELATIONS or self.start not in STARTS:
            raise ValueError(
                f"decorrelation is {self.decorrelation!r} and start {self.start!r}; expected one of "
                f"{', '.join(DECORRELATIONS)}, and one of {', '.join(STARTS)}"
            )

    def _warn(self) -> None:
        lost = 1 - self.named_.mean()
        if lost > 0.2:
            warnings.warn(
                f"in {lost:.0%} of the columns the four cells do not prefer four directions: see named_",
                RuntimeWarning,
                stacklevel=3,
            )


class CircuitStream:
    """A circuit that watches: what its cells remember of the frames so far. Made by :meth:`T4T5Circuit.stream`."""

    def __init__(self, circuit: T4T5Circuit, dt: float) -> None:
        self._circuit, self._signals = circuit, circuit._signals(dt)
        self._cells = [
            (network, np.ascontiguousarray(network.W), np.ascontiguousarray(network.M)) for network in circuit.networks_
        ]
        self._orders = [order.T for order in circuit.order_]

    def push(self, frame: Any) -> np.ndarray:
        """Answer the next frame, shape (n_columns,); returns shape (n_columns, 8), NaN where inputs are."""
        return self.respond(self._circuit._checked(np.asarray(frame)[None]))[0]

    def respond(self, frames: np.ndarray) -> np.ndarray:
        """Answer some frames, shape (n_frames, n_columns); returns shape (n_frames, n_columns, 8)."""
        circuit = self._circuit
        change, intensity, seen = self._signals.push(frames)
        responses = np.empty((*frames.shape, 8))
        for k, (network, W, M) in enumerate(self._cells):
            chi = circuit._chi(k, change[k], intensity[k])
            drive = np.einsum("kin,i...n->k...n", W, chi)
            theta = network.respond(drive, M)
            theta = np.take_along_axis(theta, self._orders[k][:, None], axis=0)
            responses[..., 4 * k : 4 * k + 4] = np.moveaxis(theta, 0, -1)
        if not seen.all():
            known = circuit.patches_.gather(seen.astype(float)).sum(axis=0) == circuit.patches_.there.sum(axis=1)
            responses[~known] = np.nan
        return responses


def _movies(movies: Any) -> Iterator[Any]:
    if isinstance(movies, np.ndarray) or not isinstance(movies, Iterable):
        yield movies
    else:
        yield from movies


def _blocks(movie: np.ndarray) -> Iterator[np.ndarray]:
    return (movie[t : t + BLOCK] for t in range(0, len(movie), BLOCK))

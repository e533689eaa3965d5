"""Learned filters: scored against analytic operators, read, and taken to raw frames."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from flymotion.brevity import in_brief
from flymotion.frames import FramePairs, not_masked, unmasked
from flymotion.generators.analytic import cosine, derivative_operator, interior
from flymotion.generators.operators import Operators
from flymotion.models.packing import Given, Packed, packed
from flymotion.world.channels import CHANNELS, TwoChannels
from flymotion.world.eyes import as_eye
from flymotion.world.kinds_of_eyes import unpack_eye

__all__ = ["Generators", "Match", "by_channel"]


class Match(NamedTuple):
    """How learned filters are assigned to analytic operators, each filter to another sign or operator.

    Attributes
    ----------
    parameter : ndarray of int, shape (n_components,)
        The operator that each filter is like; -1 for filters left over.
    sign : ndarray, shape (n_components,)
        1 or -1: the direction of motion that the filter prefers; 0 for filters left over.
    cosine : ndarray, shape (n_components,)
        Cosine with the operator of that sign; 0 for filters left over.

    Examples
    --------
    >>> from flymotion.generators import derivative_operator
    >>> right, down = (derivative_operator((3, 3), angle) for angle in (0, -90))
    >>> match = Generators([-down, right, down], (3, 3)).match(np.stack([right, down]))
    >>> match.parameter, match.sign, match.cosine.round(2)  # up, right and down, of operators that go right and down
    (array([1, 0, 1]), array([-1.,  1.,  1.]), array([1., 1., 1.]))
    """

    parameter: np.ndarray
    sign: np.ndarray
    cosine: np.ndarray

    def __repr__(self) -> str:
        return in_brief(self)


@dataclass(frozen=True, eq=False)
class Generators:
    """Operators on the frames of one eye.

    Parameters
    ----------
    operators : ndarray, shape (n_components, n_pixels, n_pixels)
        Row i: the weights onto the change at pixel i.
    eye : Eye or tuple of int
        Whose frames; for a line or grid of pixels their number, (n,) or (height, width), will do.
    whitening : ndarray, shape (n_pixels, n_pixels), optional
        The symmetric matrix Z that frames were multiplied by before learning.

    Raises
    ------
    ValueError
        Operators that do not fit the eye.

    Examples
    --------
    >>> A = Generators(derivative_operator((5,))[None], (5,))
    >>> A.antisymmetric_share().round(2), A.directions()
    (array([1.]), array([0.]))
    """

    operators: np.ndarray
    eye: Any
    whitening: np.ndarray | None = None

    __repr__ = in_brief

    def __post_init__(self) -> None:
        operators = unmasked(self.operators, "operators", float)
        not_masked(self.whitening, "whitening")
        object.__setattr__(self, "eye", as_eye(self.eye))
        n = int(np.prod(self.shape))
        if operators.ndim != 3 or operators.shape[1:] != (n, n):
            raise ValueError(f"operators of shape {operators.shape} for frames of {self.shape}; expected (K, {n}, {n})")
        object.__setattr__(self, "operators", operators)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one frame."""
        return self.eye.shape

    def __len__(self) -> int:
        return len(self.operators)

    def __getitem__(self, which: Any) -> Generators:
        """Return some of the generators."""
        which = [which] if isinstance(which, (int, np.integer)) else which
        return replace(self, operators=self.operators[which])

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the generators of again."""
        return packed({}, {"operators": self.operators, "whitening": self.whitening}, eye=self.eye)

    @classmethod
    def unpack(cls, given: Given) -> Generators:
        """Return the generators that were packed.

        Raises
        ------
        ValueError
            What are no generators.
        """
        operators = given.array("operators", None, None, None, types=["float64"])
        n = operators.shape[2]
        return cls(operators, unpack_eye(given.part("eye")), given.array("whitening", n, n, optional=True))

    def in_pixels(self) -> Generators:
        """Return the operators that give the same output on frames that were not whitened, ``Z A Z``.

        Examples
        --------
        >>> whitened = Generators(derivative_operator((3,))[None], (3,), whitening=np.diag([1.0, 2.0, 1.0]))
        >>> whitened.in_pixels().operators[0]
        array([[ 0., -1.,  0.],
               [ 1.,  0., -1.],
               [ 0.,  1.,  0.]])
        """
        if self.whitening is None:
            return self
        return Generators(self.whitening.T @ self.operators @ self.whitening, self.eye)

    # -- against analytic operators ------------------------------------------------------------------------------

    def match(self, analytic: Generators | np.ndarray) -> Match:
        """Assign each filter to an analytic operator and sign, so that the sum of cosines is greatest.

        An operator is given at most once with each sign. Filters beyond twice the operators are left over.

        Parameters
        ----------
        analytic : Generators or array-like, shape (n_parameters, n_pixels, n_pixels)
            On frames as these filters see them, e.g. :meth:`flymotion.generators.theory.Population.generators`.
        """
        return _assign(self.cosines(analytic))

    def fitted(self, pairs: FramePairs, *, ridge: float = 1e-4) -> Operators:
        """Return one operator a parameter, on raw frames, matched and scaled by pairs of known motion, and refined.

        Filters are assigned to parameters and signs by the correlation of their outputs with the motion, so no analytic
        operator need be known, as of photographs it is not.

        Parameters
        ----------
        pairs : FramePairs
            Raw frames, with their motion, each mostly along one parameter.
        ridge : float
            As for :meth:`flymotion.generators.Operators.refined`.

        Raises
        ------
        ValueError
            Pairs without motion, or a parameter that no filter follows.

        Examples
        --------
        >>> from flymotion import ExponentialNoise, Line, Translation, sample_pairs
        >>> scene = ExponentialNoise(period=4096.0, random_state=0)
        >>> pairs = sample_pairs(scene, Line(7), Translation(0.5, ndim=1), 2000, random_state=0)
        >>> D = derivative_operator(Line(7))
        >>> right = Generators([0.1 * D, -3.0 * D], Line(7)).fitted(pairs)  # filters have no scale, operators have
        >>> round(float(np.corrcoef(right.estimate(pairs)[:, 0], pairs.motion[:, 0])[0, 1]), 2)
        0.99
        """
        if pairs.motion is None:
            raise ValueError("the pairs' motion is not known; expected it, to name and scale the filters by")
        flat = pairs.flat()
        mean = flat.before.mean(axis=0)
        middle, change = (flat.before + flat.after) / 2 - mean, flat.after - flat.before
        detectors = self.in_pixels().operators
        outputs = np.stack([((middle @ A.T) * change).sum(axis=1) for A in detectors], axis=1)  # Eq. 10
        sizes = np.linalg.norm(outputs, axis=0)[:, None] * np.linalg.norm(pairs.motion, axis=0)
        likeness = np.divide(outputs.T @ pairs.motion, sizes, out=np.zeros_like(sizes), where=sizes > 0)
        signed = self._signed(_assign(likeness), likeness.shape[1])
        raw = replace(Generators(signed, self.eye, self.whitening).on_raw_frames(), mean=mean)
        return raw.scaled(pairs).refined(pairs, ridge=ridge)

    def _signed(self, match: Match, n_parameters: int) -> np.ndarray:
        """Add up the matched filters of each parameter, of norm 1 and with their signs."""
        if missing := set(range(n_parameters)).difference(match.parameter.tolist()):
            raise ValueError(f"no filter matches the parameters {sorted(missing)}; {len(self)} filters were learned")
        matched = match.parameter >= 0
        unit = self.operators[matched]
        unit = unit / np.maximum(np.linalg.norm(unit, axis=(1, 2), keepdims=True), 1e-300)
        signed = np.zeros((n_parameters, *unit.shape[1:]))
        np.add.at(signed, match.parameter[matched], match.sign[matched, None, None] * unit)
        return signed

    def on_raw_frames(self) -> Operators:
        """Return the operators that move raw frames as these move whitened ones, ``Z^-1 A Z``."""
        if self.whitening is None:
            return Operators(self.operators, self.eye)
        # directions that the whitening leaves out stay out
        return Operators(np.linalg.pinv(self.whitening, rcond=1e-10) @ self.operators @ self.whitening, self.eye)

    # -- scores --------------------------------------------------------------------------------------------------

    def cosines(self, analytic: Generators | np.ndarray) -> np.ndarray:
        """Cosines with analytic operators, shape (m, n_pixels, n_pixels) or one of them; shape (n_components, m)."""
        return cosine(self.operators[:, None], self._operators_of(analytic))

    def _operators_of(self, analytic: Generators | np.ndarray) -> np.ndarray:
        operators = analytic.operators if isinstance(analytic, Generators) else unmasked(analytic, "analytic", float)
        return operators.reshape(-1, *self.operators.shape[1:])

    def antisymmetric_share(self) -> np.ndarray:
        """Share of each operator's energy that is antisymmetric, shape (n_components,)."""
        return self._share((self.operators - self.operators.swapaxes(1, 2)) / 2, self.operators)

    def toeplitz_share(self, margin: int = 1) -> np.ndarray:
        """Share of the energy of the interior rows that is the same operator at every pixel; shape (n_components,).

        Parameters
        ----------
        margin : int
            Rows of pixels nearer than this to the border are left out: they look past it.
        """
        inside = interior(self.eye, margin)
        rows = self.operators[:, inside]
        offsets = self._offsets()[inside]
        if isinstance(self.eye, TwoChannels):  # pixels of two channels are as far apart as those of one
            half = np.ones((len(inside) // 2,) * 2)
            which = np.kron([[0, 1], [2, 3]], half)[inside]
            offsets = np.concatenate([offsets, which[..., None]], axis=-1)
        offsets = offsets.reshape(-1, offsets.shape[-1])
        _, group = np.unique(offsets.round(6), axis=0, return_inverse=True)
        group = group.ravel()
        flat = rows.reshape(len(rows), -1)
        sums = np.stack([np.bincount(group, weights=r) for r in flat])
        shared = (sums / np.bincount(group))[:, group]
        return self._share(shared.reshape(rows.shape), rows)

    def locality(self, radius: float = 1.0) -> np.ndarray:
        """Share of each operator's energy between pixels at most ``radius`` apart, shape (n_components,).

        Distances are in pixel spacings; on the sphere they are chords of the unit sphere.
        """
        near = np.linalg.norm(self._offsets(), axis=2) <= radius + 1e-9
        return self._share(self.operators * near, self.operators)

    def directions(self) -> np.ndarray:
        """Direction of content that each operator prefers [deg]: 0 = right, 90 = up; shape (n_components,).

        Read off the filters' shape alone: of the derivatives in all directions the likest. What responses to moving
        frames say, :attr:`flymotion.MotionLearner.directions_`, depends on what was shown, and differs by up to 5
        degrees for filters learned from photographs and video. NaN of operators that are 0, as those of units that have
        never answered are.

        Raises
        ------
        ValueError
            A spherical eye.
        """
        ndim = self.eye.positions.shape[1]
        if ndim == 3:
            raise ValueError("a spherical eye has no one direction of content; match its generators with analytic ones")
        analytic = np.stack([derivative_operator(self.eye, angle) for angle in (0.0, 90.0)[:ndim]])
        # least squares: frames that are not square hold more neighbours along one axis than along the other
        along = self.operators.reshape(len(self), -1) @ np.linalg.pinv(analytic.reshape(len(analytic), -1))
        up = along[:, 1] if ndim == 2 else np.zeros(len(along))
        directions = np.degrees(np.arctan2(up, along[:, 0])) % 360.0
        return np.where(self.operators.any(axis=(1, 2)), directions, np.nan)

    @property
    def answering(self) -> np.ndarray:
        """Indices of operators that are not 0, as those of units that have never answered are; shape (n_answering,)."""
        return np.flatnonzero(self.operators.any(axis=(1, 2)))

    def rows(self, pixel: int | None = None) -> np.ndarray:
        """Weights onto the change at one pixel (the middle one by default), shape (n_components, *shape)."""
        if pixel is None:
            far = np.linalg.norm(self.eye.positions - self.eye.positions.mean(axis=0), axis=1).round(9)
            pixel = int(np.flatnonzero(far == far.min())[-1])
        return self.operators[:, pixel].reshape(len(self), *self.shape)

    def _share(self, part: np.ndarray, whole: np.ndarray) -> np.ndarray:
        energy = (whole**2).sum(axis=(1, 2))
        return np.divide((part**2).sum(axis=(1, 2)), energy, out=np.zeros_like(energy), where=energy > 0)

    def _offsets(self) -> np.ndarray:
        return self.eye.positions[None, :, :] - self.eye.positions[:, None, :]


def by_channel(generators: Generators) -> dict[tuple[str, str], Generators]:
    """Return the parts of filters of two channels, each on the frames of the eye itself.

    Parameters
    ----------
    generators : Generators
        Of :class:`flymotion.world.TwoChannels`, as filters of pairs after ON and OFF are.

    Returns
    -------
    dict of (str, str) to Generators
        By the channels of the change and of the intensity: ("ON", "ON"), ("ON", "OFF"), ("OFF", "ON"), ("OFF", "OFF").

    Raises
    ------
    ValueError
        Generators of an eye without channels.

    Examples
    --------
    >>> from flymotion.world.eyes import Line
    >>> A = Generators(derivative_operator(TwoChannels(Line(3)))[None], TwoChannels(Line(3)))
    >>> by_channel(A)["ON", "ON"].directions(), by_channel(A)["ON", "OFF"].operators.any()
    (array([0.]), np.False_)
    """
    eye = generators.eye
    if not isinstance(eye, TwoChannels):
        raise ValueError(f"the generators are of {type(eye).__name__}; expected those of two channels, ON and OFF")
    n = len(eye.eye.positions)
    parts = {name: slice(k * n, (k + 1) * n) for k, name in enumerate(CHANNELS)}
    return {
        (change, intensity): Generators(generators.operators[:, rows, columns], eye.eye)
        for change, rows in parts.items()
        for intensity, columns in parts.items()
    }


def _assign(likeness: np.ndarray) -> Match:
    """Assign rows, filters, to columns, parameters, and signs."""
    n = likeness.shape[1]
    which, target = linear_sum_assignment(-np.hstack([likeness, -likeness]))
    parameter, sign, value = np.full(len(likeness), -1), np.zeros(len(likeness)), np.zeros(len(likeness))
    parameter[which], sign[which] = target % n, np.where(target < n, 1.0, -1.0)
    value[which] = sign[which] * likeness[which, target % n]
    return Match(parameter, sign, value)

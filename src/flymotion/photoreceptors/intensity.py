"""Photoreceptors: the noise of light and of sensors, and intensity made contrast."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_non_negative

from flymotion.models.packing import Given, Packed, inputs_of, packed, restore_inputs, seed_of
from flymotion.photoreceptors.stage import EarlyVision, not_negative
from flymotion.world.conventions import as_generator

__all__ = ["LogIntensity", "SensorNoise", "WeberContrast"]

SMALLEST = float(np.finfo(np.float64).tiny)
"""Least intensity of a floor or mean."""


MOST_PHOTONS = 1e18
"""Photons a pixel that numpy's generator can draw."""


class LogIntensity(EarlyVision):
    r"""Logarithm of intensity above a floor, :math:`\log \max(x / f \bar x, 1)`: equal contrasts become equal steps.

    Intensities at or below the floor, also negative ones, become 0. The mean :math:`\bar x` of the absolute intensities
    fitted on sets the floor, so that the unit of intensity does not matter.

    Parameters
    ----------
    floor : float
        f: the floor, relative to the mean intensity. Through a fly's optics natural scenes are darkest at 0.01 or more,
        even with the sun in view.

    Attributes
    ----------
    floor_ : float
        The floor in the unit of the frames; f itself where those fitted on are black.

    Raises
    ------
    ValueError
        In ``fit``, for a floor that is not positive and finite.

    Examples
    --------
    >>> import numpy as np
    >>> LogIntensity(0.1).fit([[1.0]]).transform(0.1 * np.exp([[-1.0], [0.0], [1.0], [2.0]])).round(9).ravel()
    array([0., 0., 1., 2.])
    """

    _learned_with: ClassVar[tuple[str, ...]] = ("floor",)

    def __init__(self, floor: float = 1e-2) -> None:
        self.floor = floor

    def _check_parameters(self) -> None:
        if not 0 < self.floor < np.inf:
            raise ValueError(f"floor is {self.floor}; expected more than 0, finite")

    def _fit(self, X: np.ndarray) -> None:
        self.floor_ = self.floor * (float(np.abs(X).mean(dtype=np.float64)) or 1.0)

    def _transform(self, *frames: np.ndarray) -> tuple[np.ndarray, ...]:
        floor = frames[0].dtype.type(self.floor_)
        return tuple(np.log(np.maximum(x, floor) / floor) for x in frames)

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the stage of again."""
        self._check_remembered()
        return packed({"floor": self.floor, "floor_fitted": self.floor_} | inputs_of(self))

    @classmethod
    def unpack(cls, given: Given) -> LogIntensity:
        """Return the stage that was packed."""
        stage = cls(given.number("floor", least=SMALLEST))
        stage.floor_ = float(given.number("floor_fitted", least=SMALLEST))
        restore_inputs(stage, given)
        stage._remember()
        return stage


class WeberContrast(EarlyVision):
    r"""Weber contrast, :math:`(x - \bar x) / \bar x`: 0 at the mean intensity, -1 in the dark.

    The mean is one for all pixels: a mean for each would remove what stands still.

    Attributes
    ----------
    mean_ : float
        :math:`\bar x`: mean of all intensities fitted on.

    Raises
    ------
    ValueError
        In ``fit``, for negative intensities, or frames that are black. ``transform`` takes negative ones, as noise
        makes them.

    Examples
    --------
    >>> WeberContrast().fit([[2.0, 6.0]]).transform([[4.0, 6.0], [0.0, 2.0]])
    array([[ 0. ,  0.5],
           [-1. , -0.5]])
    """

    def _fit(self, X: np.ndarray) -> None:
        check_non_negative(X, "WeberContrast, which expects intensities")
        self.mean_ = float(X.mean(dtype=np.float64))
        if not self.mean_ > 0:
            raise ValueError("the frames are black, mean intensity 0; expected light to compare with")

    def _transform(self, *frames: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(((x.astype(np.float64) - self.mean_) / self.mean_).astype(x.dtype) for x in frames)

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the stage of again."""
        self._check_remembered()
        return packed({"mean": self.mean_} | inputs_of(self))

    @classmethod
    def unpack(cls, given: Given) -> WeberContrast:
        """Return the stage that was packed."""
        stage = cls()
        stage.mean_ = float(given.number("mean", least=SMALLEST))
        restore_inputs(stage, given)
        stage._remember()
        return stage

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class SensorNoise(EarlyVision):
    r"""Noise, new for every frame and pixel: of sensors, :math:`x + \eta n`, or of light.

    The noise of light is that of counting photons: a pixel of intensity x catches :math:`N \sim` Poisson
    :math:`(x / \eta^2)` of them and shows :math:`\eta^2 N`, of mean x and standard deviation :math:`\eta \sqrt x`.

    Parameters
    ----------
    level : float
        :math:`\eta`: the standard deviation of the noise; of photon noise, at intensity 1 [units of the frames].
    kind : {"gaussian", "photon"}
        Sensors or light. Light has to be intensities, 0 or more.
    random_state : int, Generator, RandomState or None
        Source of the noise.

    Attributes
    ----------
    generator_ : numpy Generator
        Where the noise comes from. ``fit`` starts it, and every call of ``transform`` goes on from where the last one
        ended: frames in any number of calls get the noise of one call.

    Raises
    ------
    ValueError
        In ``fit``, for a negative level or an unknown kind; for negative intensities of light.

    Notes
    -----
    The frames of a pair get noise of their own. Pairs of a movie share frames, so that noise belongs on the movie,
    before :func:`~flymotion.frames.pair_up`.

    Examples
    --------
    >>> import numpy as np
    >>> noisy = SensorNoise(0.1, "photon", random_state=0).fit_transform(np.full((100_000, 1), 4.0))
    >>> round(float(noisy.mean()), 2), round(float(noisy.std()), 2)
    (4.0, 0.2)
    """

    def __init__(self, level: float = 0.1, kind: str = "gaussian", random_state: Any = None) -> None:
        self.level = level
        self.kind = kind
        self.random_state = random_state

    def _check_parameters(self) -> None:
        not_negative(level=self.level)
        if self.kind not in ("gaussian", "photon"):
            raise ValueError(f"kind is {self.kind!r}; expected 'gaussian' or 'photon'")

    def _fit(self, X: np.ndarray) -> None:
        self._check(X)
        self.generator_ = as_generator(self.random_state)

    def _transform(self, *frames: np.ndarray) -> tuple[np.ndarray, ...]:
        x = np.stack(frames, axis=1)  # pair by pair, so that the noise does not depend on how a stream is cut
        self._check(x)
        return tuple(self._noisy(x.astype(np.float64)).astype(x.dtype).swapaxes(0, 1))

    def _noisy(self, x: np.ndarray) -> np.ndarray:
        if self.kind == "gaussian":
            return x + self.level * self.generator_.standard_normal(x.shape)
        photon = float(self.level) ** 2
        return photon * self.generator_.poisson(x / photon) if photon > 0 else x

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the stage of again; its noise goes on from where it ended.

        Raises
        ------
        ValueError
            Noise from another generator than numpy's own, PCG64.
        """
        self._check_remembered()
        source = self.generator_.bit_generator.state
        if source["bit_generator"] != "PCG64":
            raise ValueError(f"the noise comes from {source['bit_generator']}; expected PCG64, numpy's own")
        numbers = {"level": self.level, "kind": self.kind, "random_state": seed_of(self)}
        return packed(numbers | {"generator": source} | inputs_of(self))

    @classmethod
    def unpack(cls, given: Given) -> SensorNoise:
        """Return the stage that was packed."""
        level, kind = given.number("level", least=0), given.number("kind", str, among=("gaussian", "photon"))
        stage = cls(level, kind, given.seed("random_state", optional=True))
        restore_inputs(stage, given)
        stage.generator_ = np.random.Generator(_unpack_pcg64(given.part("generator")))
        stage._remember()
        return stage

    def _check(self, x: np.ndarray) -> None:
        if self.kind == "photon":
            check_non_negative(x, "SensorNoise of light, which expects intensities")
            if self.level > 0 and x.max() > MOST_PHOTONS * self.level**2:
                raise ValueError(
                    f"intensities up to {x.max():.0e} at a level of {self.level} are more than "
                    f"{MOST_PHOTONS:.0e} photons a pixel; expected fewer"
                )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.positive_only = self.kind == "photon"
        return tags


def _unpack_pcg64(given: Given) -> np.random.PCG64:
    generator, words = np.random.PCG64(0), given.part("state")
    state: Any = {
        "bit_generator": given.number("bit_generator", str, among=["PCG64"]),
        "state": {name: words.number(name, int, least=0, most=2**128 - 1) for name in ("state", "inc")},
        "has_uint32": given.number("has_uint32", int, least=0, most=1),
        "uinteger": given.number("uinteger", int, least=0, most=2**32 - 1),
    }
    generator.state = state
    return generator

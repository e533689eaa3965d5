"""flymotion: networks that learn to see motion the way the fly does.

The names below are imported when first used, so that ``import flymotion`` costs nothing.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "circuits": ["CompartmentalNeurons", "T4T5Circuit"],
    "detecting": ["detect"],
    "detectors": ["DETECTORS", "Detector"],
    "field": ["MotionField"],
    "frames": ["FramePairs", "pair_up"],
    "generators": ["Generators", "Operators"],
    "keeping": ["ModelError", "export_onnx", "load", "save"],
    "learner": ["MotionLearner", "learn"],
    "photoreceptors": [
        "ContrastNormalization",
        "DivisiveNormalization",
        "LogIntensity",
        "OnOff",
        "SensorNoise",
        "WeberContrast",
        "ZCAWhitening",
    ],
    "similarity": ["NonnegativeSimilarityMatching", "OuterProducts", "SimilarityMatching", "outer_products"],
    "stimuli": ["STIMULI", "Stimulus"],
    "tuning": ["tune"],
    "video": ["Camera", "OntoEye", "open_movie", "read_movie"],
    "world": [
        *("CompoundEye", "Grid", "Hexagon", "Line", "Sphere", "TwoChannels", "acceptance_sigma", "buchner", "read_eye"),
        *("Mixture", "Motion", "Rotation", "SelfTranslation", "Shear", "Translation", "Turn", "Zoom"),
        *("render", "sample_pairs"),
    ],
    "world.scenes": [
        "Bar",
        "Dot",
        "Edge",
        "ExponentialNoise",
        "Grating",
        "SmoothNoise",
        "SphericalNoise",
        "SquareGrating",
        "panorama",
        "photograph",
    ],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'flymotion' has no attribute {name!r}")
    value = getattr(import_module(f"flymotion.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

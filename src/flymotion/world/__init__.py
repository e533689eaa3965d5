"""The world and who looks at it: eyes, scenes, motions, and the one renderer."""

from flymotion.world.channels import TwoChannels
from flymotion.world.compound_eyes import CompoundEye, both, buchner, read_eye
from flymotion.world.conventions import as_generator, unit_vector
from flymotion.world.eyes import FLY_SIGMA, Eye, Grid, Hexagon, Line, Sphere, acceptance_sigma, as_eye
from flymotion.world.motions import Mixture, Motion, Rotation, SelfTranslation, Shear, Translation, Turn, Zoom
from flymotion.world.patching import around_pixels
from flymotion.world.rendering import render, sample_pairs

__all__ = [
    "FLY_SIGMA",
    "CompoundEye",
    "Eye",
    "Grid",
    "Hexagon",
    "Line",
    "Mixture",
    "Motion",
    "Rotation",
    "SelfTranslation",
    "Shear",
    "Sphere",
    "Translation",
    "Turn",
    "TwoChannels",
    "Zoom",
    "acceptance_sigma",
    "around_pixels",
    "as_eye",
    "as_generator",
    "both",
    "buchner",
    "read_eye",
    "render",
    "sample_pairs",
    "unit_vector",
]

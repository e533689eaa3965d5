"""What each figure shows, and what to see in it: its caption, and what is read out of it where it cannot be seen.

In ``see`` an id of a row in braces, ``{C8.noise}``, stands for what was measured.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CAPTIONS", "Caption", "caption_of"]

TRANSLATIONS = "An array of images: in each pixel's tile, the weights of its change onto the intensities"


class Caption(NamedTuple):
    """Of a figure."""

    claims: tuple[str, ...]
    """Those that it belongs to, the first first."""
    shows: str
    """What is drawn, in a sentence without its full stop."""
    see: str
    """What to see in it."""


CAPTIONS = {
    "figure1": Caption(
        ("C26",),
        "Three networks on the same digits: who has to know what, feedforward weights of eight units, and lateral "
        "weights",
        "Single weights differ, as any rotation of them spans the same; off the diagonal lateral weights are weak.",
    ),
    "rings": Caption(
        ("C26",),
        "Outputs of eight units along a ring, one colour each: a circle, and photographs turned, with their mean and "
        "without",
        "Where the mean is removed, each unit has a part of the ring (width {C26.ring_width}); where it is left, none "
        "is ever silent ({C26.ring_as_it_is_width}).",
    ),
    "figure2_L1": Caption(
        ("C1", "C2"),
        "Filters of five pixels, world L1: the cartoon, theory, the start alone, SM, NSM, PCA and K-means, as matrices",
        "Opposite signs on both sides of the diagonal: a derivative. The start alone has them, too.",
    ),
    "figure2_L2": Caption(
        ("C1", "C2"),
        "The same in world L2, of a fly's optics, larger shifts, and the midpoint feature",
        "The same derivative, and second components that are less regular.",
    ),
    "three_pixels": Caption(
        ("C4",),
        "The filter of L1, the same cut to three pixels a row, and outputs of both on new pairs",
        "Outputs lie nearly on a line where frames are whitened and without noise, of photographs less so.",
    ),
    "pixels_cost": Caption(
        ("C4",),
        "Share of pairs whose direction the best detector of each number of pixels tells, without and with noise",
        "What a third pixel adds to the best row of the filter, at the least: {C4.row_two_to_three}. Single marks are "
        "the HRD and the cartoon.",
    ),
    "speeds": Caption(
        ("C8",),
        "Mean output of both units against speed: gratings of four wavelengths, and noise",
        "The unit of the motion rises to a quarter of a wavelength a frame and falls beyond; the other stays at 0.",
    ),
    "content": Caption(
        ("C9",),
        "Accuracy lost by learning from another class of scenes, against the size of the eye; and the accuracies",
        "Off the diagonal of the upper maps, what one class taught serves photographs less, and others hardly less "
        "where "
        "pixels are many; units that add (lower maps) are near chance everywhere.",
    ),
    "filters_rotation_exponential_wide": Caption(
        ("C10", "C12"),
        f"{TRANSLATIONS}; both senses of rotation",
        "Opposite signs ahead and behind along the turn, and less, but not nothing, on the pixel itself.",
    ),
    "filters_translation_exponential_wide": Caption(
        ("C13",),
        f"{TRANSLATIONS}; right, up, left and down, acceptance 0.8 pixels",
        "Opposite signs on both sides of the pixel, along the motion.",
    ),
    "filters_translation_exponential_fly": Caption(
        ("C13",),
        f"{TRANSLATIONS}; right, up, left and down, acceptance 0.475 pixels, a fly's",
        "Less antisymmetric: the pixel's own weight is no longer small, and opposite units share more.",
    ),
    "filters_affine": Caption(
        ("C29",),
        f"{TRANSLATIONS}; twelve affine motions of 9 x 9 pixels",
        "Each unit has one of the twelve: their signs turn about the middle as the motion's flow does.",
    ),
    "turned_bars": Caption(
        ("C11",),
        "A diagonal bar, turned in nine steps of 10 degrees: by first-order steps, by the exponential, and in truth",
        "First-order steps leave artefacts that grow, the exponential hardly any.",
    ),
    "regression": Caption(
        ("C33",),
        "Share of what can be known of velocity that correlations know, and the best penalty, against signal to noise",
        "The operator that the noise calls for explains nearly all below 10 dB, the central difference never.",
    ),
    "equivalence": Caption(
        ("C16", "C20"),
        "Outputs of one detector of each kind, of their sums over 60 pixels, and the boundary's share of the sums",
        "Left: three different curves. Middle: nearly one. Right: a line of slope -1.",
    ),
    "contrast_response": Caption(
        ("C17",),
        "Summed output against contrast, of gratings and of photographs; signals as they are, and normalised before",
        "Straight lines of slope 2 where nothing normalises; how flat the others are depends on the constant.",
    ),
    "oscillations": Caption(
        ("C18",),
        "Output of single detectors in time before a grating, at zero mean luminance and about a mean, and its mean",
        "The three-pixel detector oscillates at twice the grating's frequency; a whole learned patch hardly does.",
    ),
    "velocity_tuning": Caption(
        ("C19",),
        "Summed output against velocity, one panel a kind of detector, and the best velocity against wavelength",
        "Each curve rises and falls, and the best velocities lie on lines through 0.",
    ),
    "compartments": Caption(
        ("C21",),
        "The neuron, its learned synapses, its filter beside the algorithm's, and its soma against dx' W x",
        "With both kinds of synapses the soma is the product; with excitatory ones alone it is not.",
    ),
    "compartments_map": Caption(
        ("C21",),
        "How far the soma is the product dx' W x, over the shunt, the synapses and the change; pairs of branches, and "
        "one",
        "Inside the white line the correlation is more than 0.95; the cross is where the claim is stated.",
    ),
    "dendrites": Caption(
        ("C22",),
        "Learned weights about the centre on a hexagonal eye, and the connectome's synapses, of eight subtypes; "
        "arrows are preferred directions",
        "Opposite signs before and behind the centre along the arrow, learned (on whitened intensities) and in the "
        "connectome; T5's are the other way round.",
    ),
    "along_preferred": Caption(
        ("C22",),
        "The same, summed along the preferred direction, times the sign at the centre: the connectome, and what was "
        "learned, whitened and in pixels",
        "On the preferred side the connectome is negative; learned weights are where intensities are whitened, "
        "clearly in "
        "noise and hardly of photographs, and in pixels mostly are not.",
    ),
    "input_parts": Caption(
        ("C22",),
        "Published filters of the inputs of T4 and T5, and how alike their signals are to change and to intensity",
        "Transient filters follow the change, sustained ones the intensity, each at its best delay.",
    ),
    "on-off-filters": Caption(
        ("C24",),
        "Filters that learn from the ON half of contrast, from the OFF half, and their difference, four directions",
        "The last row is nearly empty: both halves teach nearly the same.",
    ),
    "on-off": Caption(
        ("C24",),
        "What differs between ON and OFF cells, with intervals over blocks of photographs, beside nulls",
        "Nearly all intervals hold 0.",
    ),
    "reconstructed_L1": Caption(
        ("C25",),
        "Operators that the reconstruction approach learns in L1 with nonnegative magnitudes",
        "One a direction: opposite derivatives, as NSM's filters are.",
    ),
    "reconstructed_rotation": Caption(
        ("C25",),
        f"{TRANSLATIONS}; operators reconstructed from rotations with nonnegative magnitudes",
        "One a sense, as NSM's.",
    ),
    "reconstructed_translation": Caption(
        ("C25",),
        f"{TRANSLATIONS}; operators reconstructed from translations with nonnegative magnitudes",
        "One a direction, as NSM's.",
    ),
    "filters_turns": Caption(
        ("C27",),
        "The flow that each filter of a spherical eye implies, on maps of the sphere: azimuth across, elevation up",
        "Arrows circle one axis in each map: roll, pitch and yaw, both ways.",
    ),
    "motion_map": Caption(
        ("C28",),
        "Whether the first component is motion or blur, over optics and shift: theory as colour, samples as marks",
        "Circles (motion) and crosses (blur) fall on either side of theory's boundary; the midpoint feature learns "
        "motion nearly everywhere.",
    ),
    "cells": Caption(
        ("C30",),
        "Direction tuning of eight cells, recorded and learned from video, and the learned filters' middle rows",
        "Learned curves peak where the cells do; away from their peaks cells still answer, and learned detectors do "
        "not.",
    ),
    "products": Caption(
        ("C31",),
        "What only the product of change and intensity explains of outputs of units that add and then bend",
        "Of a unit's variance the product explains much in a squared sum, little in a rectified one, and next to "
        "nothing in published conductances; of the difference between opposite directions it makes most in all three.",
    ),
    "products_by_parameter": Caption(
        ("C31",),
        "The same of one unit over both parameters of each kind, of gratings and of noise",
        "The share goes by threshold, exponent and gain; it is small over all conductances.",
    ),
    "literal_network": Caption(
        ("C36", "C34"),
        "Cosines with the population's filter from random starts, those that succeed and those that fail; steps to "
        "settle",
        "Units of a start that fails (solid and dashed) end alike, or one of them learns little; more units need more "
        "steps.",
    ),
    "starts": Caption(
        ("C37",),
        "Share of seeds that find all directions from each start, with intervals; on a line, and in the plane",
        "Dendrites that point apart, with weak random weights beside, find all on a line; random filters find some.",
    ),
    "starts_filters": Caption(
        ("C37",),
        "Filters before and after learning from random filters, dendrites to both sides, and opposite dendrites",
        "Opposite dendrites end as opposite derivatives.",
    ),
    "starts_noise": Caption(
        ("C37",),
        "Share of pairs named, against signal to noise: before learning, after it, and what can be known",
        "The start tells much of what is learned, and more than that where noise is strong; both stay below what can "
        "be "
        "known.",
    ),
    "circuit-turns": Caption(
        ("C38",),
        "Share of columns of the trained circuit that tell where content moves, by the axis of the turn, beside nulls",
        "Learned columns (first row) are told from those of random weights, and hardly from the start alone.",
    ),
    "circuit-cells": Caption(
        ("C38",),
        "Direction tuning of the circuit's cells beside recordings, and two nulls",
        "At the full size learned curves peak about where recorded ones do, at the quick one some do not; their widths "
        "differ.",
    ),
}
"""By the names of the figures."""


def caption_of(name: str) -> Caption:
    """Return the caption of a figure; of one that has none, its name."""
    return CAPTIONS.get(name, Caption((), name.replace("_", " "), ""))

"""What experiments found in the summed motion signal (Section 3.3): contrast, oscillations, velocity (C17, C18, C19).

The three-pixel detector, the Hassenstein-Reichardt detector (HRD), and filters learned in L1 and L2 look at gratings.
Learned filters are in pixel coordinates, and their opponent signal is the right unit's response less the left unit's;
read as a whole patch, or by the change at the central pixel alone, as one T4 would (Section 3.2).
"""

from flymotion.claims.global_motion.detectors import DT, FILTERS, NAMES, READINGS, TAU, Config
from flymotion.claims.global_motion.responses import Measured
from flymotion.claims.global_motion.statements import Result, check, jobs, peak_velocities, run, slopes

__all__ = [
    "DT",
    "FILTERS",
    "NAMES",
    "READINGS",
    "TAU",
    "Config",
    "Measured",
    "Result",
    "check",
    "jobs",
    "peak_velocities",
    "run",
    "slopes",
]

"""
Compare detectors
=================

Published motion detectors, and one of your own, through the same classic experiments. ``flymotion compare`` does it
with all of them.
"""

import numpy as np

from flymotion import DETECTORS, tune
from flymotion.detectors import barlow_levick, hassenstein_reichardt, three_pixel
from flymotion.plots import draw_sheet
from flymotion.stimuli import drifting_grating, reverse_phi
from flymotion.tuning import characterise, direction_selectivity, peak

print(", ".join(DETECTORS))

# %%
# A sheet
# -------
# A row a detector, a column an experiment. The paper's three-pixel detector multiplies a pixel's change with the
# difference of both neighbours; the HRD correlates two pixels, one of them late; Barlow and Levick's vetoes what comes
# from the wrong side.

chosen = {"three_pixel": three_pixel(), "hrd": hassenstein_reichardt(), "barlow_levick": barlow_levick()}
characters = {name: characterise(detector) for name, detector in chosen.items()}
sheet = draw_sheet(characters)

# %%
# In numbers
# ----------
# Selectivity is of gratings, to the right against to the left; the best frequency of an HRD is 1 / (2 pi tau), with
# its low-pass of 150 ms. NaN says that the curve is largest at the end of the axis.

for name, detector in chosen.items():
    design = {"temporal_frequency": np.geomspace(0.25, 8, 16), "direction": [0, 180]}
    tuning = tune(detector, drifting_grating, design, dt=0.01)
    best = float(peak(tuning.sel(direction=0), "temporal_frequency").position)
    index = float(direction_selectivity(tuning.sel(temporal_frequency=1.0, method="nearest")).over_sum)
    print(f"{name:>14}: best at {best:.2f} Hz, direction selectivity {index:.2f}")

# %%
# Reverse phi
# -----------
# Motion whose contrast turns round at every step seems to go backwards, to people and to detectors of signed products:
# a negative answer to steps to the right. Barlow and Levick's, of what is bright alone, answers as before.

for name, detector in chosen.items():
    answer = tune(detector, reverse_phi, {"direction": [0]}, dt=0.01)
    print(f"{name:>14}: {float(answer['response'].mean()):+.4f}")

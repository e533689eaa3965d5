"""
Your own stimulus and detector
==============================

A detector is data: temporal filters, places of the pixels it looks at, and a formula. A stimulus is a sum of scenes
that move or fade. Neither needs a class.
"""

import matplotlib.pyplot as plt
import numpy as np

from flymotion import Hexagon, tune
from flymotion.detectors import Detector, along
from flymotion.detectors.temporal import HighPass, LowPass, Rectify
from flymotion.plots import draw_tuning
from flymotion.stimuli import Drift, Part, Stimulus, drifting_grating
from flymotion.tuning import experiment
from flymotion.world.scenes import Bar, Grating

# %%
# A detector
# ----------
# Two arms, both of what brightens, one of them late. What came by on the left times what is here, less the mirror
# image: a Hassenstein-Reichardt detector of ON signals. ``along(-1, 0)`` says which pixels the formula taps, for motion
# to the right; for other directions they are turned.


def opponent(tap):
    """Multiply what came by on the left with what is here, less the mirror image."""
    return tap("slow", -1) * tap("fast", 0) - tap("fast", -1) * tap("slow", 0)


mine = Detector(
    arms={"slow": (HighPass(0.25), Rectify(), LowPass(0.05)), "fast": (HighPass(0.25), Rectify())},
    displacements=along(-1, 0),
    combine=opponent,
)

# %%
# A classic experiment
# --------------------
# Of the experiments that are known by name, direction tuning; results are labelled (xarray), with units, and know how
# to be drawn.

curves = draw_tuning(experiment("direction", mine))

# %%
# Or a design of your own: any stimulus, over any of its parameters.

tuning = tune(mine, drifting_grating, {"direction": [0, 180], "contrast": [0.25, 0.5, 1.0]}, dt=0.01)
print(tuning["response"].to_series().round(4))

# %%
# A stimulus
# ----------
# A bar that moves to the right at 40 degrees a second over a grating that stands and fades in: two parts, added up.


def fading(t):
    """Fade in over half a second."""
    return np.clip(t / 0.5, 0, 1)


stimulus = Stimulus(
    parts=(
        Part(Bar(width=8.0, position=-40.0, contrast=1.0, ndim=2), path=Drift(speed=40.0, direction=0.0)),
        Part(Grating(wavelength=30.0, direction=90.0, contrast=0.3, ndim=2), gain=fading),
    ),
    duration=2.0,
)
eye = Hexagon(4)
movie = stimulus.movie(eye, dt=0.01, spacing=mine.spacing)  # degrees from pixel to pixel
responses = mine(movie, 0.01, eye=eye, direction=[30, 210])  # along an axis of the hexagon, and against it

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(np.arange(len(movie)) * 0.01, responses.mean(axis=1), label=["30 deg", "210 deg"])
ax.set(xlabel="time [s]", ylabel="mean response")
ax.legend(title="direction")

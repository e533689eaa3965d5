"""
Rotations and self-motion
=========================

The same learner, other motions: a patch that turns, and an eye that turns about three axes. Learned operators can be
applied, exponentiated, and asked how far two frames are turned.
"""

import matplotlib.pyplot as plt
import numpy as np

from flymotion import Grid, MotionLearner, Rotation, SmoothNoise, Sphere, SphericalNoise, Turn, sample_pairs
from flymotion.plots import filter_sheet

# %%
# A patch that turns
# ------------------
# 7 x 7 pixels see smooth noise that turns by up to 0.1 rad about their middle.

eye = Grid(7, 7, sigma=0.8)
scene = SmoothNoise(2.0, ndim=2, random_state=0)
turned = sample_pairs(scene, eye, Rotation(0.1), 20_000, random_state=0)
learner = MotionLearner(n_components=2).fit(turned)
print(learner.labels_, f"{learner.direction_accuracy_:.1%} of single pairs right")

# %%
# Weights lie around the middle like the spokes of a wheel: what each pixel's change is weighed with lies to either
# side of it, along the circle.

sheet = filter_sheet(learner.generators_, learner.labels_)

# %%
# An eye that turns
# -----------------
# The paper conjectures that roll, pitch and yaw are learned like this. 120 pixels look evenly in all directions; each
# pair is a turn by up to 4 degrees about one axis, and six units learn from them.

ball = Sphere.evenly(120, sigma=5.0)
around = SphericalNoise(20.0, random_state=0)
pairs = sample_pairs(around, ball, Turn(4.0), n_pairs=6_000, random_state=1)
fly = MotionLearner(n_components=6).fit(pairs)
print(sorted(fly.labels_))

# %%
# Turns that are larger than any that it has seen
# -----------------------------------------------
# Operators generate turns of any size: ``register`` finds the rotation between two frames.

turns = fly.generators_.fitted(pairs)
large = sample_pairs(around, ball, Turn(30.0), n_pairs=60, random_state=2)
told, truth = turns.register(large), large.motion
print(f"median error {np.median(np.linalg.norm(told - truth, axis=1)):.2f} deg of turns up to 30 deg")

figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
for axis, name in enumerate(["roll", "pitch", "yaw"]):
    ax.scatter(truth[:, axis], told[:, axis], s=10, label=name)
ax.axline((0, 0), slope=1, color="0.5", linewidth=1)
ax.set(xlabel="true turn [deg]", ylabel="told turn [deg]")
ax.legend()

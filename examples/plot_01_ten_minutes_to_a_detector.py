"""
Ten minutes to a detector
=========================

Seven photoreceptors look at noise that moves by a fraction of a pixel, and two units learn from pairs of frames.
Nobody tells them that there are directions; in the end one answers motion to the left, the other motion to the right.
"""

import matplotlib.pyplot as plt
import numpy as np

from flymotion import ExponentialNoise, Line, MotionLearner, Translation, sample_pairs
from flymotion.plots import draw_filters

# %%
# Frames in pairs
# ---------------
# An eye says where pixels look and how blurred they see, a scene what there is, a motion how it moves. A pair is one
# frame before and one after a step; the step is kept beside it, for us to compare with. The learner never looks at it.

eye = Line(7, sigma=0.475)  # a fly's optics: acceptance in units of the spacing of pixels
scene = ExponentialNoise(correlation_length=3.0, random_state=0)
pairs = sample_pairs(scene, eye, Translation(max_shift=0.5, ndim=1), n_pairs=20_000, random_state=0)
print(pairs.before.shape, pairs.after.shape, pairs.motion.shape)

# %%
# Learning
# --------
# Each pair becomes the outer product of its change and its intensity, and the units' outputs are made as similar to
# each other as these products are (nonnegative similarity matching, Eq. 14 of the paper).

learner = MotionLearner(n_components=2).fit(pairs)
print(learner.labels_)

# %%
# What was learned
# ----------------
# A row is the change at one pixel, a column the intensity at another. Beside the diagonal both filters have opposite
# signs: each compares a pixel's change with the difference of its neighbours, which is what a motion detector does.

filters = draw_filters(learner.generators_.operators, learner.labels_)

# %%
# Does it tell motion?
# --------------------
# On pairs that it has never seen, of another piece of the scene. One pair of seven noisy looks is little: the cloud is
# wide, and its direction is right nearly always.

new = sample_pairs(scene, eye, Translation(max_shift=0.5, ndim=1), n_pairs=2_000, random_state=1)
truth, told = new.motion.ravel(), learner.predict(new).ravel()
print(f"direction right in {np.mean(np.sign(truth) == np.sign(told)):.1%} of single pairs")

figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.scatter(truth, told, s=4, alpha=0.4)
ax.axline((0, 0), slope=1, color="0.5", linewidth=1)
ax.set(xlabel="true motion [pixels/frame]", ylabel="told motion [pixels/frame]", ylim=(-1.5, 1.5))

"""
Both eyes of the fly
====================

*Drosophila*'s two eyes as they were measured, 1,398 lenses, and T4 and T5 cells in every column that learn from
photographs by the paper's local rule. ``flymotion fly`` does this for longer, with an animation.
"""

import matplotlib.pyplot as plt
import numpy as np

from flymotion import T4T5Circuit, buchner
from flymotion.circuits import SUBTYPES
from flymotion.circuits.schooling import schooling
from flymotion.flying import Unrolled, turning
from flymotion.plots import draw_eye
from flymotion.world.compound_eyes import SIDES

# %%
# Lenses
# ------
# Where each lens of the left eye looks.

left = draw_eye(buchner("left"), title="The left eye, as measured")

# %%
# Learning
# --------
# The fly turns about in panoramas of two photographs. Four short clips are enough to see what is learned; the default,
# 24 clips of 10 s, is what :doc:`the exam <../trained-circuit>` is about.

eye = buchner("both")
circuit = T4T5Circuit(eye, random_state=0)
circuit.fit(schooling(eye, n_clips=4, duration=4.0, random_state=0))

# %%
# A panorama that turns to the right
# ----------------------------------
# Each cell of each column answers every frame. Subtype a prefers motion from front to back, b from back to front: what
# moves to the right goes from back to front in the left eye, and from front to back in the right one.

movie = turning("panorama", duration=1.0).movie(eye, dt=0.02)
answers = circuit.transform(movie)  # (n_frames, 1398 columns, T4a-d and T5a-d)
names = [*SUBTYPES]
places = np.arange(len(names))
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for number, side in enumerate(SIDES):
    ax.bar(places + 0.4 * number - 0.2, answers[10:, eye.half == number].mean(axis=(0, 1)), 0.4, label=f"{side} eye")
ax.set_xticks(places, names)
ax.set(ylabel="mean response")
ax.legend(loc="upper right")

# %%
# What T4b sees
# -------------
# On both eyes, unrolled: azimuth across, elevation up.

shown = Unrolled(eye, 240)
t4b = answers[-1, :, names.index("T4b")]
figure, (above, below) = plt.subplots(2, figsize=(8, 7), layout="constrained")
above.imshow(shown.shaded(plt.get_cmap("gray")(movie[-1])[:, :3]))
above.set_title("light")
below.imshow(shown.shaded(plt.get_cmap("magma")(t4b / np.quantile(t4b, 0.99))[:, :3]))
below.set_title("T4b, brightest where it answers most")
for ax in (above, below):
    ax.set(xticks=[], yticks=[])

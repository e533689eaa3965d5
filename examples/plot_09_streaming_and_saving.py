"""
Streaming and saving
====================

Frames that come one after the other, in constant memory: learning from a stream, keeping what was learned, and going
on where it stopped, to the bit.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from flymotion import ExponentialNoise, Line, MotionField, MotionLearner, Translation, load, sample_pairs, save

# %%
# Learning from pieces
# --------------------
# However a stream is cut into calls of ``partial_fit``, the same is learned. The first 2,000 pairs are kept to start
# from; after them there is little left to learn in a world as simple as this one.

eye, motion = Line(7), Translation(0.3, ndim=1)
scene = ExponentialNoise(3.0, random_state=0)
pieces = [sample_pairs(scene, eye, motion, 2_000, random_state=seed) for seed in range(8)]
new = sample_pairs(scene, eye, motion, 4_000, random_state=99)

learner = MotionLearner(2, warm_up=2_000)
accuracy = []
for piece in pieces:
    learner.partial_fit(piece)
    told = learner.predict(new).ravel()
    accuracy.append(np.mean(np.sign(told) == np.sign(new.motion.ravel())))

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(2_000 * np.arange(1, 9), accuracy, "o-")
ax.set(xlabel="pairs", ylabel="direction right, single pairs", ylim=(0.5, 1))

# %%
# Saving
# ------
# A file of numbers and no code (safetensors), written whole or not at all. What is loaded learns on to the bit.

path = Path(tempfile.mkdtemp()) / "detector.safetensors"
save(learner, path)
again = load(path)
learner.partial_fit(pieces[0])
again.partial_fit(pieces[0])
print("the same to the bit:", np.array_equal(learner.generators_.operators, again.generators_.operators))

# %%
# Motion, frame by frame
# ----------------------
# A field's stream keeps the frame before. The first frame has no motion; nothing is allocated after it.

rng = np.random.default_rng(0)
texture = rng.normal(size=(120, 200)).cumsum(axis=0).cumsum(axis=1)
texture = np.uint8(np.interp(texture, (texture.min(), texture.max()), (0, 255)))
stream = MotionField(outputs=("velocity", "confidence")).stream()
for number in range(4):
    field = stream.step(np.ascontiguousarray(texture[:, 3 * number : 3 * number + 160]))  # content moves left by 3 px
    if field is None:
        print("frame 0: no frame before it")
        continue
    x, y = field.velocity[:, field.confidence > 0.5]
    print(f"frame {number}: {np.median(x):+.2f}, {np.median(y):+.2f} px/frame")

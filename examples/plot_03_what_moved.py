"""
What moved in my video
======================

The velocity of every pixel, and of the frame as a whole, of a video in which a disc moves to the right before a
background that slowly turns. ``flymotion detect street.mp4`` does this to a file, with a table, figures and overlays.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import rotate

from flymotion import MotionField, detect
from flymotion.detecting.overlay.colours import hues
from flymotion.learner import load_photographs

# %%
# A video of 40 frames
# --------------------
# The background turns by 0.3 degrees a frame counter-clockwise; a disc of another photograph moves by 3 pixels a
# frame. Each pixel has noise.

china, flower = load_photographs(["bundled"])
rng = np.random.default_rng(0)
rows, columns = np.mgrid[:240, :320]
frames = []
for number in range(40):
    frame = rotate(china, 0.3 * number, reshape=False, order=1)[90:330, 160:480].copy()
    inside = (rows - 150) ** 2 + (columns - 60 - 3 * number) ** 2 < 40**2
    frame[inside] = np.roll(flower[100:340, 160:480], 3 * number, axis=1)[inside]
    frames.append(np.clip(frame + rng.normal(scale=2.0, size=frame.shape), 0, 255).astype(np.uint8))
frames = np.array(frames)

# %%
# The whole frame
# ---------------
# What most of the frame's texture agrees with: the disc does not matter.

steps = [step for step in detect(frames) if not step.cut]
rotation = np.array([step.motion.rotation for step in steps])
print(f"rotation {np.median(rotation):.3f} deg/frame (true: 0.300)")

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot([step.number for step in steps], rotation, label="told")
ax.axhline(0.3, color="0.5", linewidth=1, label="true")
ax.set(xlabel="frame", ylabel="rotation [deg/frame]", ylim=(0, 0.4))
ax.legend()

# %%
# Each pixel
# ----------
# A velocity, and how sure it is. Hue is direction, as on the wheel of ``--overlay wheel``: red to the right, cyan to
# the left.

field = MotionField(speed="accurate").between(frames[20], frames[21])
x, y = field.velocity
speed = np.hypot(x, y)
wheel = hues(np.degrees(np.arctan2(-y, x))) * np.clip(speed / 4, 0, 1)[..., None]

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3), layout="constrained")
left.imshow(frames[20], cmap="gray")
left.set_title("frame 20")
middle.imshow(wheel)
middle.set_title("velocity, brightest at 4 px/frame")
shown = right.imshow(field.confidence, cmap="gray", vmin=0, vmax=1)
right.set_title("confidence")
figure.colorbar(shown, ax=right)
for ax in (left, middle, right):
    ax.set(xticks=[], yticks=[])

# %%
# In the middle of the disc, beside the truth:

disc = (rows - 150) ** 2 + (columns - 60 - 60) ** 2 < 30**2
print(f"disc: {np.median(x[disc]):.2f}, {np.median(y[disc]):.2f} px/frame (true: 3.00, 0.00)")

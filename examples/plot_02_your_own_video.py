"""
Your own video
==============

Detectors learned from a video file, as ``flymotion learn my-video.mp4`` does. The video here is made: a camera that
shakes over a photograph, with noise, in H.264. Put the name of your own in its place.
"""

import tempfile
from pathlib import Path

import av
import numpy as np
from scipy.ndimage import shift

import flymotion
from flymotion.learner import load_photographs
from flymotion.plots import filter_sheet

# %%
# A video
# -------
# Of a hand-held camera: a random walk that returns, some tenths of a pixel a frame.

rng = np.random.default_rng(0)
photograph = load_photographs(["bundled"])[0]
steps = rng.normal(scale=0.5, size=(90, 2))
places = np.cumsum(steps - steps.mean(axis=0), axis=0)
video = Path(tempfile.mkdtemp()) / "shaky.mp4"
with av.open(str(video), "w") as container:
    stream = container.add_stream("libx264", rate=30, options={"crf": "18"})
    stream.width, stream.height, stream.pix_fmt = 320, 240, "yuv420p"
    for place in places:
        seen = shift(photograph, place, order=1)[80:320, 160:480] + rng.normal(scale=1.0, size=(240, 320))
        frame = av.VideoFrame.from_ndarray(np.clip(seen, 0, 255).astype(np.uint8), format="gray")
        container.mux(stream.encode(frame.reformat(format="yuv420p")))
    container.mux(stream.encode())

# %%
# Learning
# --------
# There is nothing to tune. The frames are looked at first, reduced until motion is a fraction of a pixel, and whitened
# where they are no noise; ``n_pairs`` is smaller than usual to be quick.

learner = flymotion.learn(video, n_pairs=30_000)
print(learner.labels_)
print(learner.verdict_)

# %%
# For each pixel of the change its weights onto the intensities around it, one detector a block:

sheet = filter_sheet(learner.generators_, learner.labels_)

# %%
# How well it tells directions
# ----------------------------
# After learning it looks at patches of its own, moved by known amounts, so that its outputs have names and units. The
# accuracy is of single patches.

for label, direction in zip(learner.labels_, learner.directions_, strict=True):
    print(f"{label:>6}: prefers {direction:5.1f} deg")
print(f"direction right in {learner.direction_accuracy_:.1%} of patches")

"""
The theory of what is learned
=============================

All that a learner of products can find in Gaussian scenes follows from their covariance: an unlimited learner's
filters in closed form, without a single frame.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np

from flymotion import ExponentialNoise, FramePairs, Line, SimilarityMatching, Translation, outer_products, sample_pairs
from flymotion.generators import cosine
from flymotion.generators.theory import antisymmetric_share, population
from flymotion.plots import draw_filters
from flymotion.world.scenes import exponential_covariance

# %%
# The population's filters
# ------------------------
# Principal components of chi, over all pairs that there could be. The first is the spatial derivative of whitened
# frames; it is antisymmetric, as motion turns round when time does.

eye, motion = Line(7, sigma=0.8), Translation(0.1, ndim=1)
theory = population(exponential_covariance(3.0, eye.sigma), eye, motion)
eigenvalues, components = theory.components(3)
for value, A in zip(eigenvalues, components, strict=True):
    print(f"eigenvalue {value:7.4f}, antisymmetric share {antisymmetric_share(A):.2f}")

filters = draw_filters(components, [f"component {k}" for k in (1, 2, 3)])

# %%
# A learner comes near it
# -----------------------
# The online rule of similarity matching, the cosine of its first component with the population's, against the pairs
# that it has seen.

scene = ExponentialNoise(3.0, random_state=0)
pairs = sample_pairs(scene, eye, motion, 40_000, random_state=0)
white = FramePairs(pairs.before @ theory.Z, pairs.after @ theory.Z)
model, seen, near = SimilarityMatching(2), [], []
for start, stop in itertools.pairwise([0, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 40_000]):
    model.partial_fit(outer_products(white[start:stop]))
    seen.append(stop)
    near.append(abs(cosine(model.components_[0].reshape(7, 7), components[0])))

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.semilogx(seen, near, "o-")
ax.set(xlabel="pairs seen", ylabel="|cosine| with the population's", ylim=(0, 1.02))

# %%
# Where the paper's feature stops working
# ---------------------------------------
# How often the sign of the first component's answer is the direction of a single pair, against the size of shifts:
# change times the frame before, as in the paper, and times the mean of both frames (Suppl. A), with a fly's optics.

fly = Line(5)
shifts = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.2])
figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
for feature, name in [("change", "change x before"), ("midpoint", "change x mean of both")]:
    right = []
    for largest in shifts:
        world = population(exponential_covariance(3.0, fly.sigma), fly, Translation(largest, ndim=1), feature=feature)
        right.append(world.direction_accuracy(world.components(1)[1][0]))
    ax.plot(shifts, np.maximum(right, 1 - np.array(right)), "o-", label=name)
ax.axhline(0.5, color="0.5", linewidth=1)
ax.set(xlabel="largest shift [pixels/frame]", ylabel="direction right, single pairs", ylim=(0.45, 1))
ax.legend(loc="lower left")

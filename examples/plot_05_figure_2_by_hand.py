"""
Fig. 2 by hand
==============

The paper's Figure 2 from its parts, with no learner that does it all: noise, whitening, outer products, and the four
algorithms. ``flymotion reproduce C1 C2`` does so with many seeds, in two worlds, beside nulls.
"""

import numpy as np

from flymotion import (
    ExponentialNoise,
    Line,
    NonnegativeSimilarityMatching,
    SimilarityMatching,
    Translation,
    ZCAWhitening,
    outer_products,
    sample_pairs,
)
from flymotion.generators import cosine, derivative_operator
from flymotion.plots import draw_filters
from flymotion.similarity.rivals import OuterProductKMeans, OuterProductPCA

# %%
# The world of Section 2.5
# ------------------------
# Five pixels, exponentially correlated noise, shifts of a tenth of a pixel at most, ZCA whitening. That the eye has
# optics decides whether any of this works: :doc:`what the paper's slips are <../slips>`.

eye = Line(5, sigma=0.8)
scene = ExponentialNoise(3.0, random_state=0)
pairs = sample_pairs(scene, eye, Translation(0.1, ndim=1), 40_000, random_state=0)
white = ZCAWhitening().fit_transform(pairs)

# %%
# chi, the outer product of change and intensity (Eq. 11), is held as its two factors; nothing of n x n entries a pair
# is ever made.

chi = outer_products(white, feature="change")
print(chi.shape)

# %%
# Similarity matching, and its nonnegative form
# ---------------------------------------------
# Eqs. 12 and 14, by the local rules of Eqs. 15-18. SM's first component is one signed operator; NSM needs two units,
# one a direction.

sm = SimilarityMatching(2).fit(chi)
nsm = NonnegativeSimilarityMatching(2).fit(chi)
pca = OuterProductPCA(2).fit(chi)
kmeans = OuterProductKMeans(2, random_state=0).fit(chi)

titles = ["SM 1", "SM 2", "NSM 1", "NSM 2", "PCA 1", "PCA 2", "K-means 1", "K-means 2"]
learned = np.concatenate([model.generators_ for model in (sm, nsm, pca, kmeans)])
learned /= np.linalg.norm(learned, axis=(1, 2), keepdims=True)
filters = draw_filters(learned, titles, n_columns=4)

# %%
# What to see
# -----------
# SM learns what PCA learns, up to sign; NSM's two filters, and K-means' two centres, are opposite; each is
# antisymmetric about its diagonal, where a pixel's change is compared with the difference of both neighbours.

known = derivative_operator(eye)
for title, A in zip(titles, learned, strict=True):
    print(f"{title:>9}: cosine with the spatial derivative {cosine(A, known):+.2f}")
print(f"NSM's filters with each other: {cosine(learned[2], learned[3]):+.2f}")

"""What the paper's learners are compared with.

PCA and K-means on chi, which never has to exist (Suppl. B), and the network of the reconstruction approach, on plain
vectors (Section 1.1).
"""

from flymotion.similarity.rivals.kmeans import OuterProductKMeans
from flymotion.similarity.rivals.pca import OuterProductPCA
from flymotion.similarity.rivals.reconstruction import ReconstructionNetwork

__all__ = ["OuterProductKMeans", "OuterProductPCA", "ReconstructionNetwork"]

"""What the paper's learners are compared with.

PCA and K-means on chi, which never has to exist (Suppl. B); the network of the reconstruction approach, on plain
vectors (Section 1.1); and what others would take on a stream of chi: Oja's rules, CCIPCA, AdaOja, fast similarity
matching; ``WrittenOut`` is for scikit-learn's own.
"""

from flymotion.similarity.rivals.adaoja import AdaOja
from flymotion.similarity.rivals.ccipca import CCIPCA
from flymotion.similarity.rivals.fast_matching import FastSimilarityMatching
from flymotion.similarity.rivals.kmeans import OuterProductKMeans
from flymotion.similarity.rivals.oja import OjaSubspace
from flymotion.similarity.rivals.pca import OuterProductPCA
from flymotion.similarity.rivals.reconstruction import ReconstructionNetwork
from flymotion.similarity.rivals.written_out import WrittenOut

__all__ = [
    "CCIPCA",
    "AdaOja",
    "FastSimilarityMatching",
    "OjaSubspace",
    "OuterProductKMeans",
    "OuterProductPCA",
    "ReconstructionNetwork",
    "WrittenOut",
]

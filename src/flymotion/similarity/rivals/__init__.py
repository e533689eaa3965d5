"""What the paper's learners are compared with (Suppl. B): scikit-learn estimators on chi, which never has to exist."""

from flymotion.similarity.rivals.kmeans import OuterProductKMeans
from flymotion.similarity.rivals.pca import OuterProductPCA

__all__ = ["OuterProductKMeans", "OuterProductPCA"]

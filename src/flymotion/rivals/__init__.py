"""What the paper's learners are compared with (Suppl. B): scikit-learn estimators on chi, which never has to exist."""

from flymotion.rivals.kmeans import OuterProductKMeans
from flymotion.rivals.pca import OuterProductPCA

__all__ = ["OuterProductKMeans", "OuterProductPCA"]

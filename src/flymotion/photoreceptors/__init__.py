"""Early vision: what happens to frames between the photoreceptors and the motion detector.

Scikit-learn transformers of frames ``(n_samples, n_pixels)`` and of :class:`~flymotion.frames.FramePairs`: they are
fitted on first frames and do the same to both frames of a pair, so that what changes within a pair is motion alone;
only :class:`SensorNoise` gives each frame its own. :func:`sklearn.pipeline.make_pipeline` puts them one after another.
"""

from flymotion.photoreceptors.intensity import LogIntensity, SensorNoise, WeberContrast
from flymotion.photoreceptors.normalization import ContrastNormalization, DivisiveNormalization
from flymotion.photoreceptors.polarity import OnOff
from flymotion.photoreceptors.whitening import ZCAWhitening

__all__ = [
    "ContrastNormalization",
    "DivisiveNormalization",
    "LogIntensity",
    "OnOff",
    "SensorNoise",
    "WeberContrast",
    "ZCAWhitening",
]

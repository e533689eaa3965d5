"""What was learned, kept in files: one way for all kinds, from the learner to the fly's circuit.

``saving`` is the model file, ``first_format`` what flymotion 0.1 wrote; how objects pack themselves is
:mod:`flymotion.models`. ``onnx_graph`` writes detectors for other programs.
"""

from flymotion.keeping.onnx_graph import export_onnx
from flymotion.keeping.saving import FORMAT, KINDS, ModelError, load, look, save

__all__ = ["FORMAT", "KINDS", "ModelError", "export_onnx", "load", "look", "save"]

"""What is kept of models, and the files that hold it.

``packing`` is how objects pack themselves, as numbers, arrays and parts, and are checked when unpacked. ``tensor_file``
is the file that is written, safetensors with a header in JSON; ``archive`` reads the ``.npz`` files of 0.1. Neither
knows what it holds: that is :mod:`flymotion.keeping.saving`.
"""

from flymotion.models.packing import Given, ModelError, Packed, packed

__all__ = ["Given", "ModelError", "Packed", "packed"]

"""Motion drawn into the frames it was seen in, for people to look at.

Hues are directions, everywhere the same: right red, up yellow-green, left cyan, down violet.
"""

from flymotion.detecting.overlay.drawing import MODES, Overlay
from flymotion.detecting.overlay.encoding import OverlayVideo

__all__ = ["MODES", "Overlay", "OverlayVideo"]

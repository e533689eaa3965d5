r"""Dense motion fields: frame in, the field of local motion detectors out, at the speed of the camera.

Each pixel has the paper's three-pixel detectors (Bahroun et al. 2019, Fig. 2b, Suppl. E), along x and along y, in the
midpoint form of Suppl. A; with :math:`\bar x` the mean of two consecutive frames and :math:`\Delta x` their difference,

.. math:: R_x = \Delta x(x, y)\, (\bar x(x - 1, y) - \bar x(x + 1, y))

is positive for content that moves to the right; or detectors that were learned, :math:`y_k = \Delta x' A_k \bar x` over
the patch about each pixel. The velocity is Suppl. C's ridge regression, in two dimensions and for content,

.. math::
    \theta = \arg\min_{\theta, \gamma} \sum_{window} (\Delta x + (\theta - \theta_0) \cdot \nabla \bar x
    - \gamma \bar x)^2 + \lambda |\theta - \theta_c|^2,

with the sign that the printed solution lacks: Lucas and Kanade's estimate, with a ridge. :math:`\theta_c` is what the
next coarser scale says, 0 at the coarsest: windows with little contrast or much noise say what larger ones around them
do, and not that nothing moves. By :math:`\theta_0`, what is known so far, each pixel of the frame after has been
carried back, so that what is left is a fraction of a pixel whatever the motion; :math:`\gamma` is the change of light,
so that a lamp that flickers is no motion. Then the nine windows about a pixel agree, those that explain what they see
most (:mod:`flymotion.field.scales`), and where rest explains twice as much as velocity does, there is rest. Where
light changes otherwise here than there, the frame before is lit as the one after first
(:mod:`flymotion.field.uneven_light`).

A slope is the difference of a pixel's neighbours, smoothed across it by (3, 10, 3) / 16
(Scharr), and the change is smoothed so both ways: a central difference makes a slope too small, and this the change as
much, so that velocity is right to 2.2 % for wavelengths of 4 pixels and more. Unsmoothed it would be 21 % too large at
6 pixels.

Vectors are (x right, y down) [pixels per frame]; directions are in degrees, 0 = right, 90 = up. Responses are in
squared units of intensity.
"""

from flymotion.field.description import MotionField
from flymotion.field.outputs import OUTPUTS, Field
from flymotion.field.stream import FieldStream

__all__ = ["OUTPUTS", "Field", "FieldStream", "MotionField"]

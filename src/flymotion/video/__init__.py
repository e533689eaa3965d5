"""Movies from video files, cameras, streams, image folders, TIFF stacks and arrays, one frame at a time.

A :class:`Movie` is never held as a whole; one that is not live is read anew by every loop over it. Its frames are
upright luminance images, ``(height, width)``, float32, rows counted downwards. Luminance is

- of a video, its Y plane on a scale of 0 (black) to 255 (white), whatever its bit depth and range;
- of colour images and arrays, ``0.299 R + 0.587 G + 0.114 B`` (Rec. 601) without the alpha channel;
- of anything grey (images, arrays, grey video of 8 to 16 bit), the values as they are: no range is ever guessed.

Where frames are missing a new clip begins, a *cut*, so that no pair of frames bridges the gap: after frames that are
damaged, where the time stamps of a video of constant rate step by more than 1.5 frame durations, and where the numbers
in the names of images leap. A step that repeats is a rate, not a gap. A rate counts as constant when fewer than a fifth
of its frames are missing. In a video of variable rate such a step is a cut only in the 16 frames after damage; in an
AVI file with reordered frames, which stores no time stamps, only damage is. Of a live source a step of more than 1.5
times the median of the last ones is a cut, unless it is like the one before.

Times are in seconds: since the beginning of a video file, as a player shows it, or the first frame of a live source; of
animated images, as the durations of their pages tell; of other images and arrays, and of videos without time stamps,
the number of the frame over the rate, or NaN where no rate is known. They never go back.

A :class:`Camera` says which direction each pixel looks in, and :class:`OntoEye` what an eye receives of its frames.
"""

from flymotion.video.movie import Batch, Frame, Movie
from flymotion.video.onto_eyes import OntoEye
from flymotion.video.opening import open_movie, read_movie
from flymotion.video.pinhole import Camera
from flymotion.video.reader import VideoError
from flymotion.video.selection import Selection

__all__ = ["Batch", "Camera", "Frame", "Movie", "OntoEye", "Selection", "VideoError", "open_movie", "read_movie"]

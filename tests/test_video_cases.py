"""Videos that software got wrong, through every entry point that takes one."""

import multiprocessing
import os
import pickle
import re
import struct
import threading
from fractions import Fraction
from functools import cache
from itertools import islice, pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from scipy.ndimage import gaussian_filter, shift

from flymotion import MotionLearner, learn
from flymotion.cli import main, terminal
from flymotion.detecting import NpzFields, detect, detection, fields, read_trace
from flymotion.detecting.overlay import MODES, Overlay, OverlayVideo
from flymotion.detecting.overlay.colours import Levels
from flymotion.video import VideoError, open_movie, read_movie
from flymotion.video.containers import _timed
from flymotion.video.reader import Shot
from flymotion.video.stamps import Clock, Pace

av = pytest.importorskip("av")

MS = Fraction(1, 1000)
SIZE = (48, 72)


@pytest.fixture(scope="module")
def make_frames():
    """Texture that moves by 0.4 pixels a frame, each time another way, uint8."""

    @cache
    def make(n, size=SIZE):
        rng = np.random.default_rng(0)
        texture = gaussian_filter(rng.standard_normal((size[0] + 60, size[1] + 60)), 1.5)
        texture = 128 + 45 * texture / texture.std()
        angles = rng.uniform(0, 2 * np.pi, n)
        places = np.cumsum(0.4 * np.stack([np.cos(angles), np.sin(angles)], axis=1), axis=0)
        moved = (shift(texture, place, order=3)[30:-30, 30:-30] for place in places)
        return [np.clip(np.round(frame), 0, 255).astype(np.uint8) for frame in moved]

    return make


@pytest.fixture
def encode(tmp_path):
    """Write frames shown at stamps [ticks] into a video, with sound from 0 s on if asked for; returns its path."""

    def write(name, frames, stamps, tick=MS, codec="libx264", *, rate=30, **how):
        with av.open(str(tmp_path / name), "w") as container:
            stream = container.add_stream(codec, rate=rate, options=how.get("options"))
            stream.height, stream.width = frames[0].shape
            stream.set_display_rotation(how.get("rotation", 0))
            stream.pix_fmt, stream.codec_context.time_base = "yuv420p", tick
            if how.get("sound"):
                noise = container.add_stream("pcm_s16le" if name.endswith("mkv") else "mp2", rate=44100)
                for k in range(40):
                    samples = av.AudioFrame.from_ndarray(np.zeros((1, 1152), np.int16), format="s16", layout="mono")
                    samples.rate, samples.pts, samples.time_base = 44100, 1152 * k, Fraction(1, 44100)
                    container.mux(noise.encode(samples))
                container.mux(noise.encode())
            for array, stamp in zip(frames, stamps, strict=True):
                frame = av.VideoFrame.from_ndarray(array, format="gray").reformat(format="yuv420p")
                frame.pts, frame.time_base = stamp, tick
                container.mux(stream.encode(frame))
            container.mux(stream.encode())
        return tmp_path / name

    return write


@pytest.fixture
def write_folder(tmp_path):
    """Write images by name into a folder, and return it."""

    def write(images, folder="images"):
        (tmp_path / folder).mkdir()
        for name, image in images.items():
            Image.fromarray(image).save(tmp_path / folder / name)
        return tmp_path / folder

    return write


# -- entry points ------------------------------------------------------------------------------------------------------


def pairs_opened(source, run, out):
    return sum(not frame.cut for frame in open_movie(source).frames())


def pairs_detected(source, run, out):
    return sum(step.field is not None for step in detect(source))


def pairs_learned(source, run, out):
    return learn([source], patch=5, n_pairs=2000).n_pairs_seen_


def pairs_in_the_table(source, run, out):
    status, _, err = run("detect", source, "--out", out)
    assert status == 0, err
    return int(np.isfinite(read_trace(out / "global-motion.csv").support).sum())


def pairs_watched(source, run, out):
    """What is shown while watching; a clip's first frame has no motion."""
    seen = []

    class Show:
        paced = False

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def update(self, detection, rate, late):
            seen.append(not detection.cut)

    terminal.play(detect(source, dense=False), Show())
    return sum(seen)


PAIRS = {
    "open_movie": pairs_opened,
    "flymotion.detecting.detect": pairs_detected,
    "learn": pairs_learned,
    "detect": pairs_in_the_table,
    "watch": pairs_watched,
}
"""The number of pairs of frames that each entry point makes of a source."""

every_entry = pytest.mark.parametrize("entry", PAIRS)


def test_every_command_that_takes_a_video_is_here():
    taking = {
        name
        for name in main.list_commands(None)
        if any(parameter.name in ("source", "sources") for parameter in main.get_command(None, name).params)
    }
    assert taking - {"fly"} <= PAIRS.keys()  # which is shown frames, and makes no pairs of them


# -- time stamps -------------------------------------------------------------------------------------------------------


@pytest.mark.case("B50")
@every_entry
def test_a_step_that_repeats_is_a_rate_and_no_gap(encode, make_frames, run, tmp_path, entry):
    stamps = [*range(40), *range(41, 61, 2)]  # 30 frames a second, then 15
    path = encode("a.mp4", make_frames(50), stamps, Fraction(1, 30))
    assert PAIRS[entry](path, run, tmp_path / "out") == 49


@pytest.mark.case("B50")
@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
def test_eight_seconds_and_two_slower_ones_are_269_pairs(encode, make_frames, name):
    frames = make_frames(10) * 27
    path = encode(name, frames, [*range(240), *range(240, 300, 2)], Fraction(1, 30))
    assert pairs_opened(path, None, None) == 269


@pytest.mark.parametrize("last", [[60], [60, 61], [60, 61, 64]])
def test_a_step_that_does_not_repeat_is_a_gap(encode, make_frames, last):
    stamps = [*range(50), *last]
    frames = list(open_movie(encode("a.mp4", make_frames(len(stamps)), stamps, Fraction(1, 30))).frames())
    gaps = [k + 1 for k, (before, after) in enumerate(pairwise(stamps)) if after - before > 1]
    assert [k for k, frame in enumerate(frames) if frame.cut] == [0, *gaps]


@pytest.mark.parametrize("missing", [2, 8, 16, 30, 60])
@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.mov"])
def test_a_gap_of_any_length_is_one(encode, make_frames, name, missing):
    stamps = [*range(30), *range(30 + missing, 60 + missing)]  # the header of an MP4 tells the average, with the gap
    frames = open_movie(encode(name, make_frames(60), stamps, Fraction(1, 30))).frames()
    assert [k for k, frame in enumerate(frames) if frame.cut] == [0, 30]


@every_entry
def test_a_gap_that_lowers_the_average_rate_is_in_no_pair(encode, make_frames, run, tmp_path, entry):
    path = encode("a.mp4", make_frames(60), [*range(30), *range(46, 76)], Fraction(1, 30))
    assert PAIRS[entry](path, run, tmp_path / "out") == 58


def without_rate(path, duration):
    """Change the duration of a frame that a webm's header claims [ns], or take it out (0)."""
    content = path.read_bytes()
    at = content.index(b"\x23\xe3\x83")
    size = content[at + 3] & 0x7F
    void = b"\xec" + bytes([0x80 | (size + 2)]) + bytes(size + 2)
    claim = content[at : at + 4] + duration.to_bytes(size, "big") if duration else void
    path.write_bytes(content[:at] + claim + content[at + len(claim) :])
    return path


@pytest.mark.case("B51")
@pytest.mark.parametrize(("rate", "duration"), [(30, 0), (1000, 1_000_000)])
@every_entry
def test_the_rate_of_a_webm_is_that_of_its_stamps(encode, make_frames, run, tmp_path, rate, duration, entry):
    stamps = [round(1000 * k / 30) for k in range(30)]
    path = without_rate(encode("a.webm", make_frames(30), stamps, MS, "libvpx", rate=rate), duration)
    movie = open_movie(path)
    assert movie.rate == pytest.approx(30, rel=0.01)
    assert movie.n_frames_estimate == pytest.approx(30, abs=1)
    assert PAIRS[entry](path, run, tmp_path / "out") == 29


@pytest.mark.case("B51")
def test_an_estimate_never_refuses_work(encode, make_frames, run, tmp_path, monkeypatch):
    path = encode("a.mkv", make_frames(6), range(0, 240, 40), MS, rate=25)
    found = detect(path)
    monkeypatch.setattr(fields, "MOST_BYTES", 5 * 9 * 4 * SIZE[0] * SIZE[1])
    object.__setattr__(found.movie, "n_frames_estimate", 1000)
    with NpzFields(tmp_path / "fields.npz", found) as sink:
        for step in found:
            sink.write(step)
    assert len(np.load(tmp_path / "fields.npz")["frame"]) == 5


@pytest.mark.case("B61")
@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.ts"])
def test_times_count_from_where_a_player_begins(encode, make_frames, run, tmp_path, name):
    path = encode(name, make_frames(6), range(1000, 1240, 40), MS, rate=25, sound=True)
    late = [frame.time for frame in open_movie(path).frames()]
    assert_allclose(late, 1 + np.arange(6) / 25, atol=0.03)  # sound may begin with a frame of the coder's own
    assert_allclose([step.time for step in detect(path)], late)
    assert [frame.time for frame in open_movie(path, start="1.1s").frames()] == late[3:]
    run("detect", path, "--out", tmp_path / "out")
    assert_allclose(read_trace(tmp_path / "out" / "global-motion.csv").time, late, atol=1e-5)


def clock_of(stamps, *, rate=25, tick=Fraction(1, 25)):
    """When frames of some stamps are shown [frames], and which begin a clip."""
    stream = SimpleNamespace(start_time=stamps[0], time_base=tick)
    container = SimpleNamespace(start_time=round(stamps[0] * tick * 10**6))
    clock = Clock(container, stream, Pace(rate, float(1 / (rate * tick)), True, False), live=False)
    times, cuts, cut = [], [], False
    for item in _timed((SimpleNamespace(pts=stamp) for stamp in stamps), clock, False):
        cut = cut or item == 0
        for shot in filter(lambda item: isinstance(item, Shot), [item]):
            times.append(round(25 * shot.time, 3))
            cuts += [len(times) - 1] * cut
            cut = False
    return times, cuts


def test_stamps_that_begin_anew_go_on_in_a_new_clip():
    assert clock_of([*range(10, 20), *range(10, 15)]) == (list(range(15)), [10])


def test_stamps_out_of_order_or_twice_stay_where_the_last_one_was():
    assert clock_of([0, 1, 2, 2, 4, 3, 5, 6]) == ([0, 1, 2, 2, 4, 4, 5, 6], [])


def test_stamps_that_wrap_go_on():
    tick, first = Fraction(1, 90_000), 2**33 - 3 * 3600
    stamps = [(first + 3600 * k) % 2**33 for k in range(8)]
    assert clock_of(stamps, tick=tick) == (list(range(8)), [])


def test_a_transport_stream_that_wraps_or_is_joined_has_times_that_go_on(encode, make_frames, tmp_path):
    tick = Fraction(1, 90_000)
    first = 2**33 - 126_000 - 3 * 3600
    wrapped = encode("a.ts", make_frames(8), [first + 3600 * k for k in range(8)], tick, rate=25)
    assert_allclose([frame.time for frame in open_movie(wrapped).frames()], np.arange(8) / 25, atol=1e-6)
    path = encode("b.ts", make_frames(8), [3600 * k for k in range(8)], tick, rate=25)
    (tmp_path / "twice.ts").write_bytes(2 * path.read_bytes())
    with pytest.warns(UserWarning, match="incomplete"):
        frames = list(open_movie(tmp_path / "twice.ts").frames())
    assert all(a.time < b.time for a, b in pairwise(frames)) and len(frames) >= 15
    assert any(frame.cut for frame in frames[7:9])


# -- images ------------------------------------------------------------------------------------------------------------


@pytest.mark.case("B53")
@every_entry
def test_a_gap_in_numbered_frames_begins_a_clip(write_folder, make_frames, run, tmp_path, entry):
    frames = {f"frame_{k:04d}.png": frame for k, frame in enumerate(make_frames(40)) if k not in (10, 11, 12)}
    assert PAIRS[entry](write_folder(frames), run, tmp_path / "out") == 35


NAMES = {
    "last": "frame_{:04d}.png",
    "not last": "IMG_{}_v2.png",
    "first": "{}_of_20.png",
    "seconds": "t{:.1f}s.png",
    "after seconds": "12.5s_{}.png",
    "with a clock": "f{0}_{1}.png",
    "version": "1.2.{:03d}.png",
}
"""Names with a number that varies."""


@pytest.mark.case("B53")
@pytest.mark.parametrize("name", NAMES)
def test_a_gap_is_found_wherever_the_number_is(write_folder, make_frames, name):
    numbers = [k / 10 if "seconds" == name else k for k in range(20) if k not in (10, 11, 12)]
    names = [NAMES[name].format(number, 40 * i) for i, number in enumerate(numbers)]
    frames = list(open_movie(write_folder(dict(zip(names, make_frames(17), strict=True))), rate=10).frames())
    assert [k for k, frame in enumerate(frames) if frame.cut] == [0, 10]
    assert frames[10].time == pytest.approx(1.3)


@pytest.mark.case("B53")
def test_time_passes_over_missing_images(write_folder, make_frames):
    frames = make_frames(8)
    folder = write_folder({f"{5 + 2 * k}.png": frame for k, frame in enumerate(frames) if k not in (3, 4)})
    read = list(open_movie(folder, rate=10).frames())
    assert_allclose([frame.time for frame in read], np.delete(np.arange(8), [3, 4]) / 10)
    assert [frame.cut for frame in read] == [True, False, False, True, False, False]
    assert len(list(open_movie(folder, start=5).frames())) == 3


@pytest.mark.case("B53")
def test_three_images_with_a_gap_are_two_clips(write_folder, make_frames):
    folder = write_folder(dict(zip(["f1.png", "f2.png", "f10.png"], make_frames(3), strict=True)))
    assert [frame.cut for frame in open_movie(folder).frames()] == [True, False, True]


@pytest.mark.parametrize(
    "names",
    [
        ["a", "b", "c"],
        ["1", "2", "7", "30"],
        ["7", "8", "9", "11", "13", "15"],
        ["x1", "x2", "y9", "y10"],
        ["a1.8", "a1.9", "a1.10", "a1.11"],
        ["05-30", "05-31", "06-01"],
    ],
)
def test_names_that_are_no_numbering_have_no_gaps(write_folder, make_frames, names):
    folder = write_folder({f"{name}.png": frame for name, frame in zip(names, make_frames(6), strict=False)})
    assert [frame.cut for frame in open_movie(folder).frames()] == [True] + [False] * (len(names) - 1)


@pytest.mark.parametrize("name", ["a.gif", "a.png", "a.webp"])
def test_durations_that_images_carry_are_times(make_frames, run, tmp_path, name):
    first, *rest = [Image.fromarray(frame) for frame in make_frames(5)]
    first.save(tmp_path / name, save_all=True, append_images=rest, duration=[100, 200, 50, 40, 30])
    times = [0, 0.1, 0.3, 0.35, 0.39]
    movie = open_movie(tmp_path / name)
    assert [frame.time for frame in movie.frames()] == times and movie.rate == 10
    assert [step.time for step in detect(tmp_path / name)] == times
    assert [frame.time for frame in open_movie(tmp_path / name, start="0.2s", stop=4).frames()] == times[2:4]
    run("detect", tmp_path / name, "--out", tmp_path / "out")
    assert_allclose(read_trace(tmp_path / "out" / "global-motion.csv").time, times)
    with pytest.raises(ValueError, match="has times of its own"):
        open_movie(tmp_path / name, rate=25)


def test_an_image_that_does_not_tell_how_long_it_is_shown_has_no_times(write_folder, make_frames):
    folder = write_folder({"1.gif": make_frames(1)[0], "2.gif": make_frames(2)[1]})
    for source in (folder, folder / "1.gif"):
        assert np.isnan([frame.time for frame in open_movie(source).frames()]).all()


STACK = np.random.default_rng(0).integers(0, 255, (6, 8, 10), np.uint8)
RGB = np.stack([np.moveaxis(STACK[:3], 0, -1), np.moveaxis(STACK[3:], 0, -1)])
LUMA = RGB @ [0.299, 0.587, 0.114]


@pytest.mark.case("B25")
@pytest.mark.parametrize(
    ("array", "how", "expected"),
    [
        (RGB, {"photometric": "rgb"}, LUMA),
        (np.moveaxis(RGB, -1, 1), {"photometric": "rgb", "planarconfig": "separate"}, LUMA),
        (RGB, {"imagej": True, "metadata": {"axes": "TYXS"}}, LUMA),
        (RGB, {"ome": True, "photometric": "rgb", "metadata": {"axes": "TYXS"}}, LUMA),
        (STACK, {"imagej": True, "metadata": {"axes": "TYX"}}, STACK),
        (STACK, {"imagej": True, "metadata": {"axes": "ZYX"}}, STACK),
        (STACK.astype("u2") * 200, {"imagej": True, "metadata": {"axes": "TYX"}}, STACK * 200.0),
    ],
)
def test_channels_of_tiffs_are_colours(tmp_path, array, how, expected):
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite(tmp_path / "a.tif", array, **how)
    assert_allclose(read_movie(tmp_path / "a.tif"), expected, rtol=1e-5)


@pytest.mark.case("B25")
@pytest.mark.parametrize(
    ("array", "how", "message"),
    [
        (
            STACK.reshape(3, 2, 8, 10),
            {"imagej": True, "metadata": {"axes": "TCYX"}},
            "2 channels, 1 slices and 3 frames",
        ),
        (
            STACK.reshape(3, 2, 8, 10),
            {"imagej": True, "metadata": {"axes": "TZYX"}},
            "1 channels, 2 slices and 3 frames",
        ),
        (STACK.reshape(3, 2, 8, 10), {"ome": True, "metadata": {"axes": "TCYX"}}, "2 channels, 1 slices and 3 frames"),
        (np.moveaxis(STACK[:2], 0, -1), {"photometric": "minisblack", "planarconfig": "contig"}, "has 2 channels"),
        (STACK[:3].astype("u2") * 200, {"photometric": "rgb", "planarconfig": "separate"}, "more than 8 bit in planes"),
    ],
)
@pytest.mark.parametrize("entry", [open_movie, detect, lambda path: learn([path])])
def test_what_would_be_read_as_something_else_is_refused(tmp_path, array, how, message, entry):
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite(tmp_path / "a.tif", array, **how)
    with pytest.raises(VideoError) as error:
        entry(tmp_path / "a.tif")
    assert re.fullmatch(rf"\S*a\.tif: (is a stack of |)[^:]*{message}.*", f"{error.value}")  # the cause alone, and once
    assert f"{error.value}".count("a.tif") == 1


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.case("B15")
@every_entry
def test_frames_are_those_that_decode(encode, make_frames, run, tmp_path, entry):
    path = encode("a.avi", make_frames(40), range(40), Fraction(1, 25), "mpeg4", rate=25)
    content = path.read_bytes()
    at = content.index(b"strh") + 8 + 32
    path.write_bytes(content[:at] + struct.pack("<i", 41) + content[at + 4 :])
    assert PAIRS[entry](path, run, tmp_path / "out") == 39


@pytest.mark.case("B16")
@pytest.mark.filterwarnings("ignore:.*damaged after:UserWarning")  # that it is told is another test's
@every_entry
def test_a_damaged_frame_is_in_no_pair(encode, make_frames, run, tmp_path, entry):
    path = encode("a.avi", make_frames(40), range(40), Fraction(1, 25), "mpeg4", rate=25, options={"g": "1"})
    with av.open(str(path)) as container:
        packet = bytes(next(islice(container.demux(video=0), 20, None)))
    damaged = packet[:40] + bytes(len(packet) - 40)
    path.write_bytes(path.read_bytes().replace(packet, damaged))
    assert PAIRS[entry](path, run, tmp_path / "out") == 37


@pytest.mark.case("B39")
@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [("a.mp4", b"", "is empty"), ("a.mp4", b"hello world\n" * 99, "cannot be read"), ("missing.mp4", None, "No such")],
)
@every_entry
def test_what_cannot_be_read_is_named_with_the_reason(run, tmp_path, name, content, reason, entry):
    {True: lambda: None, False: lambda: (tmp_path / name).write_bytes(content)}[content is None]()
    with pytest.raises((VideoError, AssertionError), match=rf"{name}: .*{reason}"):
        PAIRS[entry](tmp_path / name, run, tmp_path / "out")


@pytest.fixture
def write_moving(encode, write_folder, make_frames):
    """Write frames that move to the right by half a pixel each, in some format."""
    texture = gaussian_filter(np.random.default_rng(1).standard_normal((48, 200)), 1.5)
    texture = 128 + 40 * texture / texture.std()
    frames = [np.round(shift(texture, (0, t / 2), order=3)[:, 60:132]).clip(0, 255).astype(np.uint8) for t in range(40)]
    writers = {
        "mp4": lambda: encode("a.mp4", frames, range(40), Fraction(1, 25), options={"qp": "4"}),
        "y4m": lambda: encode("a.y4m", frames, range(40), Fraction(1, 25), "wrapped_avframe", rate=25),
        "turned": lambda: encode(
            "turned.mp4", [np.rot90(f, -1).copy() for f in frames], range(40), Fraction(1, 25), rotation=90
        ),
        "png": lambda: write_folder({f"{k}.png": frame for k, frame in enumerate(frames)}),
        "array": lambda: np.stack(frames),
        "uint16": lambda: np.stack(frames).astype(np.uint16) * 16,
    }
    return lambda kind: writers[kind]()


def translation_detected(source):
    return np.nanmedian([step.motion[:2] for step in detect(source)], axis=0)


def translation_learned(source):
    learner = MotionLearner(vision="video", patch=5, random_state=0).fit(open_movie(source))
    return learner.scale_ * np.median(learner.predict(open_movie(source)), axis=0)


@pytest.mark.case("B40")
@pytest.mark.case("B23")
@pytest.mark.parametrize(
    ("read", "kind"),
    [
        *((translation_detected, kind) for kind in ("mp4", "y4m", "turned", "png", "array", "uint16")),
        *((translation_learned, kind) for kind in ("turned", "uint16")),
    ],
)
def test_motion_is_the_same_from_every_format(write_moving, read, kind):
    """Also where a clip is tagged as turned, and whatever the unit of intensity."""
    assert_allclose(read(write_moving(kind)), [0.5, 0], atol=0.08)


@pytest.mark.case("B24")
def test_named_dimensions_are_put_in_order_for_whoever_reads(write_moving):
    xarray = pytest.importorskip("xarray")
    named = xarray.DataArray(write_moving("array").transpose(2, 0, 1), dims=("x", "time", "y"))
    assert_array_equal(read_movie(named), write_moving("array"))
    assert_allclose(translation_detected(named), [0.5, 0], atol=0.05)
    assert learn(named, patch=5, n_pairs=2000).n_pairs_seen_ == 39


# -- sizes -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def make_uneven(tmp_path, make_frames, write_folder):
    """A source whose third frame has another size: a folder, a stack or a video."""
    frames = [*make_frames(2), *make_frames(2, size=(48, 64))]

    def stack():
        first, *rest = map(Image.fromarray, frames)
        first.save(tmp_path / "a.tif", save_all=True, append_images=rest)
        return tmp_path / "a.tif"

    def video():
        with av.open(str(tmp_path / "a.mkv"), "w") as container:
            stream = container.add_stream("mjpeg", rate=25)
            (stream.height, stream.width), stream.pix_fmt = SIZE, "yuvj420p"
            for number, array in enumerate(frames):
                coder = av.CodecContext.create("mjpeg", "w")
                (coder.height, coder.width), coder.pix_fmt = array.shape, "yuvj420p"
                coder.time_base = Fraction(1, 25)
                frame = av.VideoFrame.from_ndarray(array, format="gray").reformat(format="yuvj420p")
                for packet in [*coder.encode(frame), *coder.encode()]:
                    packet.stream, packet.pts, packet.dts = stream, 40 * number, 40 * number
                    packet.time_base = MS
                    container.mux(packet)
        return tmp_path / "a.mkv"

    makers = {
        "images": lambda: write_folder({f"{k}.png": f for k, f in enumerate(frames)}),
        "a.tif": stack,
        "a.mkv": video,
    }
    return lambda name: makers[name]()


@pytest.mark.parametrize("name", ["images", "a.tif", "a.mkv"])
@every_entry
def test_sizes_that_change_are_named_with_the_file_the_frame_and_both(make_uneven, run, tmp_path, name, entry):
    path = make_uneven(name)
    with pytest.raises((VideoError, AssertionError), match=rf"{name}: frame 2 .*\(48, 64\); expected \(48, 72\)"):
        PAIRS[entry](path, run, tmp_path / "out")


def test_the_image_of_another_size_is_named(make_uneven):
    with pytest.raises(VideoError, match=r"images: frame 2 has shape .*, in 2\.png"):
        read_movie(make_uneven("images"))


@pytest.mark.parametrize("options", [{"crop": (0, 99, 0, 9)}, {"scale": 99}])
@pytest.mark.parametrize("entry", [open_movie, detect, lambda path, **how: learn([path], **how)])
def test_errors_of_size_name_the_file(encode, make_frames, options, entry):
    path = encode("a.mp4", make_frames(3), range(3), Fraction(1, 25))
    with pytest.raises(VideoError, match=r"a\.mp4: (crop|scale) is"):
        entry(path, **options)


def test_a_video_too_small_to_learn_from_is_named(encode, make_frames):
    sizes = {"a.mp4": (48, 64), "b.mp4": (8, 8)}
    large, small = (encode(name, make_frames(9, size=s), range(9), Fraction(1, 25)) for name, s in sizes.items())
    with pytest.raises(VideoError, match=r"b\.mp4: .*hold no patch of 9"):
        learn([large, small])


# -- lazy arrays -------------------------------------------------------------------------------------------------------


LAZY = {
    "open_movie": (lambda array: open_movie(array), 1),
    "read_movie": (lambda array: read_movie(array), 1),
    "every pass": (lambda movie: [list(movie) for _ in range(3)], 3),
    "batches": (lambda array: list(open_movie(array).batches(5)), 1),
    "detect": (lambda array: list(detect(array)), 1),
    "learn": (lambda array: learn(array, patch=5, n_pairs=2000), 1),
    "fit": (lambda array: MotionLearner(vision="video", patch=5).fit(array), 1),
    "fit a movie": (lambda array: MotionLearner(vision="video", patch=5).fit(open_movie(array)), 1),
}
"""What reads an array, and how often it does."""


@pytest.mark.parametrize("entry", LAZY)
def test_each_chunk_of_a_lazy_array_is_computed_once(make_frames, entry):
    dask = pytest.importorskip("dask.array")
    counts = np.zeros(4, dtype=int)

    def compute(block, block_info=None):
        counts[block_info[0]["chunk-location"][0]] += 1
        return block

    stored = dask.from_array(np.stack(make_frames(60)), chunks=((7, 20, 3, 30), SIZE[0], SIZE[1]))
    array = stored.map_blocks(compute, meta=np.zeros((0, 0, 0), np.uint8))
    function, n_passes = LAZY[entry]
    function(open_movie(array) if entry == "every pass" else array)
    assert counts.max() <= n_passes and (counts[1:] <= n_passes).all()


def test_a_lazy_array_with_names_is_not_computed_whole(make_frames):
    dask, xarray = (pytest.importorskip(name) for name in ("dask.array", "xarray"))
    frames = np.stack(make_frames(6))
    array = dask.from_array(frames.transpose(1, 2, 0), chunks=(*SIZE, 2))
    assert_array_equal(read_movie(xarray.DataArray(array, dims=("y", "x", "time"))), frames)


# -- levels ------------------------------------------------------------------------------------------------------------


def scaled(frames, kind):
    return {"uint16": lambda f: f.astype(np.uint16) * 200, "unit": lambda f: f / np.float32(255), "uint8": lambda f: f}[
        kind
    ](np.stack(frames))


@pytest.mark.case("B58")
@pytest.mark.parametrize("kind", ["uint8", "uint16", "unit"])
@pytest.mark.parametrize("mode", MODES)
def test_the_picture_is_seen_whatever_the_levels(make_frames, tmp_path, kind, mode):
    frames = make_frames(4, size=(240, 320))
    found = detect(scaled(frames, kind), rate=25)
    with OverlayVideo(tmp_path / "o.mp4", found, mode) as video:
        for step in found:
            video.write(step)
    first = next(iter(open_movie(tmp_path / "o.mp4")))  # without motion
    part = {"directions": (first[40:110, 60:150], frames[0][80:220:2, 120:300:2])}.get(
        mode, (first[60:180, 60:250], frames[0][60:180, 60:250])
    )
    assert 40 < part[0].mean() < 180 and part[0].std() > 12
    assert np.corrcoef(part[0].ravel(), part[1].ravel())[0, 1] > 0.6


@pytest.mark.case("B58")
@pytest.mark.parametrize("kind", ["uint8", "uint16", "unit"])
def test_watching_shows_the_picture_whatever_the_levels(make_frames, kind, monkeypatch):
    monkeypatch.setattr(terminal, "_cell", lambda mark, grey: grey)
    frames = scaled(make_frames(3, size=(96, 128)), kind)
    found = detect(frames)
    screen = terminal.Screen(found)
    greys = [np.array(screen._rows(step, SimpleNamespace(width=60, height=30))) for step in found]
    assert len(np.unique(greys[-1])) >= 4


def test_levels_of_a_format_are_fixed_and_others_never_shrink():
    dark = np.arange(8.0, dtype=np.float32).reshape(2, 4)
    assert_array_equal(Levels(255.0).shown(dark), dark)
    levels = Levels()
    levels.shown(100 * dark)
    assert levels.shown(dark).max() < 3


@pytest.mark.case("B58")
def test_numbers_do_not_depend_on_the_levels_shown(make_frames):
    frames = np.stack(make_frames(4))
    a, b = (list(detect(each)) for each in (frames.astype(np.float32), frames / np.float32(256)))
    assert_allclose([step.motion for step in b[1:]], [step.motion for step in a[1:]], rtol=1e-4, atol=1e-6)


# -- nothing to see ----------------------------------------------------------------------------------------------------


@pytest.fixture
def make_covered():
    """A covered lens: a vignette of some level, and noise of so many grey levels."""

    def make(n=4, noise=1.0, size=(120, 160), level=24):
        y, x = np.mgrid[-1 : 1 : size[0] * 1j, -1 : 1 : size[1] * 1j]
        frames = level - level / 4 * (x**2 + y**2) + noise * np.random.default_rng(0).standard_normal((n, *size))
        return np.clip(np.round(frames), 0, 255).astype(np.uint8)

    return make


COVERED = {
    "array": lambda frames, encode: frames,
    "float": lambda frames, encode: frames / np.float32(255),
    "mp4": lambda frames, encode: encode("a.mp4", list(frames), range(len(frames)), Fraction(1, 25)),
}


@pytest.mark.parametrize("kind", COVERED)
def test_a_covered_lens_tells_nothing(make_covered, encode, kind):
    steps = []
    for step in detect(COVERED[kind](make_covered(), encode)):
        steps += [] if step.field is None else [(step.field.confidence.copy(), step.motion, step.noise)]
    for confidence, motion, noise in steps:
        assert np.median(confidence) < 0.005 and (confidence > 0.2).mean() < 0.02
        assert np.isnan(motion.x) and motion.support == 0
        assert noise > 0


def jpegs(folder, frames):
    """Write frames as a folder of JPEGs; returns its path."""
    folder.mkdir()
    for k, frame in enumerate(frames):
        Image.fromarray(frame).save(folder / f"{k}.jpg")
    return folder


def h264(frames, encode, crf):
    """Write frames in H.264, on one thread, so that it is always the same; returns the path."""
    return encode("a.mp4", frames, range(len(frames)), Fraction(1, 30), options={"crf": crf, "threads": "1"})


CODED = {
    "h264": lambda frames, encode, folder: h264(frames, encode, "18"),
    "h264-28": lambda frames, encode, folder: h264(frames, encode, "28"),
    "mpeg4": lambda frames, encode, folder: encode(
        "a.avi", frames, range(len(frames)), Fraction(1, 30), "mpeg4", options={"qscale": "4"}
    ),
    "jpeg": lambda frames, encode, folder: jpegs(folder, frames),
}
"""What loses something: ways to write frames."""


@pytest.mark.parametrize("level", [60, 120, 200])
@pytest.mark.parametrize("kind", CODED)
def test_what_a_codec_makes_of_a_covered_lens_is_nothing(make_covered, encode, tmp_path, kind, level):
    found = detect(CODED[kind](list(make_covered(n=12, size=(240, 320), level=level)), encode, tmp_path / "jpegs"))
    overlay = Overlay("arrows", found.angles, found.movie.white, found.field.floor)
    for step in found:
        assert step.field is None or (step.field.confidence > 0.2).mean() < 0.005
        assert np.isnan(step.motion.x)
        drawn = overlay.draw(step)[60:100, 60:140].astype(int)
        assert (drawn.max(axis=2) - drawn.min(axis=2) <= 40).all()


@pytest.mark.parametrize("kind", CODED)
def test_what_codecs_make_of_nothing_takes_nothing_from_texture(make_frames, encode, tmp_path, kind, monkeypatch):
    pale = [np.round(128 + 0.5 * (frame - 128.0)).astype(np.uint8) for frame in make_frames(6, size=(120, 160))]
    path = CODED[kind](pale, encode, tmp_path / "jpegs")
    seen = list(detect(path))[1:]
    monkeypatch.setattr(detection, "CODING", 0.0)
    assert_allclose([step.motion for step in seen], [step.motion for step in list(detect(path))[1:]], atol=0.03)


@pytest.mark.parametrize("mode", MODES)
def test_nothing_is_drawn_over_a_covered_lens(make_covered, encode, mode):
    found = detect(make_covered(size=(240, 320)))
    overlay = Overlay(mode, found.angles, found.movie.white, found.field.floor)
    for step in found:
        drawn = overlay.draw(step)[60:100, 60:140].astype(int)
        assert (drawn.max(axis=2) - drawn.min(axis=2) > 40).mean() < 0.02


@pytest.mark.parametrize("learned", [False, True])
def test_watching_a_covered_lens_shows_no_arrow(make_covered, make_frames, learned, monkeypatch):
    monkeypatch.setattr(terminal, "_cell", lambda mark, grey: mark)
    model = learn(np.stack(make_frames(60)), patch=5, n_pairs=2000) if learned else None
    found = detect(make_covered(size=(240, 320)), model=model)
    screen = terminal.Screen(found)
    marks = [np.array(screen._rows(step, SimpleNamespace(width=60, height=30))) for step in found]
    assert max((each >= 0).mean() for each in marks) < 0.005


@pytest.mark.parametrize("contrast", [2, 6])
def test_faint_texture_is_still_seen(make_frames, contrast):
    clean = np.stack(make_frames(4, size=(120, 160))).astype(float)
    noisy = 60 + contrast / 45 * (clean - 128) + 0.3 * np.random.default_rng(0).standard_normal(clean.shape)
    known = [step.motion for step in detect(np.round(clean).astype(np.uint8))][1:]
    seen = [step.motion for step in detect(np.clip(np.round(noisy), 0, 255).astype(np.uint8))][1:]
    assert_allclose([m[:2] for m in seen], [m[:2] for m in known], atol=0.1)


UNLIKE = {"scenes": (4, "each of the 20 frames looked at begins a clip of its own"), "noise": (1, "content that moves")}
"""What frames that have nothing in common are made of, the size of its grains, and what is said of them."""


@pytest.mark.parametrize("kind", UNLIKE)
def test_learning_from_frames_without_anything_in_common_says_why_not(write_folder, kind):
    grain, reason = UNLIKE[kind]
    few = np.random.default_rng(0).integers(0, 256, (20, SIZE[0] // grain, SIZE[1] // grain), np.uint8)
    frames = few.repeat(grain, axis=1).repeat(grain, axis=2)
    folder = write_folder({f"{k}.png": frame for k, frame in enumerate(frames)})
    for source in (frames, folder):
        with pytest.raises(VideoError, match=reason):
            learn(source)


def clips_in_the_table(source, run, out):
    pairs_in_the_table(source, run, out)
    return int(read_trace(out / "global-motion.csv").cut.sum())


CLIPS = {
    "open_movie": lambda source, run, out: sum(frame.cut for frame in open_movie(source, edits="split").frames()),
    "flymotion.detecting.detect": lambda source, run, out: sum(step.cut for step in detect(source)),
    "detect": clips_in_the_table,
    "watch": lambda source, run, out: 12 - pairs_watched(source, run, out),
}
"""How many clips each entry point sees in 12 frames; learning from noise is refused."""


@pytest.mark.parametrize("entry", CLIPS)
def test_a_black_lens_is_one_clip(encode, run, tmp_path, entry):
    assert CLIPS.keys() == PAIRS.keys() - {"learn"}
    black = np.clip(np.round(2 + np.random.default_rng(0).standard_normal((12, 48, 72))), 0, 255).astype(np.uint8)
    path = encode("a.mkv", list(black), [round(k * 100 / 3) for k in range(12)], codec="ffv1")
    assert CLIPS[entry](path, run, tmp_path / "out") == 1


# -- processes ---------------------------------------------------------------------------------------------------------

forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
BEGUN = {
    "frames": lambda source: open_movie(source).frames(),
    "images": lambda source: iter(open_movie(source)),
    "batches": lambda source: open_movie(source).batches(2),
    "detect": lambda source: iter(detect(source)),
}
"""Loops over a source that a forked process may go on with."""


def in_child(function, *arguments):
    """What a forked process returns, or its error in words; fails if it hangs."""
    ours, theirs = multiprocessing.Pipe()

    def work():
        try:
            theirs.send(function(*arguments))
        except Exception as error:
            theirs.send(str(error))

    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    answered = ours.poll(60)
    child.join(5)
    child.kill()
    assert answered and child.exitcode == 0
    return ours.recv()


@forking
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # Python's own, from 3.12 on; forking is the point
@pytest.mark.parametrize("kind", ["a.mp4", "images", "array"])
@pytest.mark.parametrize("loop", BEGUN)
def test_a_forked_process_that_goes_on_with_a_loop_is_told(encode, write_folder, make_frames, kind, loop):
    frames = make_frames(12)
    source = {
        "a.mp4": lambda: encode("a.mp4", frames, range(12), Fraction(1, 25)),
        "images": lambda: write_folder({f"{k}.png": f for k, f in enumerate(frames)}),
        "array": lambda: np.stack(frames),
    }[kind]()
    steps = BEGUN[loop](source)
    next(steps)
    assert "begun by another process" in in_child(lambda: sum(1 for _ in steps))
    assert in_child(lambda: sum(1 for _ in BEGUN[loop](source))) == 1 + sum(1 for _ in steps)


@forking
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # Python's own, from 3.12 on; forking is the point
def test_a_movie_is_read_by_a_worker_while_it_is_read_here(encode, make_frames):
    movie = open_movie(encode("a.mp4", make_frames(12), range(12), Fraction(1, 25)))
    here = iter(movie)
    next(here)
    assert in_child(lambda: len(list(movie))) == 12
    assert len(list(here)) == 11


@forking
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # Python's own, from 3.12 on; forking is the point
def test_a_live_movie_belongs_to_the_process_that_opened_it(encode, make_frames, tmp_path):
    path, pipe = encode("a.ts", make_frames(12), range(12), Fraction(1, 25)), tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()))
    writer.start()
    movie = open_movie(pipe)
    with pytest.raises(TypeError, match="is live, and cannot be pickled; open it in the process"):
        pickle.dumps(movie)
    assert "is live and was opened by another process" in in_child(lambda: len(list(movie)))
    assert len(list(movie)) == 12
    writer.join()


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.case("B54")
@pytest.mark.parametrize("name", ["fly [dQw4w9WgXcQ].mp4", "[bold].mp4"])
def test_names_are_said_as_they_are(encode, make_frames, name):
    path = encode(name, make_frames(40), range(40), Fraction(1, 25))
    assert open_movie(path).name == str(path)
    assert learn([path], patch=5, n_pairs=2000).watched_[0].name == str(path)
    with pytest.raises(VideoError) as error:
        list(open_movie(path, start="99s"))
    assert name in str(error.value)


def test_the_rounding_of_what_detectors_look_at_is_known(make_frames):
    frames = np.stack(make_frames(3, size=(96, 128)))
    for kind, factor in ((np.uint8, 1), (np.float32, 0), (np.uint16, 1)):
        assert detect(frames.astype(kind), scale=2).field.noise == pytest.approx(factor * detection.ROUNDING / 2)


@pytest.mark.parametrize(("codec", "coded"), [("libx264", True), ("mpeg4", True), ("ffv1", False)])
def test_whether_frames_were_coded_with_loss_is_known(encode, make_frames, codec, coded):
    found = detect(encode("a.mkv", make_frames(3), range(0, 99, 33), codec=codec))
    assert found.movie.coded == coded
    assert found.field.noise == pytest.approx(detection.CODING if coded else detection.ROUNDING * found.movie.step)

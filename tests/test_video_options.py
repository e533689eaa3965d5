"""Which frames of a movie are wanted, when they are shown, and movies that pass only once."""

import os
import pickle
import socket
import sys
import threading
import tracemalloc
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import accumulate, cycle, islice

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_sample_image

from flymotion.video import VideoError, open_movie, read_movie
from flymotion.video.containers import video_source
from flymotion.video.luminance import luminance
from flymotion.video.reader import Grey
from flymotion.video.selection import is_repeat

av = pytest.importorskip("av")


def waves(n_frames, height=48, width=66):
    """Smooth uint8 frames drifting right, 30 to 226, brighter to the left."""
    t, y, x = np.ogrid[:n_frames, :height, :width]
    movie = 128 + 60 * np.sin((x - 2 * t) / 9) * np.cos(y / 11) + 38 * np.cos(np.pi * x / width)
    return np.round(movie).astype(np.uint8)


def averages(frames, side):
    """Means of areas of side x side pixels, by the book."""
    height, width = (n // side for n in frames.shape[1:])
    means = [
        [frames[:, i * side :, j * side :][:, :side, :side].mean((1, 2)) for j in range(width)] for i in range(height)
    ]
    return np.moveaxis(np.array(means), -1, 0)


def levels(movie):
    """Grey level of each frame of a movie of flat frames."""
    return [round(float(image.flat[0])) for image in movie]


def flat(values, shape=(4, 6)):
    return np.array([np.full(shape, value) for value in values], dtype=np.uint8)


# Time stamps


def test_video_frames_carry_their_time_stamps(write_video):
    stamps = list(islice(accumulate(cycle([1, 1, 4])), 12))
    movie = open_movie(write_video("a.mp4", waves(12), stamps=stamps))
    times = [frame.time for frame in movie.frames()]
    np.testing.assert_allclose(times, (np.array(stamps) - stamps[0]) / 25, atol=1e-9)
    np.testing.assert_array_equal(np.concatenate([batch.times for batch in movie.batches(5)]), times)


@pytest.mark.parametrize(
    ("name", "codec"), [("a.mp4", "libx264"), ("a.mkv", "libx264"), ("a.ts", "libx264"), ("a.avi", "libx264")]
)
def test_times_of_a_constant_rate_begin_at_0_in_every_container(write_video, name, codec):
    times = [frame.time for frame in open_movie(write_video(name, waves(20), codec, b_frames=2)).frames()]
    np.testing.assert_allclose(times, np.arange(20) / 25, atol=1e-3)


def test_time_goes_on_over_missing_frames(write_video):
    frames = list(open_movie(write_video("a.mp4", waves(20), drop=[12])).frames())
    np.testing.assert_allclose([frame.time for frame in frames], np.delete(np.arange(20), 12) / 25, atol=1e-9)
    assert [i for i, frame in enumerate(frames) if frame.cut] == [0, 12]


def test_images_and_arrays_have_times_only_if_told_their_rate(tmp_path):
    for i, frame in enumerate(waves(3)):
        Image.fromarray(frame).save(tmp_path / f"{i}.png")
    for source in (tmp_path, waves(3)):
        assert [frame.time for frame in open_movie(source, rate=50).frames()] == [0, 0.02, 0.04]
        assert np.isnan([frame.time for frame in open_movie(source).frames()]).all()


def test_time_of_a_damaged_image_passes(tmp_path):
    for i, frame in enumerate(waves(4)):
        Image.fromarray(frame).save(tmp_path / f"{i}.png")
    (tmp_path / "1.png").write_bytes(b"")
    with pytest.warns(UserWarning, match="damaged after 1 frames"):
        frames = list(open_movie(tmp_path, rate=1).frames())
    assert [(frame.time, frame.cut) for frame in frames] == [(0, True), (2, True), (3, False)]


# Start, stop and stride


@pytest.mark.parametrize(("name", "b_frames"), [("a.mp4", 2), ("a.mkv", 2), ("a.ts", 2), ("a.avi", 2), ("b.avi", 0)])
@pytest.mark.parametrize("start", [0, 1, 11, 12, 13, 37, 59])
def test_entering_a_video_by_time_gives_what_reading_from_the_start_gives(write_video, name, b_frames, start):
    path = write_video(name, waves(60), b_frames=b_frames, options={"g": "12"})
    whole = list(open_movie(path).frames())
    part = list(open_movie(path, start=f"{max(0, whole[start].time - 1e-4):.6f}s").frames())
    assert [frame.time for frame in part] == [frame.time for frame in whole[start:]]
    np.testing.assert_array_equal([f.image for f in part], [f.image for f in whole[start:]])
    assert [frame.cut for frame in part] == [True] + [False] * (len(part) - 1)


@pytest.mark.parametrize(("name", "n_before"), [("a.mp4", 26), ("a.mkv", 26), ("a.ts", 14), ("a.avi", 0)])
def test_entering_by_time_decodes_from_a_key_frame_on_where_there_are_time_stamps(write_video, name, n_before):
    source = video_source(write_video(name, waves(60), b_frames=2, options={"g": "12"}))
    assert next(source.read(2.0)).number == n_before


@pytest.mark.slow
def test_entering_a_real_video_by_time_is_exact(real_video):
    whole = list(open_movie(real_video, scale=8).frames())
    whole = whole[3 * len(whole) // 4 :]
    part = list(open_movie(real_video, scale=8, start=f"{whole[0].time - 1e-5:.7f}s").frames())
    assert [frame.time for frame in part] == [frame.time for frame in whole]
    np.testing.assert_array_equal([frame.image for frame in part], [frame.image for frame in whole])


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [
        (2, 5, [2, 3, 4]),
        ("2", "5", [2, 3, 4]),
        ("0.2s", "0.5 s", [2, 3, 4]),
        ("0.11s", None, [2, 3, 4, 5, 6, 7]),
        ("0.6s", 7, [6]),
        (6, "99s", [6, 7]),
        (0, 99, list(range(8))),
    ],
)
def test_start_and_stop_are_frames_or_seconds(write_video, start, stop, expected):
    array = flat(range(0, 160, 20))
    movie = open_movie(array, start=start, stop=stop, rate=10)
    assert levels(movie) == [20 * i for i in expected]
    assert movie.n_frames_estimate == pytest.approx(len(expected), abs=1)


@pytest.mark.parametrize("start", [1.5, "1.5", -1, "-1s", "1:30", "s", None])
def test_a_start_without_a_clear_unit_is_refused(start):
    with pytest.raises(ValueError, match=r"start is .*expected a number of frames, such as 250, or seconds, such as"):
        open_movie(waves(3), start=start)


def test_seconds_need_times():
    with pytest.raises(VideoError, match="array: has no times; give start and stop as numbers of frames, or the rate"):
        open_movie(waves(3), start="1s")


def test_nothing_between_start_and_stop_is_an_error(write_video):
    movie = open_movie(write_video("a.mp4", waves(5)), start="99s")
    with pytest.raises(VideoError, match=r"a.mp4: has no frame between start and stop"):
        list(movie)


def test_a_stack_is_entered_without_loading_what_comes_before(tmp_path):
    path = tmp_path / "a.tif"
    first, *rest = [Image.fromarray(frame) for frame in flat(range(9))]
    first.save(path, save_all=True, append_images=rest)
    assert levels(open_movie(path, start=3, stop=7, stride=2)) == [3, 5]


def test_a_stride_takes_every_kth_frame_and_bridges_no_cut(write_video):
    movie = open_movie(write_video("a.mkv", waves(20), "ffv1", drop=[7]), stride=3)
    taken = [(round(25 * frame.time), frame.cut) for frame in movie.frames()]
    assert taken == [(0, True), (3, False), (6, False), (8, True), (11, False), (14, False), (17, False)]
    assert movie.rate == pytest.approx(25 / 3)


def steps_of(movie):
    """When frames are shown [frames], and from which frame before, in steps; 0 where they begin a clip."""
    return [(round(25 * frame.time), 0 if frame.cut else round(frame.steps, 3)) for frame in movie.frames()]


@pytest.mark.parametrize("name", ["a.mkv", "a.mp4"])
def test_gaps_are_bridged_if_asked_for(write_video, name):
    path = write_video(name, waves(40), drop=[7, 11, 12, *range(20, 29)])
    assert [n for n, steps in steps_of(open_movie(path)) if not steps] == [0, 8, 13, 29]
    found = steps_of(open_movie(path, gaps="bridge"))
    assert [(n, steps) for n, steps in found if steps != 1] == [(0, 0), (8, 2), (13, 3), (29, 0)]  # nine are too many


def test_a_lower_rate_is_a_longer_step_if_gaps_are_bridged(write_video):
    path = write_video("a.mkv", waves(20)[:14], stamps=[*range(10), 11, 13, 15, 17])
    assert [steps for _, steps in steps_of(open_movie(path))] == [0, *[1] * 13]
    assert [steps for _, steps in steps_of(open_movie(path, gaps="bridge"))] == [0, *[1] * 9, 2, 2, 2, 2]


def test_a_stride_counts_frames_that_are_missing(write_video):
    movie = open_movie(write_video("a.mkv", waves(20), "ffv1", drop=[7, 12, 13]), gaps="bridge", stride=3)
    assert steps_of(movie) == [(0, 0), (3, 1), (6, 1), (9, 1), (14, 1.667), (17, 1)]


def test_gaps_in_the_numbers_of_images_are_bridged(tmp_path):
    for k in {*range(12)} - {4, 8, 9}:
        Image.fromarray(waves(12)[k]).save(tmp_path / f"{k}.png")
    found = steps_of(open_movie(tmp_path, gaps="bridge", rate=25))
    assert [(n, steps) for n, steps in found if steps != 1] == [(0, 0), (5, 2), (10, 3)]


@pytest.mark.parametrize("gaps", ["split", "bridge"])
def test_what_is_damaged_is_never_bridged(tmp_path, gaps):
    for k, frame in enumerate(waves(8)):
        Image.fromarray(frame).save(tmp_path / f"{k}.png")
    (tmp_path / "3.png").write_bytes(b"damaged")
    with pytest.warns(UserWarning, match="a new clip begins there"):
        assert [n for n, steps in steps_of(open_movie(tmp_path, gaps=gaps, rate=25)) if not steps] == [0, 4]


def test_max_frames_counts_what_is_taken():
    movie = open_movie(flat(range(20)), start=5, stride=4, max_frames=3)
    assert (levels(movie), movie.n_frames_estimate) == ([5, 9, 13], 3)


# Repeated frames

REPEATED = [0, 1, 2, 3, 3, 4, 5, 6, 7, 7, 7, 8, 9]


@pytest.mark.parametrize(
    ("name", "options"), [("a.mp4", {"crf": "5"}), ("a.mp4", {"crf": "18"}), ("a.mp4", {"qp": "0"})]
)
def test_repeated_frames_are_dropped_without_a_cut(write_video, name, options):
    path = write_video(name, waves(10)[REPEATED], b_frames=2, options=options)
    frames = list(open_movie(path, duplicates="drop").frames())
    assert [round(25 * frame.time) for frame in frames] == [0, 1, 2, 3, 5, 6, 7, 8, 11, 12]
    assert [frame.cut for frame in frames] == [True] + [False] * 9
    assert len(read_movie(path)) == len(REPEATED)


def test_stride_counts_what_is_left_after_repeats():
    assert levels(open_movie(flat([0, 0, 10, 20, 20, 30, 40]), duplicates="drop", stride=2)) == [0, 20, 40]


def test_small_and_slow_motion_is_no_repeat():
    before = np.full((64, 80), 100, dtype=np.uint8)
    after = before.copy()
    after[20:24, 33:37] = 180
    y = partial(Grey, low=16, high=235, gain=255 / 219)
    assert not is_repeat(y(before), y(after))
    assert is_repeat(y(before), y(before + np.uint8(3)))
    assert is_repeat(Grey(before), Grey(before.copy()))
    assert not is_repeat(Grey(before), Grey(before + np.uint8(1)))  # of unknown scale


def test_slow_drift_adds_up_until_it_shows(write_video):
    planes = np.concatenate([flat(range(100, 121), (32, 32)), flat([128] * 21, (16, 32))], axis=1)
    frames = read_movie(write_video("a.mkv", planes, "ffv1", source="yuv420p"), duplicates="drop")
    np.testing.assert_allclose(frames[:, 0, 0], (np.arange(100, 121, 4) - 16) * 255 / 219, rtol=1e-6)


# Crop and scale


@pytest.mark.parametrize("side", [1, 2, 3, 4, 5, 20])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
def test_downsampling_averages_areas_and_drops_the_rest(dtype, side):
    frames = (np.random.default_rng(0).random((2, 43, 47)) * 250).astype(dtype)
    movie = open_movie(frames, scale=side)
    np.testing.assert_allclose(list(movie), averages(frames.astype(float), side), rtol=1e-5)
    assert movie.shape == (43 // side, 47 // side)


@pytest.mark.parametrize("side", [3, 17])
@pytest.mark.parametrize("top", [255, 65535])
def test_sums_of_areas_never_wrap(side, top):
    grey = Grey(np.full((34, 34), top, dtype=np.min_scalar_type(top)))
    np.testing.assert_allclose(luminance(grey, side), top, rtol=1e-6)


def test_areas_are_averages_of_luminance_clipped_first(write_video):
    y = np.array([[0, 16, 235, 255] * 8] * 16, dtype=np.uint8)
    path = write_video("a.mkv", [np.concatenate([y, np.full((8, 32), 128, dtype=np.uint8)])], "ffv1", source="yuv420p")
    np.testing.assert_allclose(read_movie(path, scale=2), [[[0, 255] * 8] * 8], atol=1e-4)
    np.testing.assert_allclose(read_movie(path, scale=4), [[[127.5] * 8] * 4], atol=1e-4)


@pytest.mark.parametrize("rotation", [0, 90, 180, -90])
def test_crop_is_of_the_upright_frame(write_video, rotation):
    path = write_video("a.mp4", waves(2), rotation=rotation)
    whole = read_movie(path)
    part = open_movie(path, crop=(5, 30, 10, 43))
    assert part.shape == (25, 33)
    np.testing.assert_array_equal(list(part), whole[:, 5:30, 10:43])
    small = read_movie(path, crop=(5, 30, 10, 43), scale=4)
    np.testing.assert_allclose(small, averages(whole[:, 5:30, 10:43], 4), rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"crop": (0, 49, 0, 10)}, r"crop is \(0, 49, 0, 10\); expected top < bottom <= 48 and left < right <= 66"),
        ({"crop": (-1, 5, 0, 10)}, "none below 0"),
        ({"crop": (5, 5, 0, 10)}, "expected top < bottom"),
        ({"crop": (0, 5)}, r"expected \(top, bottom, left, right\)"),
        ({"crop": (0, 8, 0, 10), "scale": 9}, "scale is 9; expected at most 8"),
        ({"scale": 0}, "scale is 0; expected at least 1"),
        ({"stride": 0}, "stride is 0; expected at least 1"),
        ({"duplicates": "yes"}, "duplicates is 'yes'; expected 'keep' or 'drop'"),
        ({"gaps": "close"}, "gaps is 'close'; expected 'split' or 'bridge'"),
        ({"edits": "cut"}, "edits is 'cut'; expected 'keep' or 'split'"),
        ({"rate": 0}, "rate is 0; expected frames per second above 0"),
        ({"stop": 2.5}, "stop is 2.5; expected a number of frames"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        open_movie(waves(2), **options)


def test_an_option_that_there_is_not_is_refused():
    with pytest.raises(TypeError, match="'downsample'"):
        open_movie(waves(2), downsample=2)


def test_flat_frames_have_no_area():
    with pytest.raises(ValueError, match=r"frames have shape \(4,\); expected \(height, width\)"):
        open_movie(np.zeros((3, 4)), scale=2)


def test_a_video_takes_no_rate(write_video):
    with pytest.raises(ValueError, match=r"rate is 30, but .*a.mp4 has times of its own"):
        open_movie(write_video("a.mp4", waves(2)), rate=30)


# Arrays on disk


class Chunked:
    """What zarr and h5py arrays offer: a shape, chunks and slicing; counts the frames fetched."""

    def __init__(self, array, chunk):
        self.array, self.shape, self.dtype, self.fetched = array, array.shape, array.dtype, 0
        self.chunks = (chunk, *array.shape[1:])

    def __getitem__(self, rows):
        self.fetched += len(self.array[rows])
        return self.array[rows]


@pytest.mark.parametrize("chunk", [1, 4, 50])
def test_each_chunk_of_an_array_is_fetched_once(chunk):
    array = Chunked(waves(10), chunk)
    movie = open_movie(array)
    array.fetched = 0
    np.testing.assert_array_equal(list(movie), array.array)
    assert array.fetched <= 10 + chunk
    np.testing.assert_array_equal(read_movie(array, start=3, stop=9, stride=2), array.array[3:9:2])


def test_npy_file_is_read_frame_by_frame(tmp_path):
    np.save(tmp_path / "a.npy", np.tile(waves(1), (2000, 1, 1)))
    tracemalloc.start()
    try:
        movie = open_movie(tmp_path / "a.npy", rate=10)
        assert sum(1 for _ in movie) == movie.n_frames_estimate == 2000
        assert tracemalloc.get_traced_memory()[1] < 50 * 48 * 66 * 8
    finally:
        tracemalloc.stop()


def test_zarr_file_is_read(tmp_path):
    zarr = pytest.importorskip("zarr")
    array = zarr.open(str(tmp_path / "a.zarr"), mode="w", shape=(5, 48, 66), chunks=(2, 48, 66), dtype="u1")
    array[:] = waves(5)
    np.testing.assert_array_equal(read_movie(tmp_path / "a.zarr", start=1), waves(5)[1:])
    zarr.open_group(str(tmp_path / "group.zarr"), mode="w")
    with pytest.raises(VideoError, match=r"group.zarr: holds a group of arrays"):
        open_movie(tmp_path / "group.zarr")


def test_zarr_that_is_not_installed_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    (tmp_path / "a.zarr").mkdir()
    with pytest.raises(VideoError, match=r"a.zarr: needs zarr; install it with: pip install zarr$"):
        open_movie(tmp_path / "a.zarr")


@pytest.mark.parametrize("content", [b"", b"hello world", b"\x93NUMPY\x01\x00"])
def test_damaged_npy_is_named(tmp_path, content):
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(VideoError, match=r"a.npy: cannot be read as an array"):
        open_movie(tmp_path / "a.npy")


# Live sources


@contextmanager
def serve(folder):
    """Serve a folder over HTTP from this machine."""
    handler = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def pipe(tmp_path):
    """Make a named pipe into which a file is written, and return its path."""
    threads = []

    def make(path):
        fifo = tmp_path / "pipe"
        os.mkfifo(fifo)
        threads.append(threading.Thread(target=lambda: fifo.write_bytes(path.read_bytes())))
        threads[0].start()
        return fifo

    yield make
    for thread in threads:
        thread.join(10)


def assert_passes_once(movie, expected):
    assert movie.live
    assert movie.n_frames_estimate is None
    frames = list(movie.frames())
    np.testing.assert_array_equal([frame.image for frame in frames], expected)
    np.testing.assert_allclose([frame.time for frame in frames], np.arange(len(expected)) / 25, atol=1e-3)
    with pytest.raises(VideoError, match="is live and was read before; open it anew"):
        next(iter(movie))


def test_a_url_is_live_and_passes_once(write_video):
    path = write_video("a.mkv", waves(12), b_frames=2)
    with serve(path.parent) as url:
        movie = open_movie(f"{url}/a.mkv")
        assert movie.name == f"{url}/a.mkv"
        assert_passes_once(movie, read_movie(path))


@pytest.mark.parametrize("name", ["a.ts", "a.mkv"])
def test_a_named_pipe_is_live_and_passes_once(write_video, pipe, name):
    path = write_video(name, waves(12), b_frames=2)
    assert_passes_once(open_movie(pipe(path)), read_movie(path))


def test_options_apply_to_a_live_source(write_video, pipe):
    path = write_video("a.ts", waves(12))
    options = {"start": "0.1s", "stride": 2, "scale": 4, "max_frames": 3}
    np.testing.assert_array_equal(read_movie(pipe(path), **options), read_movie(path, **options))


def test_a_live_source_whose_rate_falls_is_cut_only_around_the_change(write_video, pipe):
    stamps = [*range(20), *range(22, 62, 2), 66]
    movie = open_movie(pipe(write_video("a.mkv", waves(41), "mpeg4", stamps=stamps)))
    cuts = [round(25 * frame.time) for frame in movie.frames() if frame.cut]
    assert cuts == [0, 22, 24, 66]  # steps of 3, 2, 2, ... are a gap and a rate


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("camera:93", "(No such file or directory|this PyAV has no)"),
        ("/dev/video93", "No such file or directory"),
        ("/dev/null", "cannot be read as video"),
        ("http://127.0.0.1:9/a.mp4", "Connection refused"),
        ("rtsp://127.0.0.1:9/a", "Connection refused"),
        ("nonsense://a", "Protocol not found"),
    ],
)
def test_a_live_source_that_is_not_there_is_named_in_one_line(source, reason):
    with pytest.raises(VideoError, match=rf"^{source}: .*{reason}[^\n]*$"):
        open_movie(source)


def test_a_server_that_does_not_answer_is_given_up(monkeypatch):
    monkeypatch.setattr("flymotion.video.containers._PATIENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        with pytest.raises(VideoError, match=r"cannot be read as video \(.+\)$"):
            open_movie(f"http://127.0.0.1:{server.getsockname()[1]}/a.mp4")


def test_cameras_without_a_driver_are_refused(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr(av, "formats_available", set())
    with pytest.raises(VideoError, match=r"^camera:0: this PyAV has no avfoundation, which reads cameras here$"):
        open_movie("camera:0")


def test_a_file_named_like_a_camera_is_a_file(write_video, monkeypatch):
    path = write_video("a.mp4", waves(3))
    path.rename(path.parent / "camera:0")
    monkeypatch.chdir(path.parent)
    assert not open_movie("camera:0").live


# Movies as objects


def test_a_movie_of_files_is_pickled(write_video, tmp_path):
    (tmp_path / "images").mkdir()
    Image.fromarray(waves(1)[0]).save(tmp_path / "images" / "1.png")
    for source in (write_video("a.mp4", waves(5)), tmp_path / "images", waves(3)):
        movie = open_movie(source, scale=2)
        np.testing.assert_array_equal(list(pickle.loads(pickle.dumps(movie))), list(movie))


def test_memory_does_not_grow_with_repeats_and_options(write_video, counted):
    movie = open_movie(write_video("a.mkv", waves(300), "mpeg4"), duplicates="drop", stride=2, scale=2)
    n_frames, peak = counted(movie)
    assert n_frames == 150
    assert peak < 20 * 48 * 66 * 4


# -- edits -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def shots():
    """Two shots that pan over two photographs by 3 pixels a frame, with a black frame and darkness after them."""
    one, other = (load_sample_image(name).mean(axis=2).astype(np.uint8) for name in ("china.jpg", "flower.jpg"))
    pans = [photo[100:196, 50 + 3 * t : 178 + 3 * t] for photo in (one, other) for t in range(6)]
    return np.stack([*pans, np.zeros_like(pans[0]), pans[-1] // 4, pans[-1] // 2])


def cuts_of(movie):
    return [n for n, frame in enumerate(movie.frames()) if frame.cut]


def test_edits_begin_clips_only_if_asked_for(shots):
    assert cuts_of(open_movie(shots)) == [0]
    assert cuts_of(open_movie(shots, edits="split")) == [0, 6, 12, 13]  # a dimmed frame shows the same


def test_edits_are_found_in_coded_video_of_any_size(write_video, shots):
    movie = open_movie(write_video("shots.mp4", shots[:12]), edits="split", scale=2)
    assert cuts_of(movie) == [0, 6]
    assert [(len(batch.frames), batch.cut) for batch in movie.batches(8)] == [(6, True), (6, True)]


def test_frames_without_contrast_are_no_edits():
    assert cuts_of(open_movie(np.full((3, 9, 20), 7.0), edits="split")) == [0]


@pytest.mark.parametrize("size", [(48, 64), (64, 96), (97, 131)])
def test_unlike_frames_are_edits_whatever_their_size(size):
    """Cells of unequal numbers of pixels would make all frames alike by their mean."""
    few = np.random.default_rng(0).integers(100, 200, (8, 25, 33), dtype=np.uint8)
    frames = few.repeat(4, axis=1).repeat(4, axis=2)[:, : size[0], : size[1]]
    assert cuts_of(open_movie(frames, edits="split")) == list(range(8))


@pytest.mark.parametrize("size", [(12, 16), (48, 64), (97, 131), (480, 640)])
@pytest.mark.parametrize("noise", [1.0, 20.0])
def test_noise_is_no_edit(size, noise):
    """A black lens, and much noise: cells that do not correlate tell of an edit only if they show something."""
    black = 2 + noise * np.random.default_rng(0).standard_normal((20, *size))
    assert cuts_of(open_movie(np.clip(black.round(), 0, 255).astype(np.uint8), edits="split")) == [0]


def test_a_scene_between_frames_of_noise_is_an_edit():
    frames = np.random.default_rng(0).integers(0, 5, (6, 48, 64)).astype(np.uint8)
    frames[2:4] = np.linspace(20, 200, 64)
    assert cuts_of(open_movie(frames, edits="split")) == [0, 2, 4]


def test_flat_frames_have_no_edits():
    with pytest.raises(ValueError, match="edits"):
        open_movie(np.zeros((3, 20)), edits="split")


@pytest.mark.slow
def test_real_videos_of_one_shot_have_no_edits(real_video):
    assert cuts_of(open_movie(real_video, edits="split")) == [0]

"""Movies from files, folders and arrays: every frame, upright, on one grey scale, and no pair across a gap."""

import os
import struct
import subprocess
import sys
import wave
from itertools import accumulate, cycle, islice
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps

from flymotion.video import VideoError, open_movie, read_movie

av = pytest.importorskip("av")

OPEN_FILES = Path("/proc/self/fd")
LUMA = [0.299, 0.587, 0.114]
LOSS = {"mjpeg": 6}  # grey levels that a codec itself may cost
CODECS = {"a.mkv": "ffv1", "a.nut": "rawvideo"}


def waves(n_frames, height=48, width=66):
    """Smooth uint8 frames drifting right, 30 to 226, brighter to the left; rows of 66 pixels are padded."""
    t, y, x = np.ogrid[:n_frames, :height, :width]
    movie = 128 + 60 * np.sin((x - t) / 9) * np.cos(y / 11) + 38 * np.cos(np.pi * x / width)
    return np.round(movie).astype(np.uint8)


def noise(n_frames):
    """Uint8 frames that no codec makes small, so that a file cut short loses frames."""
    return np.random.default_rng(0).integers(0, 256, (n_frames, 48, 64), dtype=np.uint8)


@pytest.fixture
def write_images(tmp_path):
    """Write each image of {name: array} into a folder with Pillow and return the folder."""

    def write(images, folder="images", **options):
        path = tmp_path / folder
        path.mkdir()
        for name, array in images.items():
            Image.fromarray(array).save(path / name, **options)
        return path

    return write


@pytest.fixture
def write_stack(tmp_path):
    """Write images as the pages of one file and return its path."""

    def write(name, images):
        path = tmp_path / name
        first, *rest = [Image.fromarray(image) for image in images]
        first.save(path, save_all=True, append_images=rest)
        return path

    return write


def cut_short(path, share):
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    return path


def damage_packet(path, number):
    with av.open(str(path)) as container:
        packet = bytes(next(islice(container.demux(video=0), number, None)))
    path.write_bytes(path.read_bytes().replace(packet, packet[:40] + bytes(len(packet) - 40)))
    return path


def clip_lengths(movie):
    """Frames in each clip of at most 99 frames, every one of them after a cut."""
    batches = list(movie.batches(99))
    assert all(batch.cut for batch in batches)
    return [len(batch.frames) for batch in batches]


# Video files


@pytest.mark.case("B16")
@pytest.mark.parametrize(("name", "codec"), [("a.mp4", "libx264"), ("a.mkv", "libx264"), ("a.avi", "mpeg4")])
def test_every_frame_of_a_codec_with_b_frames_comes_back_in_order(write_video, name, codec):
    movie = open_movie(write_video(name, waves(10), codec, b_frames=2, options={"crf": "5"}))
    frames = np.stack(list(movie))
    assert (frames.dtype, frames.shape, movie.shape, movie.rate) == (np.float32, (10, 48, 66), (48, 66), 25)
    distances = np.abs(frames[:, None] - waves(10)).mean(axis=(2, 3))
    assert list(distances.argmin(axis=1)) == list(range(10))
    assert distances.diagonal().max() < 3
    assert clip_lengths(movie) == [10]


def test_a_movie_is_read_anew_by_every_loop(write_video):
    movie = open_movie(write_video("a.mp4", waves(5)))
    next(iter(movie))
    np.testing.assert_array_equal(list(movie), list(movie))


@pytest.mark.case("B40")
def test_same_clip_agrees_as_y4m_mp4_and_png(write_video, write_images):
    frames = waves(6)
    images = write_images({f"f{i}.png": frame for i, frame in enumerate(frames)})
    y4m = write_video("a.y4m", frames, "wrapped_avframe")
    mp4 = write_video("a.mp4", frames, options={"qp": "0"})
    for path in (images, y4m, mp4):
        assert np.abs(read_movie(path) - frames).max() <= 2


@pytest.mark.parametrize(
    ("codec", "pix_fmt", "name"),
    [
        ("ffv1", "yuv420p", "a.mkv"),
        ("ffv1", "yuva420p", "a.mkv"),
        ("ffv1", "gray", "a.mkv"),
        ("ffv1", "bgr0", "a.mkv"),
        ("libx264rgb", "rgb24", "a.mkv"),
        ("mjpeg", "yuvj422p", "a.avi"),
        ("rawvideo", "nv12", "a.nut"),
        ("rawvideo", "yuyv422", "a.nut"),
        ("rawvideo", "bgr24", "a.avi"),
    ],
)
def test_luminance_is_0_to_255_in_every_pixel_format(write_video, codec, pix_fmt, name):
    path = write_video(name, waves(2), codec, pix_fmt, options={"crf": "0"})
    assert np.abs(read_movie(path) - waves(2)).max() <= LOSS.get(codec, 1)


@pytest.mark.parametrize(("pix_fmt", "name"), [("yuv420p10le", "a.mkv"), ("yuv420p10be", "a.nut")])
def test_luminance_of_10_bit_video_is_on_the_scale_of_8_bit(write_video, pix_fmt, name):
    y = np.round(64 + 876 / 255 * waves(2)).astype(np.uint16)
    planes = np.concatenate([y, np.full((2, 24, 66), 512, dtype=np.uint16)], axis=1)
    path = write_video(name, planes, CODECS[name], pix_fmt, source="yuv420p10le")
    assert np.abs(read_movie(path) - waves(2)).max() < 0.2


def test_limited_range_is_clipped_where_it_overshoots(write_video):
    y = np.array([[0, 16, 235, 255] * 8] * 16, dtype=np.uint8)
    planes = np.concatenate([y, np.full((8, 32), 128, dtype=np.uint8)])
    path = write_video("a.mkv", [planes], "ffv1", source="yuv420p")
    np.testing.assert_allclose(read_movie(path), [[[0, 0, 255, 255] * 8] * 16], atol=1e-4)


@pytest.mark.case("B25")
@pytest.mark.parametrize(("codec", "pix_fmt", "name"), [("ffv1", "gray16le", "a.mkv"), ("png", "gray16be", "a.avi")])
def test_grey_video_of_16_bit_keeps_its_values(write_video, codec, pix_fmt, name):
    frames = waves(2).astype(np.uint16) * 3
    np.testing.assert_array_equal(read_movie(write_video(name, frames, codec, pix_fmt, source="gray16le")), frames)


@pytest.mark.case("B23")
@pytest.mark.parametrize("hflip", [False, True])
@pytest.mark.parametrize("rotation", [0, 90, 180, -90])
def test_tagged_orientation_is_applied_unless_turned_off(write_video, rotation, hflip):
    path = write_video("a.mp4", waves(3), rotation=rotation, hflip=hflip, options={"crf": "5"})
    upright = np.rot90(waves(3), rotation // 90, axes=(1, 2))[..., :: 1 - 2 * hflip]
    movie = open_movie(path)
    assert movie.shape == upright.shape[1:]
    assert np.abs(np.stack(list(movie)) - upright).max() <= 3
    assert np.abs(read_movie(path, rotate=False) - waves(3)).max() <= 3


@pytest.mark.case("B15")
@pytest.mark.parametrize("promised", [11, 0, -1])
def test_frames_are_those_that_decode_whatever_the_header_promises(write_video, promised):
    path = write_video("a.avi", waves(10), "mjpeg", "yuvj420p")
    content = path.read_bytes()
    at = content.index(b"strh") + 8 + 32
    assert content[at : at + 4] == struct.pack("<i", 10)
    path.write_bytes(content[:at] + struct.pack("<i", promised) + content[at + 4 :])
    movie = open_movie(path)
    assert (movie.n_frames_estimate, clip_lengths(movie)) == ({11: 11, 0: None, -1: None}[promised], [10])


# Damage and gaps


@pytest.mark.case("B16")
@pytest.mark.parametrize(
    ("name", "codec", "pix_fmt"),
    [
        ("a.mp4", "libx264", "yuv420p"),
        ("a.mkv", "libx264", "yuv420p"),
        ("a.avi", "mpeg4", "yuv420p"),
        ("b.avi", "mjpeg", "yuvj420p"),
    ],
)
def test_truncated_video_gives_what_was_there_and_one_warning(write_video, name, codec, pix_fmt):
    path = write_video(name, noise(10), codec, pix_fmt)
    whole = read_movie(path)
    movie = open_movie(cut_short(path, 0.6))
    with pytest.warns(UserWarning, match=rf"{name}: damaged after \d frames") as record:
        frames = list(movie)
    assert len(record) == 1
    assert 3 <= len(frames) <= 6
    np.testing.assert_array_equal(frames, whole[: len(frames)])
    with pytest.raises(VideoError, match=f"{name}: damaged"):
        list(open_movie(path, strict=True))


def test_truncated_video_without_one_whole_frame_is_refused(write_video):
    with pytest.raises(VideoError, match="not one frame"):
        open_movie(cut_short(write_video("a.mp4", noise(1)), 0.6))


@pytest.mark.case("B16")
@pytest.mark.parametrize(
    ("name", "codec", "pix_fmt"), [("a.avi", "mjpeg", "yuvj420p"), ("a.mp4", "libx264", "yuv420p")]
)
def test_damaged_packet_is_left_out_and_begins_a_clip(write_video, name, codec, pix_fmt):
    path = damage_packet(write_video(name, noise(10), codec, pix_fmt), 4)
    with pytest.warns(UserWarning, match="damaged after 4 frames"):
        assert clip_lengths(open_movie(path)) == [4, 5]
    with pytest.raises(VideoError, match="damaged after 4 frames"):
        list(open_movie(path, strict=True).batches(2))


@pytest.mark.parametrize(("name", "codec"), [("a.mp4", "libx264"), ("a.avi", "mpeg4")])
@pytest.mark.parametrize(("number", "lengths"), [(0, [9]), (8, [8, 1]), (9, [9])])
def test_damage_at_either_end_is_told(write_video, name, codec, number, lengths):
    path = damage_packet(write_video(name, noise(10), codec, options={"g": "1"}), number)
    with pytest.warns(UserWarning, match=f"damaged after {number} frames"):
        assert clip_lengths(open_movie(path)) == lengths


@pytest.mark.case("B16")
@pytest.mark.parametrize(("name", "codec"), [("a.mp4", "libx264"), ("a.mkv", "libx264"), ("a.avi", "mpeg4")])
def test_dropped_frame_is_a_cut(write_video, name, codec):
    movie = open_movie(write_video(name, waves(20), codec, drop=[12]))
    assert clip_lengths(movie) == [12, 7]
    assert [(len(frames), cut) for frames, cut, _ in movie.batches(8)] == [(8, True), (4, False), (7, True)]


def test_uneven_time_stamps_of_a_variable_rate_are_not_cuts(write_video):
    stamps = list(islice(accumulate(cycle([1, 1, 4])), 12))
    assert clip_lengths(open_movie(write_video("a.mp4", waves(12), stamps=stamps))) == [12]


def test_disordered_time_stamps_of_an_avi_with_b_frames_are_not_cuts(write_video):
    assert clip_lengths(open_movie(write_video("a.avi", waves(20), b_frames=2))) == [20]


@pytest.mark.parametrize("name", ["a.gif", "a.tif"])
def test_truncated_stack_gives_its_whole_pages_and_one_warning(write_stack, name):
    path = write_stack(name, noise(10))
    whole = read_movie(path)
    with pytest.warns(UserWarning, match=f"{name}: damaged after") as record:
        frames = read_movie(cut_short(path, 0.6))
    assert len(record) == 1
    assert 4 <= len(frames) <= 6
    np.testing.assert_array_equal(frames, whole[: len(frames)])


def test_damaged_image_of_a_folder_is_left_out_and_begins_a_clip(write_images):
    folder = write_images({f"{i}.png": frame for i, frame in enumerate(noise(6))})
    cut_short(folder / "2.png", 0.5)
    with pytest.warns(UserWarning, match="damaged after 2 frames .2.png"):
        assert clip_lengths(open_movie(folder)) == [2, 3]


# Images


def test_folder_is_read_in_natural_order_without_hidden_files(write_images):
    names = ["f2.png", "f10.PNG", ".f0.png", "F1.png"]
    folder = write_images({name: np.full((2, 3), i, dtype=np.uint8) for i, name in enumerate(names)})
    (folder / "notes.txt").write_text("not an image")
    movie = open_movie(folder)
    assert [frame[0, 0] for frame in movie] == [3, 0, 1]
    assert movie.n_frames_estimate == 3


def test_images_of_unequal_size_are_refused_with_both_sizes(write_images):
    folder = write_images({"1.png": np.zeros((4, 6), np.uint8), "2.png": np.zeros((5, 6), np.uint8)})
    with pytest.raises(VideoError, match=r"images: frame 1 has shape \(5, 6\); expected \(4, 6\)"):
        read_movie(folder)


@pytest.mark.case("B25")
@pytest.mark.parametrize("n_channels", [3, 4])
def test_colour_image_becomes_rec_601_luminance_without_alpha(write_images, n_channels):
    colours = np.random.default_rng(0).integers(0, 256, (4, 6, n_channels), dtype=np.uint8)
    frames = read_movie(write_images({"a.png": colours}) / "a.png")
    np.testing.assert_allclose(frames, [colours[..., :3] @ LUMA], atol=1e-3)


@pytest.mark.case("B25")
@pytest.mark.parametrize("n_pages", [1, 3])
def test_tiff_pages_are_frames_and_keep_16_bit_values(write_stack, n_pages):
    pages = 300 + np.arange(n_pages * 12, dtype=np.uint16).reshape(n_pages, 4, 3)
    movie = open_movie(write_stack("a.tif", pages))
    np.testing.assert_array_equal(list(movie), pages)
    assert movie.n_frames_estimate == n_pages


def test_black_and_white_and_float_tiffs_keep_their_meaning(write_stack):
    np.testing.assert_array_equal(read_movie(write_stack("b.tif", [np.eye(3, dtype=bool)])), [255 * np.eye(3)])
    np.testing.assert_array_equal(read_movie(write_stack("f.tif", [np.eye(3, dtype="f4") / 4])), [np.eye(3) / 4])


@pytest.mark.case("B25")
def test_gif_of_rgb_then_rgba_is_grey_throughout(write_stack):
    colours = np.full((3, 8, 8, 4), (200, 100, 50, 255), dtype=np.uint8)
    colours[1:, :4] = (10, 250, 30, 255)
    colours[2, 4:, :4, 3] = 0
    frames = read_movie(write_stack("a.gif", [colours[0, ..., :3], *colours[1:]]))
    assert frames.shape == (3, 8, 8)
    np.testing.assert_allclose(frames[:2], colours[:2, ..., :3] @ LUMA, atol=3)


@pytest.mark.parametrize("name", ["a.png", "a.tif", "a.jpg"])  # a TIFF is turned by Pillow itself
def test_exif_orientation_is_applied_once(write_images, name):
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned clockwise
    frame = waves(1)[0]
    folder = write_images({name: frame}, exif=exif, compression="tiff_lzw")
    assert np.abs(read_movie(folder)[0] - np.rot90(frame, -1)).max() <= 6


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_exif_orientation_is_turned_as_pillow_turns_it(write_images, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    folder = write_images({"a.png": waves(1)[0]}, exif=exif)
    with Image.open(folder / "a.png") as image:
        np.testing.assert_array_equal(read_movie(folder)[0], np.asarray(ImageOps.exif_transpose(image)))
    np.testing.assert_array_equal(read_movie(folder, rotate=False), waves(1))


# Arrays


@pytest.mark.case("B25")
@pytest.mark.parametrize("n_channels", [1, 3, 4])
def test_channels_of_an_array_become_luminance(n_channels):
    array = np.random.default_rng(0).integers(0, 256, (10, 8, 6, n_channels), dtype=np.uint8)
    array.flags.writeable = False
    weights = {1: [1], 3: LUMA, 4: [*LUMA, 0]}[n_channels]
    np.testing.assert_allclose(read_movie(array), array @ weights, rtol=1e-6)


@pytest.mark.case("B40")
@pytest.mark.parametrize("scale", [np.uint8(1), np.uint16(300), np.float64(0.001), np.float32(5e4)])
def test_an_array_keeps_its_values_and_is_never_handed_out(scale):
    array = np.arange(24).reshape(3, 2, 4).astype(scale.dtype) * scale
    before = array.copy()
    frames = read_movie(array)
    np.testing.assert_array_equal(frames, array.astype(np.float32))
    for frame in open_movie(array):
        frame[:] = -1
    np.testing.assert_array_equal(array, before)


@pytest.mark.case("B24")
def test_two_dimensional_arrays_are_flat_frames():
    movie = open_movie([[1, 2, 3], [4, 5, 6]])
    assert movie.shape == (3,)
    np.testing.assert_array_equal(list(movie), [[1, 2, 3], [4, 5, 6]])


@pytest.mark.case("B24")
def test_named_dimensions_are_put_time_first():
    xarray = pytest.importorskip("xarray")
    array = waves(3)
    named = xarray.DataArray(array.transpose(1, 2, 0), dims=("y", "x", "time"))
    np.testing.assert_array_equal(read_movie(named), array)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((5, 4, 4, 2)), r"shape \(5, 4, 4, 2\)"),
        (np.zeros(5), r"shape \(5,\)"),
        (np.zeros((0, 4, 4)), "not one frame"),
        (np.array([[0.0], [np.nan]]), "infinite pixel in frame 1"),
    ],
)
def test_bad_arrays_are_refused_with_shape_or_frame(array, message):
    with pytest.raises(ValueError, match=message):
        read_movie(array)


# What cannot be read


@pytest.fixture
def make_unreadable(tmp_path):
    """Make a source of a given kind that is no movie, and return its path."""

    def sound(path):
        with wave.open(str(path), "wb") as file:
            file.setparams((1, 2, 8000, 0, "NONE", ""))
            file.writeframes(bytes(1600))

    makers = {
        "missing.mp4": lambda path: None,
        "empty.mp4": Path.touch,
        "empty.png": Path.touch,
        "text.mp4": lambda path: path.write_text("hello world\n" * 100),
        "text.txt": lambda path: path.write_text("hello world\n" * 100),
        "text.tif": lambda path: path.write_text("hello world\n" * 100),
        "sound.wav": sound,
        "folder": Path.mkdir,
    }

    def make(name):
        makers[name](tmp_path / name)
        return tmp_path / name

    return make


@pytest.mark.case("B39")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.mp4", "No such file"),
        ("empty.mp4", "is empty"),
        ("empty.png", "is empty"),
        ("text.mp4", "cannot be read as video"),
        ("text.txt", "no video stream"),
        ("text.tif", "cannot identify image file"),
        ("sound.wav", "no video stream"),
        ("folder", "no images"),
    ],
)
def test_unreadable_sources_raise_one_error_with_path_and_reason(make_unreadable, name, reason):
    with pytest.raises(VideoError, match=rf"{name}: .*{reason}"):
        open_movie(make_unreadable(name))


@pytest.mark.case("B39")
@pytest.mark.parametrize("as_given", [str, Path])
def test_paths_with_spaces_accents_and_colons_work(write_video, tmp_path, as_given):
    (tmp_path / "dir with spaces").mkdir()
    path = write_video("dir with spaces/vidéo.mp4", waves(3)).rename(
        tmp_path / "dir with spaces" / "vidéo 10:30 %d.mp4"
    )
    assert len(read_movie(as_given(path))) == 3


# Streaming


@pytest.mark.parametrize("n", [1, 3, 7, 50])
def test_batches_join_to_the_whole_movie(n):
    batches = list(open_movie(waves(7)).batches(n))
    np.testing.assert_array_equal(np.concatenate([batch.frames for batch in batches]), waves(7))
    assert [batch.cut for batch in batches] == [True] + [False] * (len(batches) - 1)


def test_max_frames_ends_a_movie_early():
    movie = open_movie(waves(7), max_frames=4)
    assert (len(list(movie)), movie.n_frames_estimate) == (4, 4)


def test_less_than_one_frame_is_refused():
    with pytest.raises(ValueError, match="max_frames is 0"):
        open_movie(waves(2), max_frames=0)
    with pytest.raises(ValueError, match="n_frames is 0"):
        next(open_movie(waves(2)).batches(0))


class Asked:
    """An array that remembers which frames it was asked for."""

    def __init__(self, array):
        self.array, self.shape, self.rows = array, array.shape, []

    def __len__(self):
        return len(self.array)

    def __getitem__(self, rows):
        self.rows.append(rows.stop)
        return self.array[rows]


def test_frames_of_an_array_are_fetched_when_needed():
    array = Asked(waves(50))
    next(open_movie(array).batches(4))
    assert max(array.rows) == 4


def test_a_video_is_never_held_as_a_whole(write_video, counted):
    movie = open_movie(write_video("a.mkv", waves(200), "mpeg4"))
    n_frames, peak = counted(movie)
    assert n_frames == 200
    assert peak < 20 * 48 * 66 * 4


@pytest.mark.skipif(not OPEN_FILES.exists(), reason="no list of open files on this system")
def test_files_are_closed_after_the_last_frame_and_on_leaving_early(write_video, write_stack):
    for path in (write_video("a.mp4", waves(5)), write_stack("a.tif", waves(5))):
        movie = open_movie(path)
        frames = iter(movie)
        next(frames)
        assert opened(path) > 0
        frames.close()
        assert (len(list(movie)), opened(path)) == (5, 0)


def opened(path):
    return sum(os.path.realpath(link) == str(path.resolve()) for link in OPEN_FILES.iterdir())


def test_importing_loads_neither_av_nor_pillow_nor_matplotlib():
    code = "import sys, flymotion.video; print(sorted({'av', 'PIL', 'matplotlib'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_real_videos_give_all_their_frames_as_one_clip(real_video):
    with av.open(str(real_video)) as container:
        decoded = [frame.to_ndarray(format="gray").shape for frame in container.decode(video=0)]
    movie, n_frames = open_movie(real_video), len(decoded)
    assert (movie.shape, movie.n_frames_estimate) == (decoded[0], n_frames)
    batches = [(len(frames), cut, frames.min() >= 0, frames.max() <= 255) for frames, cut, _ in movie.batches(20)]
    assert sum(length for length, *_ in batches) == n_frames
    assert [cut for _, cut, *_ in batches] == [True] + [False] * (len(batches) - 1)
    assert all(low and high for *_, low, high in batches)

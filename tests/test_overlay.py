"""Motion drawn into frames, and the videos of it."""

from functools import partial
from itertools import islice, pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import ImageDraw
from scipy.ndimage import gaussian_filter
from sklearn.datasets import load_sample_image

from flymotion.detecting import Detection, detect
from flymotion.detecting.overlay import MODES, Overlay, OverlayVideo, drawing, marks
from flymotion.detecting.overlay.colours import RoundScale, hues, legend
from flymotion.field import Field
from flymotion.field.frame_motion import UNKNOWN, GlobalMotion
from flymotion.field.outputs import mean_velocity, preferred_directions
from flymotion.video.luminance import area_averages, cell_averages

ANGLES = np.arange(4) * 90.0


@pytest.fixture(scope="session")
def make_moving():
    """Frames of a photograph whose content moves to the right by a pixel each."""
    china = gaussian_filter(load_sample_image("china.jpg").mean(axis=2), 1.0).astype(np.uint8)

    def make(n=6, size=(120, 160)):
        return [china[150 : 150 + size[0], 250 - t : 250 - t + size[1]] for t in range(n)]

    return make


def detection(velocity, *, size=(240, 320), reduced=1, level=100.0):
    """What a grey frame would give that moves like that everywhere, all of it seen by the detectors."""
    shape = (size[0] // reduced, size[1] // reduced)
    x, y = velocity
    responses = [max(x, 0), max(-y, 0), max(-x, 0), max(y, 0)]
    field = Field(
        np.stack([np.full(shape, r, np.float32) for r in responses]),
        None,
        np.stack([np.full(shape, v, np.float32) for v in velocity]),
        np.ones(shape, np.float32),
    )
    image = np.full(size, level, np.float32)
    return Detection(1, 0.04, False, image, field, GlobalMotion(x, y, 0.0, 0.0, 1.0), np.array(responses))


def colourful(image):
    """Pixels that are not grey."""
    image = image.astype(int)
    return image.max(axis=2) - image.min(axis=2) > 40


def between_corners(image):
    """The middle of a frame."""
    return image[60:180, 60:250]


WAYS = {(3.0, 0.0): 0, (0.0, -3.0): 90, (-3.0, 0.0): 180, (0.0, 3.0): 270}


@pytest.mark.parametrize("mode", ["arrows", "wheel"])
@pytest.mark.parametrize(("way", "angle"), WAYS.items())
def test_the_hue_is_the_direction(mode, way, angle):
    drawn = between_corners(Overlay(mode, ANGLES).draw(detection(way)))
    seen = np.median(drawn[colourful(drawn)], axis=0)
    expected = 255 * hues(angle)
    assert np.argmin([np.abs(seen - 255 * hues(other)).sum() for other in ANGLES]) == angle // 90
    assert np.corrcoef(seen, expected)[0, 1] > 0.9


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [(240, 320), (480, 640), (1080, 1920), (121, 163)])
def test_drawings_have_the_size_of_the_frame_and_a_strip(mode, size):
    overlay = Overlay(mode, ANGLES)
    drawn = overlay.draw(detection((2.0, 1.0), size=size))
    assert drawn.shape == (*overlay.shape(*size), 3) and drawn.dtype == np.uint8
    assert drawn.shape[1] == size[1] and 30 < drawn.shape[0] - size[0] < 100


@pytest.mark.parametrize("mode", ["arrows", "wheel"])
def test_nothing_covers_a_frame_that_stands(mode):
    drawn = Overlay(mode, ANGLES).draw(detection((0.0, 0.0)))
    assert (drawn[:240] == 85).all() and drawn[240:].max() == 255


@pytest.mark.parametrize("mode", MODES)
def test_fields_of_reduced_frames_are_drawn_where_they_belong(mode):
    full, reduced = (
        between_corners(Overlay(mode, ANGLES).draw(detection((3.0, 0.0), reduced=k))).astype(int) for k in (1, 4)
    )
    assert abs(colourful(full).mean() - colourful(reduced).mean()) < 0.1
    assert colourful(reduced).mean() > 0.03


def test_an_arrow_is_as_long_as_the_velocity():
    def share(speed):
        overlay = Overlay("arrows", ANGLES)
        overlay.speeds.update([4.9])  # a scale that ends at 5
        drawn = between_corners(overlay.draw(detection((speed, 0.0))))
        rows = colourful(drawn).any(axis=1)
        return colourful(drawn)[rows].any(axis=0).sum()

    lengths = [share(speed) for speed in (1.0, 2.0, 3.0)]
    assert all(a < b for a, b in pairwise(lengths))
    assert share(0.1) == 0


def test_directions_have_a_panel_each():
    step = detection((0.0, 0.0))
    step.field.directions[0] = 9.0
    drawn = Overlay("directions", ANGLES).draw(step)
    top_left, top_right = drawn[40:110, 20:140], drawn[40:110, 180:300]
    assert colourful(top_left).mean() > 0.9 and colourful(top_right).mean() < 0.01


def test_learned_directions_fill_as_many_panels_as_they_need():
    step = detection((1.0, 0.0))
    step = step._replace(field=step.field._replace(directions=np.ones((5, 240, 320), np.float32)))
    drawn = Overlay("directions", np.arange(5) * 72.0).draw(step)
    assert (drawn[160:240, 220:] == 0).all()  # five of six
    assert colourful(drawn[30:110, 110:210]).mean() > 0.9


@pytest.mark.parametrize("mode", MODES)
def test_a_new_clip_and_a_flat_frame_are_drawn_without_motion(mode):
    step = detection((0.0, 0.0))
    new = step._replace(cut=True, field=None, motion=UNKNOWN)
    flat = step._replace(motion=UNKNOWN)
    flat.field.confidence[:] = 0
    overlay = Overlay(mode, ANGLES)
    for each in (new, flat):
        drawn = overlay.draw(each)[45:190, 60:150]
        assert not colourful(drawn).any()


def test_unknown_overlays_are_refused():
    with pytest.raises(ValueError, match="'flow'; expected one of arrows, wheel, directions"):
        Overlay("flow", ANGLES)


def test_the_legend_has_hues_around_and_nothing_outside():
    disc = legend(41)
    for angle in ANGLES:
        x, y = 20 + 19 * np.cos(np.radians(angle)), 20 - 19 * np.sin(np.radians(angle))
        assert_allclose(disc[round(y), round(x), :3], 255 * hues(angle), atol=25)
    assert disc[0, 0, 3] == 0 and disc[20, 20, :3].max() < 20


def test_scales_end_at_round_numbers_and_stay_for_a_while():
    scale = RoundScale(patience=3)
    assert scale.update([]) == 0
    assert [scale.update([v]) for v in (0.7, 0.4, 1.2, 0.8)] == [1.0, 1.0, 2.0, 2.0]
    assert [scale.update([0.02]) for _ in range(4)] == [2.0, 2.0, 2.0, 0.02]
    assert scale.update([0.0]) == 0.02


def test_velocities_are_pooled_by_confidence():
    velocity = np.zeros((2, 4, 4), np.float32)
    velocity[0, :2, :2] = [[8, 2], [2, 2]]
    confidence = np.zeros((4, 4), np.float32)
    confidence[:2, :2] = [[0, 1], [1, 0.5]]
    pooled, weight = mean_velocity(Field(None, None, velocity, confidence), partial(area_averages, scale=2))
    assert pooled[0, 0, 0] == 2 and weight[0, 0] == 2.5 / 4 and pooled[0, 1, 1] == 0


def test_responses_add_up_to_a_direction():
    angles, strength = preferred_directions(np.array([[3.0, 0.0], [3.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), ANGLES)
    assert_allclose(angles, [45, 180], atol=1e-4)
    assert_allclose(strength, [np.hypot(3, 3), 1], rtol=1e-6)


def test_means_are_those_of_cells():
    planes = np.random.default_rng(0).random((2, 7, 9))
    assert_allclose(area_averages(planes, 3)[1, 1, 2], planes[1, 3:6, 6:9].mean())
    assert area_averages(planes, 3).shape == (2, 2, 3)


def test_cells_share_all_pixels_or_pixels_are_shared():
    planes = np.random.default_rng(2).random((2, 6, 9))
    assert_allclose(cell_averages(planes, (2, 3)), area_averages(planes, 3))
    uneven = cell_averages(planes, (4, 2))
    assert_allclose(uneven[0, 1, 1], planes[0, 1:3, 4:].mean())
    assert_allclose(
        cell_averages(planes[:, :1, :2], (2, 4))[0], planes[0, :1, [0, 0, 1, 1]].reshape(1, 4).repeat(2, axis=0)
    )


# -- videos ------------------------------------------------------------------------------------------------------------


def read(path):
    av = pytest.importorskip("av")
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        frames = list(container.decode(stream))
        return stream, [float(frame.time) for frame in frames], [frame.to_ndarray(format="rgb24") for frame in frames]


@pytest.mark.parametrize("size", [(120, 160), (121, 163)])
@pytest.mark.parametrize("mode", MODES)
def test_the_video_has_every_frame_at_its_size(make_moving, tmp_path, size, mode):
    found = detect(np.stack(make_moving(size=size)), rate=12.5)
    with OverlayVideo(tmp_path / "o.mp4", found, mode) as video:
        for step in found:
            video.write(step)
    stream, times, frames = read(tmp_path / "o.mp4")
    assert (stream.codec_context.name, stream.pix_fmt) == ("h264", "yuv420p")
    high = size[0] + marks.strip_height(size[0])
    assert {frame.shape for frame in frames} == {(high + high % 2, size[1] + size[1] % 2, 3)}
    assert_allclose(times, np.arange(6) / 12.5, atol=1e-4)


def test_time_stamps_are_those_of_the_source(write_video, make_moving, tmp_path):
    stamps = [0, 1, 4, 5, 9, 10]
    found = detect(write_video("vary.mp4", make_moving(), stamps=stamps))
    with OverlayVideo(tmp_path / "o.mp4", found) as video:
        for step in found:
            video.write(step)
    assert_allclose(read(tmp_path / "o.mp4")[1], np.array(stamps) / 25, atol=1e-4)


def test_frames_without_times_or_that_go_back_are_shown_one_after_the_other(make_moving, tmp_path):
    found = detect(np.stack(make_moving(4)))
    with OverlayVideo(tmp_path / "o.mp4", found) as video:
        for step in found:
            video.write(step._replace(time=[0.0, 0.04, 0.02, np.nan][step.number]))
    times = read(tmp_path / "o.mp4")[1]
    assert len(times) == 4 and all(a < b for a, b in pairwise(times))


def test_a_video_that_is_broken_off_can_be_played(make_moving, tmp_path):
    found = detect(np.stack(make_moving()), rate=25)
    with pytest.raises(KeyboardInterrupt), OverlayVideo(tmp_path / "o.mp4", found) as video:
        for step in islice(found, 4):
            video.write(step)
        raise KeyboardInterrupt
    assert len(read(tmp_path / "unfinished" / "o.mp4")[1]) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["unfinished"]


def test_the_inset_says_what_was_measured_and_points_there(monkeypatch):
    assert marks._lines(GlobalMotion(1, -2, 0.3, 0.004, 1)) == ["x +1.00  y -2.00 px", "rot +0.30°  loom +0.0040"]
    drawn = []
    monkeypatch.setattr(marks, "paint_arrows", lambda draw, places, arrows, step: drawn.append(arrows[0]))
    told = marks.Legend(GlobalMotion(3.0, -4.0, 0, 0, 1), 10.0, "1.00 s", 5.0, 40.0)
    marks.with_strip(marks.grey(np.zeros((240, 320))), told)
    assert_allclose(drawn[0] / np.hypot(*drawn[0]), (0.6, -0.8))
    assert_allclose(drawn[1], (40, 0))


@pytest.mark.parametrize(("width", "n_texts"), [(320, 4), (160, 2), (100, 1)])
def test_what_has_no_room_in_the_strip_is_left_out(monkeypatch, width, n_texts):
    """Numbers in two lines, the time, and what the arrow in the strip means."""
    drawn = []
    monkeypatch.setattr(ImageDraw.ImageDraw, "text", lambda draw, place, text, *rest, anchor: drawn.append(text))
    marks.with_strip(marks.grey(np.zeros((120, width))), marks.Legend(GlobalMotion(1, 2, 3, 4, 1), 5, "1.00 s", 3, 18))
    assert len(drawn) == n_texts and drawn[0] == "3 px"


def test_an_arrow_at_the_end_of_the_scale_is_as_long_as_the_legends(monkeypatch):
    drawn = []
    monkeypatch.setattr(drawing, "paint_arrows", lambda draw, places, arrows, step: drawn.append((arrows, step)))
    overlay = Overlay("arrows", ANGLES)
    overlay.speeds.update([5.0])
    overlay.draw(detection((0.0, 5.0), size=(720, 960)))
    arrows, step = drawn[0]
    assert_allclose(arrows, np.broadcast_to([0.0, drawing.LONGEST * step], arrows.shape), atol=1e-4)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [(2000, 8), (8, 2000)])
def test_narrow_frames_are_drawn(mode, size):
    overlay = Overlay(mode, ANGLES)
    assert overlay.draw(detection((1.0, 0.0), size=size)).shape == (*overlay.shape(*size), 3)

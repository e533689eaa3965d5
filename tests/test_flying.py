"""A fly that watches: what it is shown, what it answered as labelled arrays, as a film, and drawn."""

import warnings
from types import SimpleNamespace

import av
import numpy as np
import pytest
import xarray as xr
from PIL import Image

from flymotion import Generators, Line
from flymotion.circuits.subtypes import PREFERRED, SUBTYPES, preferred_in
from flymotion.circuits.t4t5 import T4T5Circuit
from flymotion.flying import SHOWN, Unrolled, Watched, labelled, turning, watch, write_film
from flymotion.flying import write_labelled as write
from flymotion.flying.film import Film
from flymotion.flying.portraits import beside_recordings, draw_inputs, draw_lattice, draw_leanings, leanings
from flymotion.flying.scenery import half_bright
from flymotion.keeping import ModelError, load, save
from flymotion.video import Frame
from flymotion.world import CompoundEye, Hexagon, both
from flymotion.world.globe import on_the_globe
from flymotion.world.lattices import half_of, rings

EYE = Hexagon(2)


def globes():
    """Two small eyes, one the mirror image of the other."""
    right, down = 5 * EYE.positions.T
    left = CompoundEye(on_the_globe(np.stack([right - 20, down], axis=1)), 2.4, axial=EYE.axial)
    return both(left, left.mirrored())


class Circuit:
    """Answers with fixed weights: each T4 with the sum of the patch to one side of it, as Mi9 would have it."""

    n_rings = 1

    def __init__(self, eye):
        self.eye = eye
        ways = rings(1) @ np.array([[3**0.5 / 2, 0.5], [0, 1]]) * (1, -1)
        angles = np.radians(np.tile(preferred_in(eye), 2))
        self.weights_ = -np.stack([np.cos(angles), np.sin(angles)], axis=-1) @ ways.T
        self.weights_[:, 4:] *= -1

    def stream(self, *, dt):
        return Answers(dt)


class Answers:
    def __init__(self, dt):
        self.last, self.dt = None, dt

    def push(self, frame):
        change = np.zeros(len(frame)) if self.last is None else (frame - self.last) / self.dt
        self.last = frame
        return np.repeat(np.abs(change)[:, None], 8, axis=1)


def watched(n_frames=5, eye=EYE, dt=0.02):
    light = np.random.default_rng(0).uniform(size=(n_frames, len(eye.positions)))
    light[:, 0] = np.nan
    return watch(Circuit(eye), [Frame(one, k * dt, k == 0) for k, one in enumerate(light)], dt=dt)


def test_scenes_turn_to_the_right_and_are_from_black_to_white():
    for name in SHOWN:
        movie = turning(name, duration=0.2).movie(EYE, 0.1, spacing=5.0)
        assert movie.shape == (2, 19) and movie.min() > -0.01 and movie.max() < 1.01
    ahead = EYE.positions[:, 1] == 0  # the dark half comes from the left: bright is left at first
    edge = turning("edge", duration=1.0).movie(EYE, 0.1, spacing=5.0)[:, ahead]
    assert (np.diff(edge, axis=1) < 1e-4).all() and edge[-1].mean() > edge[0].mean() + 0.1


def test_half_of_the_edges_world_is_bright():
    seen = half_bright().sample(on_the_globe([[-90, 0], [90, 0]]), 2.4)
    np.testing.assert_allclose(seen, [0.8, 0.2], atol=1e-3)


def test_an_unknown_scene_is_named():
    with pytest.raises(ValueError, match="there is no scene 'sky'; expected one of panorama, flower, edge, noise"):
        turning("sky", duration=1.0)


def test_a_cut_begins_anew_and_times_that_are_not_known_are_counted():
    frames = [Frame(np.full(19, float(k)), np.nan, k in (0, 2)) for k in range(4)]
    told = []
    found = watch(Circuit(EYE), frames, dt=0.5, progress=told.append)
    assert found.responses[:, 0, 0].tolist() == [0, 2, 0, 2] and told == [1, 2, 3, 4]
    assert found.times.tolist() == [0, 0.5, 1, 1.5]


def test_nothing_to_watch_is_an_error():
    with pytest.raises(ValueError, match="there are no frames to watch"):
        watch(Circuit(EYE), [], dt=0.1)


def test_motion_adds_up_to_the_direction_that_cells_are_named_for():
    eye = globes()
    for k, cell in enumerate(SUBTYPES):
        responses = np.zeros((1, 38, 8))
        responses[..., k] = 2.0
        motion = Watched(eye, np.zeros(1), np.zeros((1, 38)), responses).motion(cell[:2])[0]
        for side, turn in ((0, PREFERRED[cell[-1]]), (1, 180 - PREFERRED[cell[-1]])):
            ahead = 2 * np.array([np.cos(np.radians(turn)), np.sin(np.radians(turn))])
            np.testing.assert_allclose(motion[half_of(eye) == side], np.tile(ahead, (19, 1)), atol=1e-12)


def test_another_kind_of_cell_is_named():
    with pytest.raises(ValueError, match="the kind is 'T6'; expected T4 or T5"):
        watched().motion("T6")


@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_xarray_opens_what_was_written(tmp_path, suffix):
    found = labelled(watched(eye=globes()), attrs={"shown": "noise", "dt": 0.02})
    write(found, tmp_path / f"responses.{suffix}")
    kind = {"nc": {}, "zarr": {"engine": "zarr", "consolidated": True}}[suffix]
    with xr.open_dataset(tmp_path / f"responses.{suffix}", **kind) as again:
        xr.testing.assert_identical(again.load(), found)
        assert again.response.dims == ("time", "column", "cell") and again.attrs["shown"] == "noise"
        assert again.response.dtype == np.float32 and again.azimuth.attrs["units"] == "deg"


def test_columns_say_where_they_look():
    found = labelled(watched(), spacing=5.0)
    middle = found.isel(column=9)
    assert [float(middle[name]) for name in ("azimuth", "elevation", "q", "r")] == [0, 0, 0, 0]
    up = found.isel(column=8)  # of the same column of the lattice, straight above
    assert float(up.elevation) == pytest.approx(5.0) and int(up.r) == -1
    assert np.isnan(found.light[:, 0]).all() and (found.side == "left").all()


def test_sides_and_what_cells_prefer():
    found = labelled(watched(eye=globes()))
    at = {"left": 180.0, "right": 0.0}
    for side, angle in at.items():
        assert (found.preferred[np.flatnonzero(found.side == side), 0] == angle).all()
    assert found.azimuth[found.side.values == "left"].mean() > 0


def test_zarr_that_is_not_installed_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "zarr", None)
    with pytest.raises(ValueError, match="zarr is not installed; pip install zarr, or choose netCDF"):
        write(labelled(watched(), spacing=5.0), tmp_path / "responses.zarr")
    assert not list(tmp_path.iterdir())


def test_every_pixel_shows_the_nearest_lens():
    lens = Unrolled(EYE, 101).lens
    assert lens[50, lens.shape[1] // 2] == 9 and lens[0, 0] == -1
    assert set(np.unique(lens)) == {-1, *range(19)}
    counts = np.bincount(lens[lens >= 0])
    assert counts[[4, 5, 8, 9, 10, 13, 14]].std() < 0.05 * counts[9]


def test_two_eyes_are_side_by_side_and_each_may_be_left_out():
    eye = globes()
    lens = Unrolled(eye, 50).lens
    left, right = np.argwhere(np.isin(lens, range(19))), np.argwhere(lens >= 19)
    assert left[:, 1].max() < right[:, 1].min()
    few = Unrolled(eye, 50, among=np.arange(38) < 3).lens
    assert few.max() < 19


def test_colours_of_lenses_and_of_what_is_behind():
    unrolled = Unrolled(EYE, 40)
    shaded = unrolled.shaded(np.arange(19 * 3, dtype=np.uint8).reshape(19, 3), (200, 0, 0))
    assert shaded[0, 0].tolist() == [200, 0, 0] and shaded[20, unrolled.lens.shape[1] // 2].tolist() == [27, 28, 29]


def test_a_film_has_all_frames_and_a_gif_fewer(tmp_path, monkeypatch):
    monkeypatch.setattr("flymotion.flying.film.IN_GIF", 3)
    film, told = Film(watched(6), "noise"), []
    write_film(film, tmp_path / "fly.mp4", tmp_path / "fly.gif", progress=told.append)
    assert told[-1] == len(film) == 6 and (film.rate, film.slowed) == (25.0, pytest.approx(2.0))
    with av.open(str(tmp_path / "fly.mp4")) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert len(frames) == 6 and frames[0].shape == (*film.draw(0).size[::-1], 3)
    with Image.open(tmp_path / "fly.gif") as gif:
        assert gif.n_frames == 3 and gif.info["duration"] == 80


def test_films_show_direction_as_hue_strength_as_brightness_and_blind_lenses_grey():
    eye, responses = EYE, np.zeros((1, 19, 8), dtype=np.float32)
    responses[0, 9, 1] = 1.0  # T4b in the middle: to the right, red
    responses[0, 0] = np.nan
    film = Film(Watched(eye, np.zeros(1), np.full((1, 19), 0.5, np.float32), responses))
    colours = film._motion("T4, moving ON", 0)
    assert colours[9, 0] == 255 and colours[9, 1] < 100 and colours[3].tolist() == [0, 0, 0]
    assert colours[0].tolist() == [58, 58, 70] and film._motion("T5, moving OFF", 0)[9].tolist() == [0, 0, 0]


def test_brightness_compares_t4_and_t5():
    responses = np.zeros((1, 19, 8), dtype=np.float32)
    responses[0, 9, 1], responses[0, 3, 5] = 1.0, 0.01  # much of T4b, and little of T5b
    film = Film(Watched(EYE, np.zeros(1), np.full((1, 19), 0.5, np.float32), responses))
    assert film._motion("T4, moving ON", 0)[9].max() == 255 and 0 < film._motion("T5, moving OFF", 0)[3].max() < 40


def test_weights_lean_from_minus_to_plus():
    eye = globes()
    circuit = Circuit(eye)
    ways = -leanings(circuit.weights_, eye, 1)[[9, 28]]
    angles = np.degrees(np.arctan2(ways[..., 1], ways[..., 0]))[:, :4]
    off = (angles - preferred_in(eye)[[9, 28]] + 180) % 360 - 180
    assert np.abs(off).max() < 3
    one = np.full((19, 1, 7), np.nan)
    assert np.isnan(leanings(one, EYE, 1)).all()


def test_figures_of_a_trained_circuit():
    circuit = Circuit(globes())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(draw_leanings(circuit).axes) == 4
        assert "38 lenses, 14 with six neighbours" in draw_lattice(circuit.eye).get_suptitle()
        assert "learned" in draw_inputs(circuit, title="learned").get_suptitle()


def test_a_right_eye_is_drawn_mirrored(monkeypatch):
    drawn = []
    monkeypatch.setattr("flymotion.flying.portraits.draw_dendrites", lambda *shown, suptitle: drawn.append(shown))
    left = CompoundEye(on_the_globe(5 * EYE.positions - [20, 0]), 2.4, axial=EYE.axial)
    for eye in (left, left.mirrored()):
        draw_inputs(Circuit(eye))
    one, other = (dict(zip(map(tuple, at.tolist()), w.T.round(9).tolist(), strict=True)) for w, at in drawn)
    assert one == other


def test_a_circuit_that_was_kept_answers_as_before(tmp_path):
    movie = np.random.default_rng(0).uniform(0.2, 0.8, size=(60, 7))
    circuit = T4T5Circuit(Hexagon(1), random_state=0).partial_fit(movie)
    again = load(save(circuit, tmp_path / "fly.model"), kind=T4T5Circuit)
    np.testing.assert_array_equal(again.transform(movie), circuit.transform(movie))
    assert again.eye == circuit.eye and again.get_params() == circuit.get_params()


def test_what_is_no_circuit_is_named(tmp_path):
    path = tmp_path / "fly.model"
    with pytest.raises(ModelError, match=r"fly\.model: no such file"):
        load(path, kind=T4T5Circuit)
    path.write_bytes(b"no model at all, but some text")
    with pytest.raises(ModelError, match=r"fly\.model: not a flymotion model, or a damaged one"):
        load(path, kind=T4T5Circuit)
    save(Generators([[[0.0, -1.0], [1.0, 0.0]]], Line(2)), path)
    with pytest.raises(ModelError, match=r"fly\.model: holds a Generators; expected a T4T5Circuit"):
        load(path, kind=T4T5Circuit)
    with pytest.raises(ModelError, match="is a folder"):
        save(T4T5Circuit(Hexagon(1), random_state=0).partial_fit(np.ones((9, 7))), tmp_path)


def test_the_circuit_is_beside_recordings_t4_by_t4_and_t5_by_t5(monkeypatch):
    tuning = xr.Dataset({"response": (("direction", "unit"), np.arange(96.0).reshape(12, 8))})
    seen = []

    def compare(units, cells):
        seen.append((units.response.values[0].tolist(), cells.cell.values.tolist()))
        return xr.Dataset({"correlation": ("cell", np.ones(4))}, {"cell": cells.cell.values})

    monkeypatch.setattr("flymotion.tuning.experiment", lambda name, detector, dt: tuning)
    monkeypatch.setattr("flymotion.tuning.recordings.compare", compare)
    assert beside_recordings(SimpleNamespace(detector=list)).cell.values.tolist() == list(SUBTYPES)
    assert seen == [([0, 1, 2, 3], list(SUBTYPES[:4])), ([4, 5, 6, 7], list(SUBTYPES[4:]))]

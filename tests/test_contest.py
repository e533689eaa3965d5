"""The contest: worlds, learners, measures, and that it is the same in every run."""

import json

import numpy as np
import pytest

from flymotion.claims.running import in_turn
from flymotion.contest import ARENAS, LEARNERS, compete, competing, learners, score_sheet
from flymotion.contest.arenas import course
from flymotion.contest.competing import FILES, Config, Unfinished, work
from flymotion.contest.learners import ALL, Entry, entry, n_outputs
from flymotion.contest.rivals_page import rivals_page
from flymotion.contest.scoring import Naming, ReadOut, captured, correlation, matched, odd_parts, recalled
from flymotion.contest.simple_learners import OfFirstPairs, OfPlanes
from flymotion.contest.trials import MEASURES, TIMES, trial
from flymotion.generators.analytic import cosine
from flymotion.plots.canvas import new_figure
from flymotion.relations import IrreducibleRotations, OperatorReconstruction

SMALL = {"n_seeds": 1, "n_pairs": (50, 200), "n_noisy": 200, "n_new": 200, "snrs": (30.0,)}


# -- worlds ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("world", "like"),
    [
        ("L1", 0.97),
        ("ring", 0.9),
        ("translation", 0.8),
        ("rotation", 0.8),
        *(pytest.param(*slow, marks=pytest.mark.slow) for slow in [("L2", 0.96), ("photographs", 0.7)]),
    ],
)
def test_the_analytic_generators_are_what_labels_tell(world, like):
    """Regression of the change on motion times frame, of known motion, where it is small."""
    given = course(world, 1000, 200, None, 0)
    pairs = given.pairs
    told = np.einsum("tp,ti,tj->pij", pairs.motion, pairs.after - pairs.before, pairs.before)
    assert cosine(told, given.analytic).min() > like


@pytest.mark.parametrize("world", ARENAS)
def test_pairs_are_whitened_and_new_ones_are_of_another_content(world):
    given = course(world, 500, 50, None, 0)
    assert (len(given.pairs), len(given.new), len(given.analytic)) == (500, 50, given.motion.ways.shape[1])
    variances = given.pairs.before.var(axis=0)
    assert variances.max() / variances.min() < 2
    assert not np.isin(given.new.before[:, 0], given.pairs.before[:, 0]).any()
    assert set(given.way(given.new)) == set(range(len(given.motion.ways)))


def test_noise_of_sensors_is_as_loud_as_asked_for():
    """Of frames that differ in motion alone, the change is the noise of both."""
    quiet, loud = (course("ring", 2000, 50, snr, 0).pairs for snr in (None, -20.0))
    assert np.var(quiet.after - quiet.before) < 1.5
    assert np.var(loud.after - loud.before) == pytest.approx(2.0, rel=0.05)  # all is noise, at variance 1


# -- measures --------------------------------------------------------------------------------------------------------


def test_outputs_are_named_by_where_they_are_largest():
    way = np.array([0, 0, 1, 1])
    outputs = np.array([[0.0, 9.0], [0.1, 7.0], [0.3, 0.0], [0.2, 0.0]])
    naming = Naming.of(outputs, way, 2, signed=False)
    np.testing.assert_array_equal(naming.way, [1, 0])
    np.testing.assert_array_equal(naming(outputs), way)
    np.testing.assert_array_equal(naming(np.zeros((1, 2))), [-1])


def test_a_signed_output_is_two():
    naming = Naming.of(np.array([[2.0], [-2.0]]), np.array([1, 0]), 2, signed=True)
    np.testing.assert_array_equal(naming.way, [1, 0])
    np.testing.assert_array_equal(naming(np.array([[0.1], [-5.0]])), [1, 0])


def test_a_level_of_its_own_is_taken_from_an_output():
    outputs = np.array([[0.9, 0.1], [0.8, 0.0], [0.6, 0.4], [0.7, 0.3]])
    naming = Naming.of(outputs, np.array([0, 0, 1, 1]), 2, baseline=True)
    np.testing.assert_array_equal(naming(outputs), [0, 0, 1, 1])


def test_a_few_outputs_beyond_all_bounds_do_not_name_the_others():
    rng = np.random.default_rng(0)
    motion = rng.choice([-1.0, 1.0], 1000)
    outputs = (motion + 0.1 * rng.normal(size=1000))[:, None]
    outputs[:5] *= -1e6
    way = (motion < 0).astype(int)
    assert np.mean(Naming.of(outputs, way, 2, signed=True)(outputs) == way) == pytest.approx(0.995)
    read = ReadOut.of(outputs, motion[:, None])(outputs)
    assert correlation(read, motion[:, None]) > 0.95


def test_an_output_that_is_silent_says_nothing():
    naming = Naming.of(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([0, 1]), 2, signed=False)
    assert np.isfinite(naming.scale).all()


def test_ways_are_found_that_are_named_right_more_often_than_half_way_from_chance():
    way = np.repeat([0, 1], 4)
    assert recalled(np.array([0, 0, 0, 1, 1, 1, 1, 1]), way, 2) == 1  # 3 of 4 is half-way
    assert recalled(np.zeros(8, dtype=int), way, 2) == 1


def test_motion_is_read_out_of_outputs_that_mix_it():
    rng = np.random.default_rng(0)
    motion = rng.normal(size=(500, 2))
    outputs = motion @ rng.normal(size=(2, 5)) + 3.0
    read = ReadOut.of(outputs, motion)(outputs)
    assert correlation(read, motion) > 0.998  # largest outputs are brought in
    assert correlation(np.zeros((500, 2)), motion) == 0


def test_filters_that_are_mixed_hold_together_what_none_is_like():
    known = np.eye(9)[:2].reshape(2, 3, 3)
    mixed = np.array([known[0] + known[1], known[0] - known[1]])
    np.testing.assert_allclose(matched(mixed, known), np.sqrt(0.5))
    np.testing.assert_allclose(captured(mixed, known), 1.0)
    np.testing.assert_allclose(captured(mixed[:1], known), np.sqrt(0.5))
    np.testing.assert_allclose(captured(0 * mixed, known), 0.0)


def test_filters_onto_the_next_frame_are_compared_without_the_frame_itself():
    known = np.array([[[0.0, 1.0], [-1.0, 0.0]]])
    assert matched(odd_parts(np.eye(2) + 0.1 * known), odd_parts(known)) == pytest.approx(1.0)


# -- learners --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_learns_and_says_what_it_needs(name):
    of = LEARNERS[name]
    assert of.source and of.knows
    (found,) = trial("ring", name, (300,), 300, 300, None, 0)
    assert found.get("failed") is None
    assert {name for name in MEASURES if found[name] is None} <= {*MEASURES[:3], "accuracy_other"}
    assert all(found[name] > 0 for name in (*TIMES, "state_bytes"))
    assert 0 <= found["accuracy"] <= 1


def test_nulls_that_are_told_know_all_and_random_ones_nothing():
    told, population, random = (
        trial("rotation", name, (500,), 500, 500, None, 0)[0] for name in ("labelled", "population", "random")
    )
    assert population["match_least"] == pytest.approx(1.0)
    assert min(told["accuracy"], population["accuracy"]) > 0.98
    assert 0.3 < random["accuracy"] < 0.7 and random["match_least"] < 0.3


def test_signed_learners_have_one_output_a_parameter():
    motion = course("translation", 50, 50, None, 0).motion
    assert (n_outputs(entry("sm"), motion), n_outputs(entry("nsm"), motion)) == (2, 4)


def test_a_feature_can_be_chosen():
    assert entry("nsm").feature == "midpoint"
    product = entry("nsm:product")
    assert product.feature == "product" and product.onto_next


@pytest.mark.parametrize(
    ("name", "told"),
    [("nms", "there is no learner 'nms'; expected one of nsm,"), ("nsm:chnge", "feature is 'chnge'; expected one of")],
)
def test_a_learner_that_is_not_there_is_told(name, told):
    with pytest.raises(ValueError, match=told):
        entry(name)


def test_a_learner_of_pairs_has_no_feature(monkeypatch):
    monkeypatch.setitem(LEARNERS, "paired", Entry(lambda n, seed: None, "nobody", "no", "all", feature=None))
    with pytest.raises(ValueError, match="'paired:change' names a feature, but paired learns from pairs of frames"):
        entry("paired:change")


def test_a_learner_may_take_its_first_pairs_alone():
    pairs = course("ring", 400, 20, None, 0).pairs
    first = OfFirstPairs(OperatorReconstruction(random_state=0, max_iter=1000), 200).fit(pairs)
    alone = OperatorReconstruction(random_state=0, max_iter=1000).fit(pairs[:200])
    np.testing.assert_array_equal(first.generators_, alone.generators_)
    np.testing.assert_array_equal(first.transform(pairs), alone.transform(pairs))


def test_planes_are_of_frames_before_whitening():
    given = course("ring", 1000, 100, None, 0)
    planes = OfPlanes(IrreducibleRotations()).fit(given.pairs, given.Z)
    assert matched(planes.generators_, given.analytic).min() > 0.95
    assert np.abs(np.corrcoef(planes.transform(given.new)[:, 0], given.new.motion[:, 0])[0, 1]) > 0.99


# -- all in all ------------------------------------------------------------------------------------------------------


@pytest.fixture
def no_figures(monkeypatch):
    """Draw nothing, which takes longest."""
    monkeypatch.setattr(score_sheet, "draw_contest", lambda contest: new_figure(1, 1))


@pytest.fixture
def here(monkeypatch):
    """Work in this process, where other processes would take seconds to begin."""
    monkeypatch.setattr(competing, "on_cores", lambda n_jobs, done: in_turn)


def of_files(out):
    return {name: (out / name).read_bytes() for name in FILES}


def test_a_contest_is_the_same_in_every_run(here, no_figures, tmp_path):
    given = (["ring"], ["nsm", "mini-batch-kmeans", "random"])
    compete(*given, out=tmp_path / "a", **SMALL)
    course.cache_clear()
    compete(*given, out=tmp_path / "b", **SMALL)
    first, second = of_files(tmp_path / "a"), of_files(tmp_path / "b")
    assert first["rivals.json"] == second["rivals.json"]
    found = json.loads(first["rivals.json"])
    assert len(found["trials"]) == 3 * 3 and not any(key in trial for trial in found["trials"] for key in TIMES)
    assert len(json.loads(first["timings.json"])["trials"]) == 3 * 3


def test_pieces_that_are_sent_away_find_the_same(backwards):
    to_do = work(Config(worlds=("ring",), learners=("sm", "kmeans"), **SMALL))["ring"]
    pieces = [piece for of in to_do.values() for piece in of.values()]

    def untimed(found):
        return [{key: value for key, value in each.items() if key not in TIMES} for tried in found for each in tried]

    assert untimed(backwards(pieces)) == untimed(piece() for piece in pieces)


@pytest.mark.slow
def test_a_contest_is_the_same_on_one_core_and_on_two(tmp_path):
    for n_jobs in (1, 2):
        compete(["L1", "photographs"], out=tmp_path / str(n_jobs), n_jobs=n_jobs, **SMALL)
    assert (tmp_path / "1" / "rivals.json").read_bytes() == (tmp_path / "2" / "rivals.json").read_bytes()


def test_what_cannot_learn_is_told(here, no_figures, tmp_path, monkeypatch):
    class Stubborn:
        def fit(self, X):
            raise ValueError("no")

    monkeypatch.setitem(LEARNERS, "stubborn", Entry(lambda n, seed: Stubborn(), "nobody", "no", "nothing"))
    found = compete(["ring"], ["stubborn", "random"], out=tmp_path, **SMALL)
    assert list(found.failures()) == [("ring", "stubborn", "ValueError: no")]
    assert found.pairs_needed("ring", "stubborn") is None
    assert "- ring, stubborn: ValueError: no" in (tmp_path / "rivals.md").read_text()


def test_pairs_are_counted_until_accuracy_stays(here, no_figures, tmp_path):
    found = compete(["ring"], ["random"], out=tmp_path, **SMALL | {"n_pairs": (10, 20, 50)})

    def accuracies(*values):
        trials = [dict(t, accuracy=a) for t, a in zip(found.trials, values, strict=False)]
        return found._replace(trials=trials).pairs_needed("ring", "random")

    assert [accuracies(0.95, 0.8, 0.9), accuracies(0.9, 0.9, 1.0), accuracies(1.0, 1.0, 0.8)] == [50, 10, None]


def test_the_page_and_the_sheet_hold_everything(here, tmp_path):
    names = ["sm", "labelled"]
    found = compete(["ring", "translation"], names, out=tmp_path, **SMALL)
    page = rivals_page(found)
    assert [name for name in (*names, "ring", "translation", "30 dB", "never") if name not in page] == []
    assert page.count("| *labelled* |") == 4
    figure = score_sheet.draw_contest(found)
    titles = [axes.get_title() for axes in figure.axes]
    assert [name for name in (*names, "accuracy, 30 dB", "velocity correlation") if name not in titles] == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"worlds": ["L3"]}, "there is no world 'L3'; expected one of L1, L2"),
        ({"learners": ["sm", "nobody"]}, "there is no learner 'nobody'"),
        ({"worlds": []}, "no world or no learner is named"),
        ({"n_seeds": 0}, "n_seeds is 0; expected at least 1"),
        ({"n_pairs": (1, 100)}, r"n_pairs is \(1, 100\)"),
    ],
)
def test_what_is_wrong_is_told_before_the_work(given, told, tmp_path):
    with pytest.raises(ValueError, match=told):
        compete(out=tmp_path / "out", **given)
    assert not (tmp_path / "out").exists()


def test_worlds_that_were_finished_are_kept(here, no_figures, tmp_path, monkeypatch):
    def stopping(world, *rest):
        return trial(world, *rest) if world == "ring" else stop()

    def stop():
        raise KeyboardInterrupt

    monkeypatch.setattr(competing, "trial", stopping)
    with pytest.raises(Unfinished, match="1 of 2 worlds were finished") as error:
        compete(["ring", "rotation"], ["random"], out=tmp_path, **SMALL)
    assert error.value.contest.config.worlds == ("ring",)
    assert {path.name for path in (tmp_path / "unfinished").iterdir()} == set(FILES)


def test_all_learners_take_part_and_nulls_are_last():
    assert {name.partition(":")[0] for name in ALL} == set(LEARNERS)
    nulls = [entry(name).null for name in ALL]
    assert nulls == sorted(nulls)
    assert learners.FEATURE == "midpoint"

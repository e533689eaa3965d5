"""The commands side by side: one help, the same option for the same thing, JSON, completion, mistakes, and waiting."""

import io
import json
import shutil
import signal
import subprocess
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import click
import numpy as np
import pytest
from click.shell_completion import BashComplete
from kept_models import MODELS, video
from numba.core import event
from PIL import Image
from scipy.ndimage import gaussian_filter

from flymotion import tuning
from flymotion.claims import known_claims
from flymotion.claims.running import in_turn
from flymotion.cli import known_names, learning, main
from flymotion.cli.ending import STATUSES
from flymotion.cli.terminal import Screen
from flymotion.cli.waiting import progress_bar
from flymotion.contest import ARENAS, LEARNERS, competing
from flymotion.detectors import DETECTORS
from flymotion.keeping import load, save
from flymotion.learner import video_vision
from flymotion.stimuli import STIMULI
from flymotion.tuning import EXPERIMENTS

PAGE = Path(__file__).parents[1] / "docs" / "command-line.md"


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A folder with frames, models, and what is neither."""
    folder = tmp_path_factory.mktemp("made")
    image = gaussian_filter(np.random.default_rng(0).normal(size=(32, 40)), 1.5)
    for name, sizes in {"frames": [32] * 5, "sizes": [32, 30]}.items():
        (folder / name).mkdir()
        for t, width in enumerate(sizes):
            Image.fromarray(np.uint8(127 + 100 * image[:, t : t + width])).save(folder / name / f"{t}.png")
    (folder / "nothing here").mkdir()
    (folder / "empty.mp4").touch()
    (folder / "text.mp4").write_text("not a video\n")
    (folder / "table.csv").write_text("a,b\n1,2\n")
    np.save(folder / "complex.npy", np.zeros((3, 40, 40), complex))
    np.save(folder / "nan.npy", np.full((3, 40, 40), np.nan))
    np.save(folder / "flat.npy", np.full((5, 40, 40), 7, np.uint8))
    model = save(video(100, finished=True), folder / "plane.model")
    save(MODELS["NSM"](), folder / "nsm.model")
    (folder / "cut.model").write_bytes(model.read_bytes()[:5000])
    return folder


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    """The same in a folder of its own, which commands run in."""
    monkeypatch.chdir(shutil.copytree(made, tmp_path / "place"))
    return tmp_path / "place"


# Help


def test_the_help_lists_every_command_once_in_sections_and_whole(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = run("--help")[1]
    named = [name for names in main.sections.values() for name in names]
    assert sorted(named) == sorted(main.commands) and "Other:" not in out
    places = [out.index(f"\n{title}:\n") for title in main.sections]
    assert all(first < second for first, second in pairwise(places))
    assert "\n  flymotion detect street.mp4 --overlay wheel   what moved in it\n" in out
    assert "..." not in out.partition("Commands")[0].partition("Learn and detect:")[2]
    assert max(map(len, out.splitlines())) <= 80


def test_a_command_of_no_section_is_listed_too(run, monkeypatch):
    monkeypatch.setattr(main, "sections", {"Look": ["watch"]})
    listed = run("--help")[1].partition("Look:")[2]
    assert listed.index("watch ") < listed.index("Other:") < listed.index("learn ")


@pytest.mark.skipif(not PAGE.exists(), reason="no docs in this tree")
def test_exit_statuses_are_in_the_help_and_on_the_page(run):
    out, page = " ".join(run("--help")[1].split()), PAGE.read_text(encoding="utf-8")
    assert [words for number, words in STATUSES.items() if f"{number} {words}" not in out] == []
    assert [words for number, words in STATUSES.items() if f"| {number} | {words} |" not in page] == []
    assert [name for name in main.commands if f"`{name}`" not in page] == []


SAME = {"start", "stop", "max_frames", "stride", "crop", "scale", "rate", "speed", "gaps", "seed", "n_seeds", "out"}


def test_the_same_option_is_the_same_everywhere():
    found = defaultdict(set)
    for command in main.commands.values():
        for option in command.params:
            if option.name in SAME and (command.name, option.name) != ("live", "out"):  # which is a file
                found[option.name].add((tuple(option.opts), option.metavar, option.help))
    assert set(found) == SAME
    assert {name: ways for name, ways in found.items() if len(ways) > 1} == {}


def test_what_may_be_named_again_takes_commas_and_one_word():
    several = [o for command in main.commands.values() for o in command.params if getattr(o, "multiple", False)]
    assert {option.opts[0] for option in several} == {"--world", "--learner", "--experiment", "--overlay", "--video"}
    assert [o.opts[0] for o in several if "[,...]" not in o.metavar] == ["--video"]  # names of files have commas


def test_numbers_and_names_say_what_they_are():
    options = [(n, o) for n, c in main.commands.items() for o in c.params if isinstance(o, click.Option)]
    vague = [(n, o.opts[0]) for n, o in options if not o.is_flag and not o.metavar and not hasattr(o.type, "choices")]
    assert vague == []


@pytest.mark.parametrize(
    ("command", "arguments", "name", "expected"),
    [
        ("rivals", ["--worlds", "ring,L1"], "worlds", ["ring", "L1"]),
        ("rivals", ["--learners", "nsm", "--learner", "sm"], "learners", ["nsm", "sm"]),
        ("tune", ["hrd", "--experiment", "edges,local"], "names", ["edges", "local"]),
        ("inspect", ["model", "--out", "a.png"], "png", Path("a.png")),
    ],
)
def test_old_spellings_work_and_are_not_shown(command, arguments, name, expected):
    context = main.commands[command].make_context(command, list(arguments))
    assert context.params[name] == expected
    shown = main.commands[command].get_help(context)
    assert not {"--worlds", "--learners"} & set(shown.split()) and (command != "inspect" or "--out" not in shown)


# Completion


def test_names_that_are_completed_are_those_there_are():
    assert list(DETECTORS) == list(known_names.DETECTORS)
    assert list(STIMULI) == list(known_names.STIMULI)
    assert list(EXPERIMENTS) == list(known_names.EXPERIMENTS)
    assert list(LEARNERS) == list(known_names.LEARNERS)
    assert list(ARENAS) == list(known_names.WORLDS)
    assert list(known_claims()) == known_names.claims()


@pytest.mark.parametrize(
    ("words", "incomplete", "expected"),
    [
        ([], "de", ["detect", "detectors"]),
        (["tune"], "barlow", ["barlow", "barlow-levick", "barlow-levick-divisive"]),  # the first stands for files
        (["detectors"], "hrd-", ["hrd-on", "hrd-quadrants"]),
        (["stimuli"], "moving", ["moving-edge", "moving-bar"]),
        (["reproduce", "C1"], "C38", ["C38"]),
        (["rivals", "--world"], "L1,r", ["L1,ring", "L1,rotation"]),
        (["detect", "a.mp4", "--overlay"], "w", ["wheel"]),
        (["learn"], "bun", ["bun", "bundled"]),
        (["completion"], "", ["bash", "zsh", "fish"]),
    ],
)
def test_the_shell_completes(words, incomplete, expected):
    found = BashComplete(main, {}, "flymotion", "_FLYMOTION_COMPLETE").get_completions(words, incomplete)
    assert [item.value for item in found] == expected


def test_completing_imports_nothing_slow():
    code = "import sys, flymotion.cli; from flymotion.cli.known_names import claims; claims(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"numpy", "numba", "rich", "matplotlib", "sklearn"} & set(loaded) == set()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_says_where_it_goes(run, shell, monkeypatch):
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    (status, out, err), default = run("completion", shell), run("completion")
    assert (status, err) == (0, "") and default[1] == out
    assert f"flymotion completion {shell} > ~/" in out and f"{shell}_complete" in out
    assert (shell == "zsh") == out.startswith("#compdef flymotion\n")


# For programs


@pytest.fixture
def small(monkeypatch, characterised):
    """Little work, in this process."""
    monkeypatch.setattr(tuning, "characterise", lambda detector: characterised)
    monkeypatch.setattr("flymotion.claims.running.on_cores", lambda n_jobs: in_turn)
    few = {"n_seeds": 1, "n_pairs": (50,), "n_noisy": 50, "n_new": 50, "snrs": ()}
    monkeypatch.setattr(competing, "QUICK", few)
    monkeypatch.setattr(competing, "on_cores", lambda n_jobs, done: in_turn)


JSON = [
    ("detectors hrd", lambda found: found[0]["parameters"]["spacing"] == 5.0),
    ("stimuli moving-bar", lambda found: found[0]["name"] == "moving-bar" and found[0]["what"]),
    ("reproduce --list", lambda found: found[0]["id"] == "C1"),
    ("rivals --list", lambda found: [world["name"] for world in found["worlds"]] == list(ARENAS)),
    ("rivals --world ring --learner random", lambda found: 0 <= found["accuracy"][0]["accuracy"] <= 1),
    ("inspect plane.model", lambda found: len(found["filters"]) == 4 and found["accuracy"] > 0.25),
    ("inspect nsm.model", lambda found: found["kind"] == "NonnegativeSimilarityMatching"),
    ("tune hrd --experiment contrast", lambda found: found["files"][0].endswith("hrd-contrast.nc")),
    ("compare hrd", lambda found: found["detectors"][0]["preferred_direction"] is not None),
    ("learn frames --patch 3 --n-pairs 300 --force", lambda found: len(found["detectors"]) == 4),
    ("detect frames", lambda found: found["frames"] == 5 and found["rate"] is None and len(found["files"]) == 2),
]


@pytest.mark.filterwarnings("ignore:in .* of the columns:RuntimeWarning")  # a fly that is shown little learns little
@pytest.mark.parametrize(("line", "right"), JSON, ids=[line for line, _ in JSON])
def test_json_is_all_that_is_printed(run, place, small, line, right):
    status, out, err = run(*line.split(), "--json")
    assert status == 0 and [said for said in err.splitlines() if not said.startswith("Warning: learning")] == []
    found = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert right(found)
    files = found.get("files", []) if isinstance(found, dict) else []
    assert [name for name in files if not Path(name).exists()] == []


def test_watching_prints_a_line_of_json_a_frame(run, place):
    status, out, err = run("watch", "frames", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert (status, err) == (0, "") and [row["frame"] for row in rows] == [0, 1, 2, 3, 4]
    assert rows[0]["cut"] and rows[0]["x"] is None and rows[0]["time"] is None and abs(rows[2]["x"] + 1) < 0.3


@pytest.mark.parametrize("line", ["detect frames", "detectors", "inspect plane.model", "watch frames", "rivals --list"])
def test_what_is_piped_has_no_colour_and_no_names_of_files(run, place, line, monkeypatch):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    _, out, err = run(*line.split())
    assert err == "" and "\x1b" not in out and "global-motion.csv" not in out


# Mistakes

MISTAKES = """
detect nothing.mp4                         | nothing.mp4: No such file or directory
detect empty.mp4                           | empty.mp4: the file is empty
detect text.mp4                            | text.mp4: cannot be read as video
detect plane.model                         | plane.model: cannot be read as video
detect "nothing here"                      | nothing here: the folder holds no images
detect sizes                               | sizes: frame 1 has shape (32, 30)
detect complex.npy                         | complex.npy has dtype complex128; expected real numbers
detect nan.npy                             | nan.npy has a NaN or infinite pixel in frame 0
detect camera:99                           | camera:99: cannot be read as video
detect http://localhost:1/a.mp4            | cannot be read as video (Connection refused)
detect frames --model nothing              | nothing: no such file
detect frames --model frames               | frames: not a flymotion model
detect frames --model text.mp4             | text.mp4: not a flymotion model
detect frames --model cut.model            | cut.model: not a flymotion model, or a damaged one
detect frames --model nsm.model            | holds a NonnegativeSimilarityMatching; expected a MotionLearner
detect frames --start x                    | --start is 'x'; expected a number of frames
detect frames --start 4 --stop 2           | no frame between start and stop
detect frames --scale 99999999999999999999 | scale is 99999999999999999999; expected at most 32
detect frames --crop 0,9999,0,9999         | crop is (0, 9999, 0, 9999)
detect frames --rate nan                   | --rate is nan; expected frames per second above 0
detect frames --out table.csv              | 'table.csv' is a file
detect frames --out table.csv/a            | cannot be written (Not a directory)
detect frames --overlay rings              | 'rings' is not one of arrows
learn flat.npy                             | fewer than 2 consecutive frames that differ
learn bundled frames                       | photographs cannot be mixed with videos
learn frames --patch 500                   | hold no patch of 500 x 500 pixels
learn frames --max-frames 1                | '--max-frames'
inspect frames                             | frames: not a flymotion model
inspect plane.model --png plane.model      | is read from, and would be written over
inspect plane.model --png frames           | 'frames' is a directory
watch text.mp4                             | text.mp4: cannot be read as video
tune nothing                               | there is no detector or file 'nothing'
tune hrd --experiment nothing              | there is no experiment 'nothing'
tune hrd --experiment contrast --recording table.csv | table.csv has 2 line(s)
tune nsm.model                             | expected a MotionLearner
compare hrd nothing                        | there is no detector or file 'nothing'
detectors nothing                          | there is no detector 'nothing'
stimuli nothing                            | there is no stimulus 'nothing'
reproduce C99                              | unknown claim C99
rivals --world nowhere                     | there is no world 'nowhere'
fly nothing.mp4                            | nothing.mp4: No such file or directory
fly frames                                 | does not tell how many frames a second it has; expected --rate
fly frames --rate 25 --start 9             | has no frame between start and stop
fly --start 3                              | --start is for a video; expected a SOURCE, too
fly --eye table.csv                        | table.csv, line 1: columns are a, b
fly --eye hex --seconds 1e300              | '--seconds'
fly --eye hex --radius 99999999            | expected 16777216 at most
fly --eye hex --radius 2 --model plane.model | holds a MotionLearner; expected a T4T5Circuit
export nothing --onnx a.onnx               | nothing: no such file
export plane.model --onnx frames           | 'frames' is a directory
export plane.model                         | Missing option '--onnx'
completion tcsh                            | 'tcsh' is not one of
lern frames                                | No such command 'lern'
"""


@pytest.mark.parametrize("mistake", MISTAKES.strip().splitlines(), ids=lambda row: row.partition("|")[0].strip())
def test_a_mistake_is_told_in_one_line(run, place, mistake):
    line, _, words = (part.strip() for part in mistake.partition("|"))
    before = sorted(path for path in place.rglob("*"))
    status, out, err = run(
        *(word.strip('"').replace("_", " ") for word in line.replace("nothing here", "nothing_here").split())
    )
    *usage, told = err.splitlines()
    assert (status, out) == (2, "") and words in told and told.startswith("Error: ")
    assert usage == [] or usage[0].startswith("Usage: flymotion ")
    assert sorted(path for path in place.rglob("*")) == before


# Waiting


@pytest.fixture
def terminal(monkeypatch):
    """Make a stream a terminal, from within a test as pytest has streams of its own; returns what is shown there."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")

    def make(name):
        shown = io.StringIO()
        shown.isatty = lambda: True
        monkeypatch.setattr(sys, name, shown)
        return shown

    return make


def test_what_is_compiled_is_said_in_place_of_the_bars_title(terminal):
    shown = terminal("stderr")
    with progress_bar("learning") as progress:
        progress(0, 2)
        for tell in (event.start_event, event.start_event, event.end_event, event.end_event):  # one within another
            tell("numba:compile")
        progress(1, 2)
    _, compiled, after = shown.getvalue().partition("compiling, once")
    assert compiled and "learning" in after


def test_what_is_compiled_before_the_first_picture_is_said(terminal):
    shown = terminal("stdout")
    field = SimpleNamespace(floor=None, detectors=None)
    with Screen(SimpleNamespace(angles=None, field=field, movie=SimpleNamespace(white=255))):
        with event.trigger_event("numba:compile"):
            assert "compiling, once" in shown.getvalue()


def test_a_camera_that_goes_silent_ends_by_one_ctrl_c_and_its_model_is_kept(run, place, monkeypatch):
    def silent(steps, n, *, idle):
        yield from steps
        signal.raise_signal(signal.SIGINT)
        while True:
            yield idle[1]

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(video_vision, "ahead", silent)
    monkeypatch.setattr(learning, "_is_endless", lambda source: True)
    status, _, err = run("learn", "frames", "--patch", 3, "--n-pairs", 300, "--force", "--out", "out")
    signal.signal(signal.SIGINT, before)
    assert status == 130 and err.endswith("Interrupted: what was learned until then is in out\n")
    assert load("out/model.safetensors").n_pairs_seen_ == 4


@pytest.mark.parametrize(
    ("error", "told"),
    [(MemoryError(), "there is not enough memory"), (TypeError("no number"), "no number"), (OverflowError("x"), "x")],
)
def test_what_the_machine_cannot_do_is_told_in_one_line(run, monkeypatch, error, told):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr("flymotion.detecting.detect", fail)
    assert run("watch", "frames") == (2, "", f"Error: {told}\n")


def test_a_table_that_is_piped_begins_with_its_columns(run):
    status, printed, _ = run("detectors")
    lines = printed.splitlines()
    assert status == 0 and lines[0].split() == ["detector", "parameters", "source"]
    assert not [line for line in lines if line != line.rstrip()]

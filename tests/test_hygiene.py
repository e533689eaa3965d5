"""The package itself: what importing it costs, what it exports, that what we print about it runs."""

import importlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher

from flymotion.similarity.compilation import ForgivingCache

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
README = ROOT / "README.md"


def module_name(path):
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


MODULES = sorted(module_name(path) for path in SOURCE.rglob("*.py") if path.name != "__main__.py")

HEAVY = ["av", "dask", "finufft", "matplotlib", "numba", "rich", "torch", "xarray"]

# Put together here so that this file does not name them.
PRIVATE = ["/" + "work/", "/" + "root/", "/" + "opt/", "pypi" + ".org", "pythonhosted" + ".org", "npmjs" + ".org"]

FIT = """
import json
import numpy as np
import flymotion
from flymotion.similarity import networks as learners
X = np.random.default_rng(0).standard_normal((60, 5))
model = learners.NonnegativeSimilarityMatching(2).fit(X)
print(json.dumps({"file": flymotion.__file__, "outputs": model.transform(X).tolist()}))
"""

QUICK_FIT = FIT.replace("networks", "rivals").replace("NonnegativeSimilarityMatching", "CCIPCA")
"""Of what is compiled soonest: every kernel's cache is of the same kind, as a test below sees to."""


@pytest.fixture
def python(tmp_path):
    """Run Python in an empty folder, with variables changed (None: unset), and return what it printed."""

    def run(*arguments, timeout=300, **variables):
        changed = os.environ | variables
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={name: value for name, value in changed.items() if value is not None},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=timeout,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def no_home(tmp_path):
    """Variables under which nobody, root included, can make a folder for a cache at home."""
    (tmp_path / "file").touch()
    return {"HOME": str(tmp_path / "file" / "home"), "XDG_CACHE_HOME": None, "NUMBA_CACHE_DIR": None}


def loaded_after(imports, names):
    return f"import sys, {imports}; print(*sorted(sys.modules.keys() & set({names!r})))"


def test_import_is_light(python):
    assert python("-W", "error", "-c", loaded_after("flymotion", HEAVY)).split() == []


def test_seeing_motion_needs_nothing_that_learns(python):
    names = ["sklearn", "flymotion.learner", "flymotion.keeping", "matplotlib", "PIL", "av", "xarray"]
    assert python("-W", "error", "-c", loaded_after("flymotion.detecting", names)).split() == []


@pytest.mark.case("B47")
def test_no_module_needs_a_display_or_loads_pyplot(python):
    code = loaded_after(", ".join(MODULES), ["matplotlib.pyplot", "torch", "onnx"])
    headless = {"DISPLAY": None, "WAYLAND_DISPLAY": None, "MPLBACKEND": None}
    assert python("-W", "error", "-c", code, **headless).split() == []


@pytest.mark.parametrize("name", MODULES)
def test_module_exports_what_it_lists_and_documents_it(name):
    module = importlib.import_module(name)
    public = {export: getattr(module, export) for export in module.__all__}
    assert len(public) == len(module.__all__)
    assert module.__doc__
    undocumented = [export for export, value in public.items() if callable(value) and not inspect.getdoc(value)]
    assert undocumented == []


def readme_script():
    """Return the Python blocks of the README as one script, each line at its own number for the traceback."""
    text = README.read_text(encoding="utf-8")
    blocks = re.finditer(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    lines = [""] * text.count("\n")
    for block in blocks:
        start = text.count("\n", 0, block.start(1))
        code = block.group(1).splitlines()
        lines[start : start + len(code)] = code
    return "\n".join(lines)


@pytest.mark.skipif(not README.exists(), reason="no README in this tree")
def test_readme_code_runs_from_top_to_bottom(python, tmp_path):
    (tmp_path / "readme.py").write_text(readme_script(), encoding="utf-8")
    python("-W", "error", "readme.py", MPLBACKEND=None, DISPLAY=None)


def test_command_line_answers_help(python):
    assert "reproduce" in python("-m", "flymotion", "--help")


def tracked_files():
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, encoding="utf-8")
    return [ROOT / name for name in listing.stdout.split("\0") if (ROOT / name).is_file()]


@pytest.mark.skipif(not (ROOT / ".git").exists() or not shutil.which("git"), reason="not a git checkout")
def test_no_tracked_file_names_this_machine_or_a_registry():
    contents = {path: path.read_bytes() for path in tracked_files()}
    found = [
        f"{path.relative_to(ROOT)}: {word}"
        for path, content in contents.items()
        for word in PRIVATE
        if b"\0" not in content and word.encode() in content
    ]
    assert found == []


def outputs(printed):
    return np.array(json.loads(printed)["outputs"])


@pytest.mark.case("B49")
def test_fits_the_same_without_the_compiler_and_without_a_home(python, no_home):
    interpreted = python("-c", FIT, NUMBA_DISABLE_JIT="1", **no_home)
    np.testing.assert_allclose(outputs(interpreted), outputs(python("-c", FIT)), rtol=1e-10, atol=1e-12)


@pytest.mark.case("B49")
def test_compiles_where_no_folder_can_hold_a_cache(python, no_home, tmp_path):
    archive = shutil.make_archive(str(tmp_path / "zipped"), "zip", SOURCE)
    zipped = python("-c", QUICK_FIT, PYTHONPATH=archive, **no_home)
    assert json.loads(zipped)["file"].startswith(archive)
    np.testing.assert_allclose(outputs(zipped), outputs(python("-c", QUICK_FIT)), rtol=1e-10, atol=1e-12)


FULL = """
import builtins, errno
from numba.core import caching
def full(path, mode="r", *rest, **how):
    if "w" in mode:
        raise OSError(errno.ENOSPC, "No space left on device")
    return open(path, mode, *rest, **how)
caching.open = full
"""


@pytest.mark.case("B49")
def test_compiles_where_the_disk_of_the_cache_is_full(python, tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    np.testing.assert_allclose(
        outputs(python("-c", FULL + QUICK_FIT, **cache)), outputs(python("-c", QUICK_FIT)), rtol=1e-10
    )
    assert not list((tmp_path / "cache").rglob("*.nb?"))


def test_every_kernel_has_a_cache_that_does_without():
    values = [value for name in MODULES for value in vars(importlib.import_module(name)).values()]
    kernels = [value for value in values if isinstance(value, Dispatcher)]
    assert len(kernels) > 20
    assert {type(kernel._cache) for kernel in kernels} <= {ForgivingCache, NullCache}


def test_a_cache_that_is_damaged_is_not_used(python, tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    expected = outputs(python("-c", QUICK_FIT, **cache))
    for file in (tmp_path / "cache").rglob("*.nb?"):
        file.write_bytes(file.read_bytes()[:40])
    np.testing.assert_array_equal(outputs(python("-c", QUICK_FIT, **cache)), expected)


FORK = """
import os, sys, warnings
import numpy as np
from flymotion import ExponentialNoise, Grid, NonnegativeSimilarityMatching, Translation, sample_pairs
warnings.simplefilter("ignore")  # later Pythons warn of forks in general

def rendered():
    scene = ExponentialNoise(3.0, ndim=2, period=64.0, sharpest=1.0, random_state=0)
    return sample_pairs(scene, Grid(9, 9, sigma=1.0), Translation(0.3), 800, random_state=0).after

def learned():
    X = np.abs(np.random.default_rng(0).standard_normal((600, 12)))
    return NonnegativeSimilarityMatching(3).fit(X).R_

expected = [work() for work in (rendered, learned)]
child = os.fork()
if child == 0:
    found = [work() for work in (rendered, learned)]
    os._exit(0 if all(map(np.array_equal, found, expected)) else 3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_a_forked_process_renders_and_learns_as_its_parent_did(python):
    """Of two threads, which a forked process does not have: OpenMP's would be waited for for ever."""
    assert python("-c", FORK, OMP_NUM_THREADS="2", timeout=120).split() == ["0"]

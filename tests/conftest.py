"""Factories of samples, pairs and worlds that several test files share; most keep nothing and live all session."""

import os
import pickle
import tracemalloc
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from flymotion.cli import main
from flymotion.frames import FramePairs
from flymotion.similarity.features import OuterProducts
from flymotion.world.eyes import Line
from flymotion.world.motions import Translation
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import ExponentialNoise


def pytest_configure(config):
    """Give workers beside each other one thread each: theirs would wait for each other, for most of the time."""
    if config.getoption("numprocesses", None):
        for library in ("OMP", "OPENBLAS", "MKL"):
            os.environ.setdefault(f"{library}_NUM_THREADS", "1")


def pytest_generate_tests(metafunc):
    """Run what takes a ``real_video`` over all that the user has."""
    if "real_video" in metafunc.fixturenames:
        nothing = pytest.mark.skip(reason="FLYMOTION_DATA names no folder with videos in video/")
        videos = [pytest.param(path, id=path.name) for path in sorted(user_data("video").glob("*.*"))]
        metafunc.parametrize("real_video", videos or [pytest.param(None, id="none", marks=nothing)])


def user_data(*parts):
    return Path(os.environ.get("FLYMOTION_DATA", os.devnull), *parts)


@pytest.fixture(scope="session")
def real_data():
    """Find a path in the user's folder of real data, or skip the test."""

    def find(*parts):
        path = user_data(*parts)
        return path if path.exists() else pytest.skip(f"FLYMOTION_DATA names no folder with {'/'.join(parts)}")

    return find


@pytest.fixture(scope="session")
def real_panoramas(real_data):
    """Panoramas of linear luminance."""
    images = []
    for path in sorted(real_data("panoramas").glob("*.npz")):
        with np.load(path) as arrays:
            images += arrays.values()
    return images


def factors(rank, n_samples, n, rng):
    shape = (n_samples, n) if rank == 1 else (n_samples, rank, n)
    return rng.standard_normal(shape) * np.linspace(1.5, 0.5, n)


@pytest.fixture(scope="session")
def make_vectors():
    """Gaussian vectors whose variance falls along the axes, about a mean that is not 0."""

    def make(n_samples=150, n_features=12, *, seed=0, dtype=np.float64):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n_samples, n_features)) * np.linspace(2.0, 0.2, n_features) + 0.3
        return X.astype(dtype)

    return make


@pytest.fixture(scope="session")
def make_products():
    """Outer products of Gaussian factors of one rank; u has n pixels and v has n_v."""

    def make(n_samples=150, n=4, n_v=3, *, rank=1, seed=0, dtype=np.float64):
        rng = np.random.default_rng(seed)
        u, v = (factors(rank, n_samples, size, rng).astype(dtype) for size in (n, n_v))
        return OuterProducts(u, v)

    return make


@pytest.fixture(scope="session")
def make_samples(make_vectors, make_products):
    """Samples of 12 features by the name of their kind, with chi as a dense array."""
    kinds = {
        "vectors": lambda **how: (x := make_vectors(**how), x),
        "rank 1": lambda **how: (x := make_products(**how), x.dense()),
        "rank 2": lambda **how: (x := make_products(rank=2, **how), x.dense()),
    }

    def make(kind="vectors", **how):
        return kinds[kind](**how)

    return make


def whitened(pairs):
    """Whiten (ZCA) with the covariance of the frames before."""
    values, vectors = np.linalg.eigh(np.cov(pairs.before.T, bias=True))
    Z = (vectors / np.sqrt(values)) @ vectors.T
    return pairs.map(lambda frames: (frames - pairs.before.mean(axis=0)) @ Z)


@pytest.fixture(scope="session")
def make_noise_pairs():
    """Whitened pairs of world L1 (and, with other numbers, L2) of the claims."""

    def make(n_pairs=10_000, n=5, *, sigma=0.8, max_shift=0.1, seed=0):
        scene = ExponentialNoise(3.0, period=4096.0, random_state=seed)
        motion = Translation(max_shift, ndim=1)
        return whitened(sample_pairs(scene, Line(n, sigma=sigma), motion, n_pairs, random_state=seed))

    return make


@pytest.fixture(scope="session")
def make_frame_pairs():
    """Pairs of frames of log-normal intensities, with motion and names."""

    def make(n_pairs=40, pixels=(6,), *, seed=0, dtype=np.float64):
        rng = np.random.default_rng(seed)
        frames = np.exp(rng.normal(size=(2, n_pairs, *pixels))).astype(dtype)
        return FramePairs(*frames, motion=rng.normal(size=(n_pairs, 2)), names=[("a", "b"), ("c", "d")])

    return make


@pytest.fixture(scope="session")
def pickled():
    """Send an object through pickle and back."""
    return lambda thing: pickle.loads(pickle.dumps(thing))


@pytest.fixture(scope="session")
def backwards(pickled):
    """Do pieces of a claim's work as other processes would, sent there and in another order."""
    return lambda pieces: [pickled(piece)() for piece in reversed(pieces)][::-1]


@pytest.fixture(scope="session")
def characterised():
    """What ``compare`` finds of a detector."""
    from flymotion.detectors import DETECTORS
    from flymotion.tuning import characterise

    return characterise(DETECTORS["hrd"]())


@pytest.fixture
def run(capsys, monkeypatch):
    """Run the command as a shell of 140 columns would; returns exit status, stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "140")

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments], prog_name="flymotion")
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    return call


@pytest.fixture
def noted(monkeypatch):
    """Let what is noted on stderr be printed as in a terminal, without bars."""
    monkeypatch.setattr("flymotion.cli.ending.watched", lambda: True)


@pytest.fixture
def write_video(tmp_path):
    """Write frames, the t-th shown at stamps[t] / 25 s, leave out the packets in drop, and return the path."""

    def write(name, frames, codec="libx264", pix_fmt="yuv420p", *, source="gray", b_frames=0, drop=(), **how):
        av = pytest.importorskip("av")
        path = tmp_path / name
        with av.open(str(path), "w", container_options={"movflags": "faststart"}) as container:
            stream = container.add_stream(codec, rate=25, options=how.get("options"))
            first = av.VideoFrame.from_ndarray(frames[0], format=source)
            stream.height, stream.width, stream.pix_fmt = first.height, first.width, pix_fmt
            stream.codec_context.max_b_frames = b_frames
            stream.set_display_rotation(how.get("rotation", 0), hflip=how.get("hflip", False))
            packets = []
            for array, stamp in zip(frames, how.get("stamps", range(len(frames))), strict=True):
                frame = av.VideoFrame.from_ndarray(array, format=source).reformat(format=pix_fmt)
                frame.pts, frame.time_base = stamp, Fraction(1, 25)
                packets += stream.encode(frame)
            packets += stream.encode()
            for i in sorted(set(range(len(packets))) - set(drop)):
                container.mux(packets[i])
        return path

    return write


@pytest.fixture(scope="session")
def counted():
    """Count the frames of a movie, and return the largest memory that reading took besides [bytes]."""

    def count(movie):
        tracemalloc.start()
        try:
            return sum(1 for _ in movie), tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    return count

"""Benchmarks, each against a peer in the same run: python benchmarks/run.py [NAME ...] [--json FILE].

A ratio above 1 means that ours is better. Ours and the peer take turns; medians are quoted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from flymotion.writing import WriteError, check, whole

Row = dict[str, Any]


def row(name: str, ours: float | None, peer: float | None, unit: str, note: str, *, higher: bool = False) -> Row:
    over, under = (ours, peer) if higher else (peer, ours)
    ratio = over / under if over is not None and under else None
    return {"name": name, "ours": ours, "peer": peer, "unit": unit, "ratio": ratio, "note": note}


def in_turns(
    *functions: Callable[[], Any], repeats: int = 7, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Median seconds of each function, run in turns after one run to warm up."""
    seconds: list[list[float]] = [[] for _ in functions]
    for turn in range(repeats + 1):
        for function, taken in zip(functions, seconds, strict=True):
            start = clock()
            function()
            if turn:
                taken.append(clock() - start)
    return [float(np.median(taken)) for taken in seconds]


def moving_pairs(n: int, n_pairs: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Changes and frames of white content under small shifts either way, float32, shape (n_pairs, n)."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n_pairs, n), dtype=np.float32)
    slope = (np.roll(x, 1, axis=1) - np.roll(x, -1, axis=1)) / 2
    dx = rng.uniform(-0.5, 0.5, (n_pairs, 1)).astype(np.float32) * slope
    return dx + 0.1 * rng.standard_normal((n_pairs, n), dtype=np.float32), x


def started(n: int, k: int, nonnegative: bool) -> tuple[Any, Callable[[Any, np.ndarray, np.ndarray], Any]]:
    """Return a learner past its warm-up and the per-sample loop."""
    import per_sample

    from flymotion import NonnegativeSimilarityMatching, OuterProducts, SimilarityMatching

    cls = NonnegativeSimilarityMatching if nonnegative else SimilarityMatching
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = cls(k, warm_up=500).fit(OuterProducts(*moving_pairs(n, 600, seed=1)))
    return learner, per_sample.nsm if nonnegative else per_sample.sm


def loop_over(learner: Any, loop: Callable, n: int, dx: np.ndarray, x: np.ndarray) -> Callable[[], Any]:
    """Run the per-sample loop from the learner's present synapses."""
    W = learner.W_.reshape(-1, n, n).astype(np.float32)
    M, That = learner.M_.copy(), np.diag(learner.R_).copy()
    return lambda: loop(W, M, That, dx, x)


def core_large() -> Iterator[Row]:
    from flymotion import OuterProducts
    from flymotion.similarity.state import block_size

    n, k = 1024, 4
    block = block_size(n * n)
    learner, loop = started(n, k, True)
    chi = OuterProducts(*moving_pairs(n, 2 * block))
    a = np.random.default_rng(0).standard_normal((2048, 2048), dtype=np.float32)
    few = 20
    dx, x = chi.u[:few].copy(), chi.v[:few].copy()
    ours, sgemm, peer = in_turns(
        lambda: learner.partial_fit(chi), lambda: a @ a, loop_over(learner, loop, n, dx, x), repeats=9
    )
    rate = len(chi) * (4 * k * n * n + 4 * block * n) / ours / 1e9
    note = f"arithmetic rate of NSM, n = {n}, K = {k}, against sgemm at 2048 x 2048; at least 0.6, aim 0.8"
    yield row("core-large.sgemm", rate, 2 * 2048**3 / sgemm / 1e9, "GFLOP/s", note, higher=True)
    yield row(
        "core-large.loop", ours / len(chi) * 1e6, peer / few * 1e6, "us/sample", "compiled per-sample loop; at least 15"
    )


def core_small() -> Iterator[Row]:
    from flymotion import OuterProducts

    for n, k, least in ((5, 2, 0.9), (9, 2, 0.9), (15, 2, 0.9), (25, 4, 1.5)):
        for nonnegative in (False, True):
            learner, loop = started(n, k, nonnegative)
            dx, x = moving_pairs(n, 50_000)
            chi = OuterProducts(dx, x)
            ours, peer = in_turns(lambda: learner.partial_fit(chi), loop_over(learner, loop, n, dx, x))  # noqa: B023
            name = f"core-small.{'nsm' if nonnegative else 'sm'}-{n}"
            note = f"n = {n}, K = {k}, compiled per-sample loop; at least {least}"
            yield row(name, ours / len(x) * 1e6, peer / len(x) * 1e6, "us/sample", note)


def vs_sklearn() -> Iterator[Row]:
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.decomposition import IncrementalPCA

    from flymotion import OuterProducts

    for n in (25, 64):
        for k in (4, 10):
            dx, x = moving_pairs(n, 256 * (40 if n == 25 else 10))
            chi = OuterProducts(dx, x)

            def over_dense(estimator: Any) -> Callable[[], Any]:
                def run() -> None:
                    for start in range(0, len(x), 256):  # noqa: B023
                        estimator.partial_fit(chi[start : start + 256].dense())  # noqa: B023

                return run

            nsm, _ = started(n, k, True)
            sm, _ = started(n, k, False)
            pca = IncrementalPCA(k, batch_size=256)
            kmeans = MiniBatchKMeans(k, batch_size=256, random_state=0, n_init=1)
            a, b, c, d = (
                t / len(x) * 1e6
                for t in in_turns(
                    lambda: sm.partial_fit(chi),  # noqa: B023
                    lambda: nsm.partial_fit(chi),  # noqa: B023
                    over_dense(pca),
                    over_dense(kmeans),
                    repeats=3,
                )
            )
            what = f"chi of {n * n}, K = {k}"
            yield row(f"vs-sklearn.ipca-{n * n}-{k}", a, c, "us/sample", f"SM, {what}, IncrementalPCA; at least 20")
            yield row(f"vs-sklearn.kmeans-{n * n}-{k}", b, d, "us/sample", f"NSM, {what}, MiniBatchKMeans; at least 1")


def rivals() -> Iterator[Row]:
    from flymotion import OuterProducts
    from flymotion.similarity.rivals import OuterProductKMeans

    u, v = np.random.default_rng(0).standard_normal((2, 100_000, 2, 5))
    chi = OuterProducts(u, v)
    dense = chi.dense()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, peer = (OuterProductKMeans(4, n_init=1, max_iter=5, random_state=0).fit(x) for x in (chi, dense))
        for call, least in (("fit", 0.7), ("predict", 0.3)):
            a, b = in_turns(lambda: getattr(ours, call)(chi), lambda: getattr(peer, call)(dense))  # noqa: B023 - run at once
            note = f"K-means on products of rank 2, 25 entries, against the same written out; at least {least}"
            yield row(f"rivals.kmeans-{call}", a / len(u) * 1e6, b / len(u) * 1e6, "us/sample", note)


def core_gpu() -> Iterator[Row]:
    try:
        import torch

        available = torch.cuda.is_available()
    except ImportError:
        available = False
    if not available:
        yield row("core-gpu", None, None, "us/sample", "skipped: no torch device here")
        return
    from flymotion import NonnegativeSimilarityMatching, OuterProducts

    dx, x = moving_pairs(1024, 4096)
    cpu, gpu = NonnegativeSimilarityMatching(4, warm_up=500), NonnegativeSimilarityMatching(4, warm_up=500)
    here = OuterProducts(dx, x)
    there = OuterProducts(torch.as_tensor(dx, device="cuda"), torch.as_tensor(x, device="cuda"))
    ours, peer = in_turns(
        lambda: (gpu.partial_fit(there), torch.cuda.synchronize()), lambda: cpu.partial_fit(here), repeats=5
    )
    yield row("core-gpu", ours / len(x) * 1e6, peer / len(x) * 1e6, "us/sample", "NSM, n = 1024, K = 4: GPU, CPU")


STREAM = """
import numpy as np
def peak():  # not ru_maxrss, in which a process starts with its parent's
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
from flymotion import NonnegativeSimilarityMatching, OuterProducts
import flymotion.similarity.recursion
before = peak()
rng = np.random.default_rng(0)
learner = NonnegativeSimilarityMatching(4)
for _ in range({n_pairs} // 500):
    x = rng.standard_normal((500, 1024), dtype=np.float32)
    learner.partial_fit(OuterProducts(np.roll(x, 1, axis=1) - x, x))
print(peak() - before)
"""


def memory() -> Iterator[Row]:
    n_pairs = int(os.environ.get("FLYMOTION_MEMORY_PAIRS", 100_000))
    ours = float(_python(STREAM.format(n_pairs=n_pairs)))
    yield row("memory", ours, 150.0, "MB", f"peak above the import, NSM, n = 1024, K = 4, {n_pairs} pairs, float32")


FIRST_CALL = """
import time, numpy as np
from flymotion import NonnegativeSimilarityMatching, OuterProducts
x = np.random.default_rng(0).standard_normal((600, 5))
chi = OuterProducts(np.roll(x, 1, axis=1) - x, x)
learner = NonnegativeSimilarityMatching(2, init=np.random.default_rng(1).standard_normal((2, 25)))
start = time.perf_counter()
learner.fit(chi)
print(time.perf_counter() - start)
"""


def imports() -> Iterator[Row]:
    timed = "import time; t = time.perf_counter(); import flymotion; print(time.perf_counter() - t)"
    ours = float(np.median([float(_python(timed)) for _ in range(5)]))
    yield row("import.package", ours, 0.3, "s", "import flymotion, against the bound")
    command = [sys.executable, "-m", "flymotion", "--help"]
    (ours,) = in_turns(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL), repeats=5)
    yield row("import.help", ours, 0.2, "s", "flymotion --help, warm, against the bound")
    with tempfile.TemporaryDirectory() as cache:
        first, later = (float(_python(FIRST_CALL, NUMBA_CACHE_DIR=cache)) for _ in range(2))
    yield row(
        "import.first-call",
        first,
        4.0,
        "s",
        "first compiled fit, from given filters, with an empty cache, against the bound",
    )
    yield row("import.later-call", later, first, "s", "the same in a later process, against the first")


def _python(code: str, **environment: str) -> str:
    run = [sys.executable, "-W", "ignore", "-c", code]
    return subprocess.run(run, check=True, capture_output=True, text=True, env=os.environ | environment).stdout


def hexagon() -> Iterator[Row]:
    from flymotion import ExponentialNoise, Hexagon, MotionLearner, Translation, sample_pairs

    eye = Hexagon(15)
    scene = ExponentialNoise(3.0, ndim=2, sharpest=eye.sigma, random_state=0)
    start = time.perf_counter()
    pairs = sample_pairs(scene, eye, Translation(0.3), 50_000, random_state=0)
    rendered = time.perf_counter()
    learner = MotionLearner(4).fit(pairs)
    learned = time.perf_counter()
    note = f"721 pixels, K = 4, 50,000 pairs rendered ({rendered - start:.0f} s) and learned from, against the bound; "
    right = learner.direction_accuracy_
    yield row("hexagon", learned - start, 90.0, "s", f"{note}{right:.3f} of single pairs right")


def lab() -> Iterator[Row]:
    from flymotion.detectors import DETECTORS
    from flymotion.stimuli import drifting_grating
    from flymotion.tuning import tune

    design = {
        "temporal_frequency": np.geomspace(0.25, 16, 12),
        "wavelength": np.geomspace(10, 90, 12),
        "direction": 30.0 * np.arange(12),
    }
    start = time.perf_counter()
    tune(DETECTORS["conductance-t4"](), drifting_grating, design, dt=1e-3, repeats=1)
    seconds = time.perf_counter() - start
    note = "conductance T4, 12 frequencies x 12 wavelengths x 12 directions, 2 s at 1 ms each, against the bound"
    yield row("lab.map", seconds, 10.0, "s", note)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "flymotion", "compare", "--out", folder]
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
    yield row("lab.compare", seconds, 60.0, "s", f"flymotion compare, {len(DETECTORS)} detectors, against the bound")


def field() -> Iterator[Row]:
    from field import field as rows

    yield from rows()


def truth() -> Iterator[Row]:
    from truth import truth as rows

    yield from rows()


def frame_motion() -> Iterator[Row]:
    from frame_motion import frame_motion as rows

    yield from rows()


def pareto() -> Iterator[Row]:
    from pareto import pareto as rows

    yield from rows()


def learn_video() -> Iterator[Row]:
    from learn_video import learn_video as rows

    yield from rows()


def rivals_speed() -> Iterator[Row]:
    from rivals_speed import rivals_speed as rows

    yield from rows()


def detect() -> Iterator[Row]:
    from detect import detect as rows

    yield from rows()


def fly() -> Iterator[Row]:
    from fly import fly as rows

    yield from rows()


def learned_velocity() -> Iterator[Row]:
    from learned_velocity import learned_velocity as rows

    yield from rows()


BENCHMARKS = {
    "core-large": core_large,
    "core-small": core_small,
    "vs-sklearn": vs_sklearn,
    "rivals": rivals,
    "rivals-speed": rivals_speed,
    "core-gpu": core_gpu,
    "memory": memory,
    "import": imports,
    "hexagon": hexagon,
    "lab": lab,
    "field": field,
    "detect": detect,
    "learn-video": learn_video,
    "fly": fly,
    "truth": truth,
    "frame-motion": frame_motion,
    "pareto": pareto,
    "learned-velocity": learned_velocity,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(BENCHMARKS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(BENCHMARKS)}")
    if arguments.json:
        try:
            check(arguments.json)  # before minutes of work
        except WriteError as error:
            parser.error(str(error))
    rows = []
    for name in arguments.names or BENCHMARKS:
        for result in BENCHMARKS[name]():
            values = [result[column] for column in ("ours", "peer", "ratio")]
            figures = [f"{'-':>10}" if value is None else f"{value:10.4g}" for value in values]
            print(f"{result['name']:26}", *figures, f"{result['unit']:10}", result["note"], flush=True)
            rows.append(result)
    if arguments.json:
        with whole(arguments.json) as place:
            place.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

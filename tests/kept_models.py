"""A small model of every kind that can be kept in a file, at every point at which it may be: name to function."""

import numpy as np
from scipy.ndimage import gaussian_filter, shift

from flymotion import (
    CompoundEye,
    ContrastNormalization,
    DivisiveNormalization,
    FramePairs,
    Generators,
    Grid,
    Hexagon,
    Line,
    LogIntensity,
    MotionLearner,
    NonnegativeSimilarityMatching,
    OnOff,
    Operators,
    OuterProducts,
    SensorNoise,
    SimilarityMatching,
    Sphere,
    T4T5Circuit,
    TwoChannels,
    WeberContrast,
    ZCAWhitening,
    pair_up,
)
from flymotion.similarity.rivals import (
    CCIPCA,
    AdaOja,
    FastSimilarityMatching,
    OjaSubspace,
    OuterProductKMeans,
    OuterProductPCA,
    ReconstructionNetwork,
)

__all__ = ["GOING_ON", "MODELS", "answers", "frames", "go_on", "plain", "street", "video"]

NAMES = (("clockwise", "counter-clockwise"), ("looming", "receding"))


def frames(n, shape=(5,), seed=0):
    return np.random.default_rng(seed).normal(size=(n, *shape))


def street(n, side=16):
    """Frames of content that moves to the right."""
    noise = gaussian_filter(np.random.default_rng(0).standard_normal((side, 2 * side + 20)), 1.5)
    return np.stack([20 * shift(noise, (0, 0.4 * t))[:, 20 : 20 + side] for t in range(n)])


def plain(seen, **how):
    how = {"warm_up": 20, "patches_per_pair": 30, "random_state": 0} | how
    return MotionLearner(2, **how).partial_fit(frames(700)[:seen])


def patches(seen):
    learner = MotionLearner(4, patch=3, warm_up=50, patches_per_pair=4, random_state=0)
    return learner.partial_fit(frames(40, (9, 11))[:seen])


def named():
    pairs = pair_up(frames(31, (6,)))
    motion = np.random.default_rng(1).normal(size=(30, 2))
    learner = MotionLearner(2, warm_up=20, random_state=0)
    return learner.partial_fit(FramePairs(pairs.before, pairs.after, motion, NAMES))


def video(seen, *, finished=False):
    learner = MotionLearner(vision="video", patch=3, patches_per_pair=20, random_state=0)
    learner.partial_fit(street(100)[:seen])
    return learner.finish() if finished else learner


def products(n=40, seed=0):
    rng = np.random.default_rng(seed)
    return OuterProducts(rng.normal(size=(n, 2, 3)), rng.normal(size=(n, 2, 3)))


def network(make, samples, **how):
    return make(2, warm_up=20, **how).partial_fit(samples)


def generators(eye):
    n = len(eye.positions)
    rng = np.random.default_rng(0)
    return Generators(rng.normal(size=(2, n, n)), eye, rng.normal(size=(n, n)))


def compound_eye():
    return CompoundEye.from_directions([[1.0, -0.1 * x, -0.1 * y] for x, y in Hexagon(2).positions], "right")


def light(n=20, shape=(4,)):
    return np.exp(frames(n, shape))


def circuit(**how):
    return T4T5Circuit(Hexagon(1), random_state=0, **how).partial_fit(light(70, (7,)))


SM, NSM = SimilarityMatching, NonnegativeSimilarityMatching

GOING_ON = {
    "a learner of one frame": lambda: plain(1),
    "a learner warming up": lambda: plain(10),
    "a learner whose network is warming up": lambda: plain(60, forgetting=0.99),
    "a learner": lambda: plain(600),
    "a learner cut": lambda: plain(600).cut(),
    "a learner of float32": lambda: MotionLearner(2, warm_up=20, random_state=0).partial_fit(
        frames(600).astype(np.float32)
    ),
    "a learner of memory in another order": lambda: MotionLearner(2, warm_up=20, random_state=0).partial_fit(
        np.asfortranarray(frames(10))
    ),
    "a learner of patches": lambda: patches(30),
    "a learner of patches warming up": lambda: patches(5),
    "a learner of named motions": named,
    "a learner of video at its beginning": lambda: video(20),
    "a learner of video": lambda: video(70),
    "a learner of video at its end": lambda: video(70, finished=True),
    "NSM warming up": lambda: network(NSM, products(10)),
    "NSM": lambda: network(NSM, products(), forgetting=0.9),
    "NSM of silence": lambda: network(NSM, np.zeros((3, 4))),
    "SM of vectors warming up": lambda: network(SM, frames(10).astype(np.float32)),
    "SM of vectors": lambda: network(SM, np.asfortranarray(frames(40)), init=np.eye(2, 5)),
    "Oja": lambda: OjaSubspace(2, random_state=0).fit(products()),
    "Sanger on vectors": lambda: OjaSubspace(2, ordered=True, init=np.eye(2, 5)).fit(frames(40)),
    "CCIPCA": lambda: CCIPCA(2).fit(products()),
    "AdaOja amid a block": lambda: AdaOja(2, block_size=32, random_state=0).fit(products()),
    "fast matching on vectors": lambda: FastSimilarityMatching(2, random_state=0).fit(frames(40).astype(np.float32)),
    "reconstruction of vectors": lambda: ReconstructionNetwork(2, init=np.eye(2, 5)).fit(frames(40)),
    "a circuit": circuit,
    "a circuit that forgets": lambda: circuit(forgetting=0.99, pooled=True, start="random", decorrelation="surround"),
}
"""Models that learning goes on from."""

MODELS = GOING_ON | {
    "PCA": lambda: OuterProductPCA(2).fit(products()),
    "K-means": lambda: OuterProductKMeans(2, n_init=1, random_state=0).fit(products()),
    "K-means from given centres": lambda: OuterProductKMeans(2, init=frames(2)).fit(frames(20)),
    "generators of a line": lambda: generators(Line(4)),
    "generators of a grid": lambda: generators(Grid(2, 3, 0.5)),
    "generators of a hexagon": lambda: generators(Hexagon(1)),
    "generators of ON and OFF": lambda: generators(TwoChannels(Hexagon(1))),
    "generators of a sphere": lambda: generators(Sphere.evenly(7)),
    "generators of a compound eye": lambda: generators(compound_eye()),
    "operators": lambda: Operators(frames(2, (4, 4)), Line(4), np.arange(4.0)),
    "operators of one mean": lambda: Operators(frames(2, (4, 4)), Line(4), 0.5),
    "whitening": lambda: ZCAWhitening().fit(frames(20, (4,)).astype(np.float32)),
    "contrast": lambda: ContrastNormalization(1).fit(light()),
    "divisive normalisation": lambda: DivisiveNormalization(0.2, 1.0, Grid(2, 2)).fit(light()),
    "divisive normalisation by all": lambda: DivisiveNormalization().fit(light()),
    "logarithm": lambda: LogIntensity().fit(light()),
    "Weber contrast": lambda: WeberContrast().fit(light()),
    "ON and OFF": lambda: OnOff().fit(light()),
    "noise": lambda: SensorNoise(0.1, random_state=0).fit(light()),
}
"""Models of every kind."""


def go_on(name, model):
    """Let a model learn from what comes next."""
    if isinstance(model, T4T5Circuit):
        return model.partial_fit(light(30, (7,)))
    learner = isinstance(model, MotionLearner)
    after = frames(200, (2, 3), seed=3)
    more = {
        "video": lambda: street(100)[70:],
        "patches": lambda: frames(40, (9, 11))[30:],
        "named": lambda: FramePairs(frames(9, (6,), 4), frames(9, (6,), 5), frames(9, (2,), 6), NAMES),
        "float32": lambda: frames(700)[600:].astype(np.float32),
        "order": lambda: np.asfortranarray(frames(600)[10:]),
    }
    of_learner = next((make() for word, make in more.items() if word in name), frames(700)[100:])
    of_network = OuterProducts(after, after[::-1]) if "vectors" not in name and "silence" not in name else None
    vectors = frames(200, (4,) if "silence" in name else (5,), seed=3)
    model.partial_fit(of_learner if learner else vectors if of_network is None else of_network)
    return model.finish() if learner else model


def answers(model):
    """What a model has to say: all its numbers, and outputs for samples of the size that it takes."""
    names = [name for name in dir(model) if name.endswith("_") and not name.startswith("_")]
    values = [getattr(model, name) for name in names if hasattr(model, name)]
    numbers = [value for value in values if isinstance(value, float | int | np.ndarray)]
    if isinstance(model, T4T5Circuit):
        return [*numbers, model.transform(light(5, (len(model.eye.positions),)))]
    if not hasattr(model, "n_features_in_") or not hasattr(model, "transform"):
        return numbers
    if len(getattr(model, "feature_shape_", (1,))) == 2:
        return [*numbers, model.transform(products(5, seed=1))]
    pixels = model.state_.vision.pixels if isinstance(model, MotionLearner) else (min(model.n_features_in_, 99),)
    return [*numbers, np.asarray(model.transform(np.exp(frames(5, pixels))))]

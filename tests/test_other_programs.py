"""The code of docs/other-programs.md, run: ONNX in onnxruntime, PyTorch beside the field, ROS with stand-ins."""

import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from kept_models import video
from scipy.ndimage import gaussian_filter

from flymotion import MotionField, export_onnx

PAGE = Path(__file__).parents[1] / "docs" / "other-programs.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="no docs in this tree")


def block(word):
    """Return the one block of Python in which a word is."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    (found,) = [each for each in blocks if word in each]
    return compile(found, f"{PAGE.name}, {word}", "exec")


@pytest.fixture(scope="module")
def learner():
    return video(100, finished=True)


@pytest.fixture
def frames():
    """Grey levels that move to the right by a pixel a frame."""
    texture = 128 + 300 * gaussian_filter(np.random.default_rng(0).normal(size=(60, 90)), 2.0)
    return np.stack([texture[:, 3 - t : 83 - t] for t in range(3)]).clip(0, 255).astype(np.uint8)


def test_onnx(learner, tmp_path, monkeypatch, capsys):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    monkeypatch.chdir(tmp_path)
    export_onnx(learner, "street.onnx")
    exec(block("onnxruntime"), {})
    out = capsys.readouterr().out
    assert [label for label in learner.labels_ if label not in out] == []


def test_pytorch(learner, frames):
    torch = pytest.importorskip("torch")
    names = {}
    exec(block("torch.nn.Module"), names)
    module = names["MotionDetectors"](learner)
    pairs = torch.tensor(np.float32(frames))
    found = module(pairs[:-1], pairs[1:]).numpy()
    field = MotionField(learner.generators_, exact=True, outputs=("directions",))(frames)
    np.testing.assert_allclose(found, field.directions, rtol=0, atol=1e-4 * field.directions.max())


class Node:
    """Stands for rclpy's: keeps what is published, and who listens."""

    def __init__(self, name):
        self.name, self.published, self.heard = name, {}, {}

    def create_publisher(self, kind, topic, depth):
        return SimpleNamespace(publish=lambda message: self.published.setdefault(topic, []).append(message))

    def create_subscription(self, kind, topic, callback, profile):
        self.heard[topic] = callback


@pytest.fixture
def ros(monkeypatch):
    """Stand-ins for the modules of ROS that the node imports."""

    def message(**fields):
        return SimpleNamespace(**fields, vector=SimpleNamespace())

    known = {
        "rclpy": {"init": lambda: None, "spin": lambda node: None},
        "rclpy.node": {"Node": Node},
        "rclpy.qos": {"qos_profile_sensor_data": None},
        "sensor_msgs.msg": {"Image": message},
        "geometry_msgs.msg": {"Vector3Stamped": message},
    }
    for name, contents in known.items():
        module = ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.parametrize("encoding", ["mono8", "rgb8", "bgr8"])
def test_ros_with_stand_ins(ros, frames, encoding):
    names = {}
    exec(block("rclpy"), names)
    node, channels = names["Motion"](), 1 if encoding == "mono8" else 3
    for frame in frames:
        rows = np.pad(np.repeat(frame, channels, axis=1), ((0, 0), (0, 5)))  # rows may be padded
        node.heard["image"](
            SimpleNamespace(
                header="now", height=60, width=80, step=rows.shape[1], encoding=encoding, data=rows.tobytes()
            )
        )
    flow, motion = node.published["flow"][-1], node.published["frame_motion"][-1]
    assert len(node.published["flow"]) == 2 and flow.step * flow.height == len(flow.data)
    velocity = np.frombuffer(flow.data, np.float32).reshape(60, 80, 2)
    assert abs(np.median(velocity[..., 0]) - 1) < 0.2
    assert abs(motion.vector.x - 1) < 0.2 and abs(motion.vector.y) < 0.2 and np.isfinite(motion.vector.z)


def test_flygym_is_python():
    block("flygym")  # what of flygym is in it was run once, as the page says

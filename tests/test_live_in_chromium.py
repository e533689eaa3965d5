"""The live page in Chromium: what it says of a camera that a file stands for, its numbers, and what goes wrong.

Run with ``pytest -m browser``; skipped, with a reason, where there is no Chromium or no playwright.
"""

import base64
import json
import re
import shutil

import numpy as np
import pytest
from kept_models import video
from sklearn.datasets import load_sample_image

from flymotion.browser import live_model, live_page, seen_live
from flymotion.browser.one_file import worker_source
from flymotion.browser.page_numbers import numbers_of

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("default"),  # playwright's own are not ours to mend
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this system"),
]

SHIFT, RATE, PERIOD = 4, 30, 320
"""The picture moves to the right by so many pixels a frame, at so many frames a second, and is the same after so many
pixels."""

SEE = """
self.onmessage = ({ data: [numbers, width, height, scale, way, ...pictures] }) => {
  const Way = way === "graphics" ? GraphicsDetectors : Detectors;
  const seeing = new Seeing(numbers, width, height, scale, Way);
  const found = pictures.map((text) => seeing.step(Uint8ClampedArray.from(atob(text), (c) => c.charCodeAt(0))));
  self.postMessage(JSON.stringify(found.at(-1), (_, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value)));
};
"""

ASK = """
([source, given]) => new Promise((resolve, reject) => {
  const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = (error) => reject(new Error(error.message));
  worker.postMessage(given);
})
"""


DROP = """
(name) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File(["no video"], name));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}
"""


KNOWN_VIDEO = """
const create = document.createElement.bind(document);
document.createElement = (name) => (name === "video" ? (window.video = create(name)) : create(name));
"""


@pytest.fixture(scope="module")
def chromium():
    """Start Chromium with arguments; each is closed at the end."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: the extra browser")
    with playwright.sync_playwright() as running:
        started = []

        def start(*arguments):
            started.append(running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", *arguments]))
            return started[-1]

        yield start
        for browser in started:
            browser.close()


@pytest.fixture(scope="module")
def moving():
    """Luminance of a photograph that moves to the right, for ever; a frame of every step of its period."""
    photograph = load_sample_image("china.jpg") @ [0.299, 0.587, 0.114]
    half = np.pad(photograph, ((0, 60), (0, 0)), mode="reflect")[:480, 200 : 200 + PERIOD // 2]
    scene = np.tile(np.concatenate([half, half[:, ::-1]], axis=1), 2)
    return [np.roll(scene, SHIFT * t, axis=1) for t in range(PERIOD // SHIFT)]


@pytest.fixture(scope="module")
def camera(chromium, moving, tmp_path_factory):
    """Chromium with a camera that sees the photograph move."""
    path = tmp_path_factory.mktemp("camera") / "moving.y4m"
    with open(path, "wb") as file:
        file.write(b"YUV4MPEG2 W640 H480 F%d:1 Ip A1:1 C420\n" % RATE)
        for frame in moving:
            file.write(b"FRAME\n" + np.uint8(16 + 219 / 255 * frame).tobytes() + bytes([128]) * (640 * 480 // 2))
    fake = ("--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream")
    return chromium(*fake, f"--use-file-for-fake-video-capture={path}")


@pytest.fixture(scope="module")
def nothing(chromium):
    """Chromium without a camera."""
    return chromium()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "live.html"
    path.write_text(live_page(), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def opened(address):
    """Open the page in a browser; at the end nothing was said on the console, and nothing was asked of a network."""
    told, asked, pages = [], [], []

    def open_in(browser, **options):
        page = browser.new_page(**options)
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("request", lambda request: asked.append(request.url.split(":")[0]))
        page.goto(address)
        pages.append(page)
        return page

    yield open_in
    for page in pages:
        page.close()
    assert told == [] and set(asked) <= {"file", "blob", "data"}


def until(page, id, pattern):
    """Wait until an element has a text."""
    from playwright.sync_api import expect

    expect(page.locator(f"#{id}")).to_have_text(re.compile(pattern), timeout=60_000)


def running(page):
    """Wait until figures of some seconds are shown."""
    until(page, "status", "^Looking at")
    until(page, "rate", r"\d")
    page.wait_for_timeout(3000)


def test_the_page_says_how_the_camera_moves(opened, camera):
    page = opened(camera)
    page.click("#camera")
    running(page)
    assert page.inner_text("#direction").startswith("right, ")
    assert float(page.inner_text("#rate-of-motion")) == pytest.approx(SHIFT * RATE, rel=0.1)
    assert abs(float(page.inner_text("#rotation"))) < 0.1 and abs(float(page.inner_text("#looming"))) < 1
    assert float(page.inner_text("#support")) > 70
    assert page.inner_text("#spoken") == "The picture moves right."
    assert page.inner_text("#size") == "80 x 60 pixels (velocity: 160 x 120)"
    page.click("#camera")
    assert page.inner_text("#status") == "The camera is off."


def test_detectors_of_the_direction_answer_most(opened, camera):
    page = opened(camera)
    page.click("#camera")
    running(page)
    colour = """(id) => [...document.querySelectorAll(`#${id} canvas`)].map((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let sum = 0;
      for (let k = 0; k < data.length; k += 4) sum += Math.max(data[k], data[k + 1], data[k + 2])
        - Math.min(data[k], data[k + 1], data[k + 2]);
      return sum;
    })"""
    for cells in ("t4", "t5"):
        assert np.argmax(page.evaluate(colour, cells)) == 1  # b prefers motion to the right


@pytest.mark.parametrize("way", ["processor", "graphics"])
@pytest.mark.parametrize(
    "learned_from", [lambda: None, lambda: video(100, finished=True)], ids=["photographs", "video"]
)
def test_the_browser_has_the_numbers_of_python(nothing, way, learned_from):
    photograph = load_sample_image("china.jpg")
    pictures = np.stack([photograph[20:404, 20:532], photograph[22:406, 16:528]])
    model = live_model(learned_from())
    page = nothing.new_page()
    opaque = np.pad(pictures, ((0, 0), (0, 0), (0, 0), (0, 1)), constant_values=255)
    texts = [base64.b64encode(picture.tobytes()).decode() for picture in opaque]
    given = [numbers_of(model), 512, 384, 4, way, *texts]
    found = json.loads(page.evaluate(ASK, [worker_source() + SEE, given]))
    page.close()
    expected, arrows = seen_live(model, pictures, 4), found["arrows"]
    named = found | {
        "velocity": [found["x"], found["y"]],
        "arrows": [arrows["x"], arrows["y"]],
        "arrow_confidence": arrows["confidence"],
        "lens_directions": found["lensDirections"],
        "motion": [found["motion"][name] for name in expected.motion._fields],
    }
    for name, array in expected._asdict().items():
        array = np.asarray(array)
        close = np.abs(np.reshape(named[name], array.shape) - array).max()
        assert close <= 1e-5 * np.abs(array).max(), name


def test_a_graphics_card_that_gives_no_numbers_is_not_taken(nothing):
    page = nothing.new_page()
    ask = "self.onmessage = ({ data }) => self.postMessage(apart(data, [[2, 1]]) <= ALIKE);"
    for given, alike in [([[2, 1]], True), ([[2, 1.1]], False), ([[2, float("nan")]], False)]:
        assert page.evaluate(ASK, [worker_source() + ask, given]) is alike
    page.close()


@pytest.fixture
def clip(tmp_path):
    """Write frames as a video, and return its path."""
    av = pytest.importorskip("av")

    def write(frames):
        path = tmp_path / "a clip.webm"
        with av.open(str(path), "w") as container:
            stream = container.add_stream("libvpx", rate=RATE, options={"deadline": "realtime", "cpu-used": "8"})
            stream.width, stream.height, stream.pix_fmt, stream.bit_rate = 640, 480, "yuv420p", 4_000_000
            for frame in frames:
                grey = np.repeat(np.uint8(frame)[..., None], 3, axis=2)
                container.mux(stream.encode(av.VideoFrame.from_ndarray(grey, format="rgb24")))
            container.mux(stream.encode(None))
        return path

    return write


def test_what_frames_do_not_tell_any_more_is_not_shown(opened, nothing, moving, clip):
    page = opened(nothing)
    page.set_input_files("#file", clip([*moving[:45], *[np.zeros((480, 640))] * 105]))
    until(page, "direction", "^right, ")
    until(page, "direction", "^-$")
    assert page.inner_text("#speed") == page.inner_text("#rotation") == "-"


def test_a_chosen_video_is_looked_at(opened, nothing, moving, clip):
    page = opened(nothing)
    page.set_input_files("#file", clip(moving[:60]))
    running(page)
    assert page.inner_text("#status") == "Looking at a clip.webm."
    assert page.inner_text("#direction").startswith("right, ")
    page.click("#pause")
    assert page.get_attribute("#pause", "aria-pressed") == "true"
    page.select_option("#rows", "80")
    until(page, "size", "^53 x 40 pixels")
    assert page.get_attribute("#pause", "aria-pressed") == "true"
    until(page, "status", "^Paused")
    page.click("#pause")
    assert page.get_attribute("#pause", "aria-pressed") == "false"
    until(page, "status", "^Looking at a clip.webm.$")


def test_what_happens_to_a_video_meanwhile_is_heeded(opened, camera):
    page = opened(camera)
    page.add_init_script(KNOWN_VIDEO)
    page.reload()
    page.click("#camera")
    until(page, "size", "^80 x 60 pixels")
    page.evaluate("video.srcObject.getVideoTracks()[0].applyConstraints({ width: 640, height: 360 })")
    until(page, "size", r"^106 x 60 pixels \(velocity: 213 x 120\)")
    running(page)
    page.evaluate("video.dispatchEvent(new Event('error'))")
    assert page.inner_text("#status") == "Nothing is being looked at."
    assert page.inner_text("#problem") == "the camera cannot be read any further."


def test_what_is_wrong_is_said(opened, nothing, tmp_path):
    (tmp_path / "notes.txt").write_text("no video")
    page = opened(nothing)
    assert not page.is_visible("#problem")
    page.click("#camera")
    until(page, "problem", ".")
    assert page.inner_text("#problem").startswith(("No camera was found", "The camera was not allowed"))
    page.set_input_files("#file", tmp_path / "notes.txt")
    until(page, "problem", "notes.txt")
    assert page.inner_text("#problem") == "notes.txt is no video that this browser can play."
    assert page.inner_text("#status") == "Nothing is being looked at."
    page.evaluate(DROP, "dropped.txt")
    until(page, "problem", "^dropped.txt is no video")


def test_a_camera_that_is_not_allowed_is_said(opened, chromium):
    refused = chromium("--use-fake-device-for-media-stream", "--deny-permission-prompts")
    page = opened(refused)
    page.click("#camera")
    until(page, "problem", ".")
    assert page.inner_text("#problem").startswith("The camera was not allowed: ")


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_window(opened, camera, width, scheme):
    page = opened(camera, viewport={"width": width, "height": 900}, color_scheme=scheme)
    wide = "document.documentElement.scrollWidth <= innerWidth"
    assert page.evaluate(wide)
    page.click("#camera")
    until(page, "rate", r"\d")
    assert page.evaluate(wide)


def test_the_keyboard_reaches_all_controls_in_order(opened, camera):
    page, reached = opened(camera), []
    for _ in range(3):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
    assert reached == ["camera", "file", "rows"]  # there is nothing to pause yet
    page.focus("#camera")
    page.keyboard.press("Enter")
    until(page, "status", "^Looking at")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "pause"


def test_everything_has_a_name_for_those_who_listen(opened, nothing):
    page = opened(nothing)
    unnamed = """[...document.querySelectorAll("canvas, section, input, select, button")].filter((element) => !(
      element.getAttribute("aria-label") || element.getAttribute("aria-labelledby") || element.labels?.length
      || element.textContent.trim())).map((element) => element.outerHTML)"""
    assert page.evaluate(unnamed) == []
    live = "[...document.querySelectorAll('[role=status], [role=alert], [aria-live]')].map((element) => element.id)"
    assert page.evaluate(live) == ["status", "problem", "spoken"]

"""The rate of the live page in Chromium, on a camera that a file stands for: 640 x 480 at 30 frames a second.

    python benchmarks/live_page.py [MODEL] [--seconds N]

Prints what the page says of itself, beside the rate of a page that only shows the camera, and the processor's time a
frame of all processes of the browser: machines are shared, and a rate alone says how busy this one is.
"""

import argparse
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_sample_image

from flymotion.browser import live_model, live_page
from flymotion.writing import whole

SHOWN = ("rate", "offered", "time", "size", "way", "direction", "rate-of-motion")
TICKS = os.sysconf("SC_CLK_TCK")


BARE = """
async (seconds) => {
  const video = Object.assign(document.createElement("video"), { muted: true });
  document.body.replaceChildren(video);
  const stream = video.srcObject = await navigator.mediaDevices.getUserMedia({ video: { width: 640, height: 480 } });
  await video.play();
  let frames = 0;
  const next = () => { frames++; video.requestVideoFrameCallback(next); };
  video.requestVideoFrameCallback(next);
  await new Promise((done) => setTimeout(done, 1000 * seconds));
  stream.getTracks().forEach((track) => track.stop());
  return frames / seconds;
}
"""
"""The peer: a page that shows the camera, and counts its frames."""


def write_camera(path, shift=4, period=320):
    """Write a photograph that moves to the right, for ever."""
    photograph = load_sample_image("china.jpg") @ [0.299, 0.587, 0.114]
    half = np.pad(photograph, ((0, 60), (0, 0)), mode="reflect")[:480, 200 : 200 + period // 2]
    scene = np.tile(np.concatenate([half, half[:, ::-1]], axis=1), 2)
    with whole(path) as place, open(place, "wb") as file:
        file.write(b"YUV4MPEG2 W640 H480 F30:1 Ip A1:1 C420\n")
        for t in range(period // shift):
            grey = np.uint8(16 + 219 / 255 * np.roll(scene, shift * t, axis=1))
            file.write(b"FRAME\n" + grey.tobytes() + bytes([128]) * (640 * 480 // 2))


def processor_time():
    """Return the processor's time of all that this process has started [s]."""
    parents, times = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(path.parent.name)
        parents[pid], times[pid] = int(fields[1]), (int(fields[11]) + int(fields[12])) / TICKS

    def ours(pid):
        return pid in parents and (parents[pid] == os.getpid() or ours(parents[pid]))

    return sum(time for pid, time in times.items() if ours(pid))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", nargs="?")
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as running:
        page_file, camera = Path(folder, "live.html"), Path(folder, "camera.y4m")
        with whole(page_file) as place:
            place.write_text(live_page(live_model(given.model)), encoding="utf-8")
        write_camera(camera)
        fake = ("--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream")
        options = ["--no-sandbox", *fake, f"--use-file-for-fake-video-capture={camera}"]
        browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.goto(page_file.as_uri())
        bare = page.evaluate(BARE, given.seconds)
        page.reload()
        page.click("#camera")
        page.wait_for_timeout(5000)
        begun = processor_time()
        page.wait_for_timeout(1000 * given.seconds)
        used = processor_time() - begun
        shown = {name: page.inner_text(f"#{name}") for name in SHOWN}
        browser.close()
    frames = float(shown["rate"]) * given.seconds
    print(f"a page that only shows the camera: {bare:.1f}")
    print(*(f"{name}: {value}" for name, value in shown.items()), sep="\n")
    busy = f"{1000 * used / frames:.0f} ms a frame, {used / given.seconds:.2f} cores"
    print(f"processor: {busy}; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()

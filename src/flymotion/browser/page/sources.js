/* Where pictures come from: the camera, or a file. */

const LARGEST = 640; // pixels of a picture's longer side, at most
const LEAST = 48; // of its shorter side, at least

const CAMERA = { audio: false, video: { width: { ideal: 640 }, height: { ideal: 480 }, frameRate: { ideal: 30 } } };

const PROBLEMS = {
  NotAllowedError: "The camera was not allowed: allow it in the browser's settings of this page, and start it again.",
  NotFoundError: "No camera was found: connect one and start it again, or choose a video.",
  NotReadableError: "The camera cannot be read: another program may be using it.",
};

/** Start the camera on a video element; throws an error that says what to do. */
export async function startCamera(video) {
  if (!navigator.mediaDevices?.getUserMedia) {
    throw new Error("This browser gives no camera to a page opened as a file: serve its folder with"
      + " python -m http.server, and open it from localhost; or choose a video.");
  }
  let stream;
  try {
    stream = await navigator.mediaDevices.getUserMedia(CAMERA);
  } catch (error) {
    throw new Error(PROBLEMS[error.name] ?? `The camera cannot be started: ${error.message || error.name}.`);
  }
  stop(video);
  video.srcObject = stream;
  await playing(video, "The camera");
  return { name: "the camera", stream };
}

/** Play a file on a video element; throws an error that says what was wrong. */
export async function startFile(video, file) {
  stop(video);
  video.src = URL.createObjectURL(file);
  video.loop = true;
  await playing(video, file.name);
  return { name: file.name };
}

/** Let go of the camera or file. */
export function stop(video) {
  video.pause();
  video.srcObject?.getTracks().forEach((track) => track.stop());
  video.srcObject = null;
  if (video.src) URL.revokeObjectURL(video.src);
  video.removeAttribute("src");
}

async function playing(video, name) {
  try {
    await video.play();
  } catch (error) {
    stop(video);
    throw new Error(`${name} is no video that this browser can play.`);
  }
  const { videoWidth: width, videoHeight: height } = video, size = pictureSize(video);
  if (Math.min(...size) < LEAST) {
    stop(video);
    const reduced = Math.max(width, height) > LARGEST ? `, looked at as ${size.join(" x ")}` : "";
    throw new Error(`${name} has ${width} x ${height} pixels${reduced}; expected ${LEAST} or more each way.`);
  }
}

/** Return width and height of the pictures that are taken of a video. */
export function pictureSize({ videoWidth, videoHeight }) {
  const share = Math.min(1, LARGEST / Math.max(videoWidth, videoHeight));
  return [Math.round(videoWidth * share), Math.round(videoHeight * share)];
}

/** Call back at each new frame of a video, with its time [s], until it says false. */
export function atEachFrame(video, callback) {
  if (video.requestVideoFrameCallback) {
    const next = (now, { mediaTime }) => callback(mediaTime) && video.requestVideoFrameCallback(next);
    video.requestVideoFrameCallback(next);
    return;
  }
  let last = -1;
  const next = () => {
    const isNew = video.currentTime !== last;
    last = video.currentTime;
    if (!isNew || callback(last)) requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}

/* The page: its controls, what goes to the worker and comes back, and what is said. */

import { drawPicture, drawWheel, RoundScale } from "./drawing.js";
import { Eye, Panels } from "./panels.js";
import { atEachFrame, pictureSize, startCamera, startFile, stop } from "./sources.js";

const $ = (id) => document.getElementById(id);

const numbers = JSON.parse($("numbers").textContent);
const worker = new Worker(URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" })));
const video = Object.assign(document.createElement("video"), { muted: true, playsInline: true });
const grabbed = document.createElement("canvas");
const pencil = grabbed.getContext("2d", { willReadFrequently: true });
const calm = matchMedia("(prefers-reduced-motion: reduce)");

const WAYS = { graphics: "WebGL 2", processor: "JavaScript" };
const WORDS = ["right", "right and up", "up", "left and up", "left", "left and down", "down", "right and down"];
const MOST_WAITING = 2; // pictures that the worker has not answered, at most
const STILL = 0.05; // speed that is rest [pixels a frame]
const SAID_EVERY = 5000; // [ms] between two sentences for those who listen
const TOLD_EVERY = 250; // [ms] between two changes of the figures, which nobody reads faster
const CALM = 250; // [ms] between two drawings where motion is to be reduced
const LEAST_SPEED = 0.5; // least end of a scale of speed [pixels a frame]
const COUNTED = 3000; // [ms] that rates are counted over
const AVERAGED = 0.15; // share of a frame in figures that are averaged over frames
const FORGOTTEN = 15; // frames that do not tell a figure, after which it is not shown any more

const floor = Math.max(...numbers.floors);
const panels = new Panels([$("t4"), $("t5")], numbers.preferred, numbers.subtypes, floor);
const eye = new Eye($("eye"), numbers.lenses, numbers.angles, floor);
const scales = { arrows: new RoundScale(LEAST_SPEED), wheel: new RoundScale(Math.sqrt(floor)), speed: new RoundScale(LEAST_SPEED) };

let source = null; // what is looked at, from when it plays
let starting = false; // whether something is about to be
let waiting = 0, lastTime = -1, arrived = [], offered = [], mean = {}, untold = {}, drawn = 0, told = 0, said = -SAID_EVERY, lastSaid = "", side = 0;

worker.postMessage({ numbers });
$("model").textContent = numbers.model;
drawWheel($("wheel"), numbers.angles, null, scales.wheel, scales.speed);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (
  drawWheel($("wheel"), numbers.angles, null, scales.wheel, scales.speed)));

worker.onmessage = ({ data }) => (data.begun ? begun(data.begun) : answered(data));
worker.onerror = (error) => fail(`The page has stopped: ${error.message}.`);

$("camera").addEventListener("click", () => (source?.stream ? end("The camera is off.") : look(() => startCamera(video))));
$("file").addEventListener("change", () => $("file").files[0] && look(() => startFile(video, $("file").files[0])));
$("pause").addEventListener("click", pause);
$("rows").addEventListener("change", () => source && begin());
video.addEventListener("resize", () => source && !starting && begin()); // a telephone is turned
video.addEventListener("error", () => source && !starting && lose());

for (const [kind, over] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    document.body.classList.toggle("dropping", over);
    if (kind === "drop" && event.dataTransfer.files.length) look(() => startFile(video, event.dataTransfer.files[0]));
  });
}

/** Begin to look at what a function starts, or say why it cannot be. */
async function look(start) {
  if (starting) return;
  starting = true;
  $("problem").hidden = true;
  $("status").textContent = "Getting ready\u2026";
  try {
    const found = await start();
    source = found;
    found.stream?.getVideoTracks()[0].addEventListener("ended", () => source === found && end("The camera has ended."));
    begin();
  } catch (error) {
    end("Nothing is being looked at.");
    fail(error.message);
  }
  starting = false;
}

function fail(message) {
  $("problem").textContent = message;
  $("problem").hidden = false;
}

/** A file that is damaged, or was moved away. */
function lose() {
  const { name } = source;
  end("Nothing is being looked at.");
  fail(`${name} cannot be read any further.`);
}

function end(message) {
  stop(video);
  source = null;
  $("file").value = "";
  $("pause").disabled = true;
  $("camera").textContent = "Start the camera";
  $("status").textContent = message;
  $("spoken").textContent = "";
  mean = {};
  tell();
}

function pause() {
  if (video.paused) video.play().catch(() => {}); // it was paused again before it began
  else video.pause();
  showWhetherPaused();
}

function showWhetherPaused() {
  $("pause").setAttribute("aria-pressed", video.paused);
  $("status").textContent = video.paused ? "Paused." : `Looking at ${source.name}.`;
}

/** Tell the worker what size pictures have; it answers when it is ready. */
function begin() {
  const [width, height] = pictureSize(video), rows = Number($("rows").value);
  grabbed.width = width;
  grabbed.height = height;
  const scale = Math.max(1, Math.round(Math.min(width, height) / rows));
  side = scale * numbers.cell;
  source.ready = false;
  worker.postMessage({ begin: { width, height, scale } });
}

function begun({ times, width, height, columns, rows }) {
  if (!source) return;
  Object.assign(source, { ready: true, columns, rows });
  $("size").textContent = `${columns} x ${rows} pixels (velocity: ${width} x ${height})`;
  const ways = Object.keys(times).filter((way) => times[way] !== null).sort((a, b) => times[a] - times[b]);
  $("way").textContent = ways.map((way) => `${WAYS[way]} in ${figure(times[way], 1)} ms`).join(", rather than ");
  showWhetherPaused();
  $("camera").textContent = source.stream ? "Stop the camera" : "Start the camera";
  $("pause").disabled = false;
  Object.assign(scales, { arrows: new RoundScale(LEAST_SPEED), speed: new RoundScale(LEAST_SPEED) });
  waiting = 0;
  lastTime = -1;
  arrived = [];
  offered = [];
  mean = {};
  untold = {};
  const found = source;
  if (!found.running) atEachFrame(video, (time) => grab(found, time));
  found.running = true;
}

/** Take a picture of the video, unless the worker is behind; returns whether this source goes on. */
function grab(found, time) {
  if (found !== source) return false;
  offered = lately(offered);
  if (!found.ready || waiting >= MOST_WAITING) return true;
  if (time < lastTime) worker.postMessage({ cut: true });
  const seconds = time - lastTime;
  lastTime = time;
  pencil.drawImage(video, 0, 0, grabbed.width, grabbed.height);
  const picture = pencil.getImageData(0, 0, grabbed.width, grabbed.height).data.buffer;
  waiting++;
  worker.postMessage({ picture, seconds }, [picture]);
  return true;
}

function answered({ seen, seconds, time }) {
  waiting = Math.max(waiting - 1, 0);
  if (!seen || !source?.ready) return;
  const now = performance.now();
  arrived = lately(arrived);
  average({ time, ...seen.motion, across: seen.motion.x / seconds, down: seen.motion.y / seconds });
  if (!calm.matches || now - drawn > CALM) {
    drawn = now;
    draw(seen);
  }
  if (now - told > TOLD_EVERY) {
    told = now;
    tell();
  }
}

/** Return the moments of the last seconds, and now. */
function lately(moments) {
  const now = performance.now();
  return [...moments.filter((when) => now - when < COUNTED), now];
}

/** Return how often something was in the last seconds [1/s]. */
function rate(moments) {
  return moments.length > 5 ? 1000 * (moments.length - 1) / (moments.at(-1) - moments[0]) : NaN;
}

/** Average figures over frames; what a frame does not tell is left out, and unknown where many in a row do not. */
function average(given) {
  for (const [name, value] of Object.entries(given)) {
    untold[name] = Number.isFinite(value) ? 0 : (untold[name] ?? 0) + 1;
    if (!Number.isFinite(mean[name]) || untold[name] > FORGOTTEN) mean[name] = value;
    else if (untold[name] === 0) mean[name] += AVERAGED * (value - mean[name]);
  }
}

function draw(seen) {
  const { columns, rows } = source, length = drawPicture($("picture"), grabbed, seen, side, scales.arrows);
  show("arrow-scale", `An arrow as long as one and a half of their distances: ${length} pixels a frame.`);
  drawWheel($("wheel"), numbers.angles, seen, scales.wheel, scales.speed);
  show("panel-scale", `Full colour: responses of ${Number((panels.draw(seen, columns, rows) ** 2).toPrecision(3))} squared grey levels.`);
  show("lenses", String(eye.draw(seen)));
}

/** Show the figures, and say a sentence to those who listen, now and then. */
function tell() {
  const { x, y, rotation, looming, support, time } = mean, speed = Math.hypot(x, y);
  const angle = (Math.atan2(-y, x) * 180 / Math.PI + 360) % 360, moves = speed > STILL;
  const word = moves ? WORDS[Math.round(angle / 45) % 8] : "hardly";
  show("direction", Number.isFinite(speed) ? moves ? `${word}, ${Math.round(angle) % 360}\u00b0` : word : "-");
  show("speed", figure(speed, 2));
  show("rate-of-motion", figure(Math.hypot(mean.across, mean.down), 0));
  show("rotation", figure(rotation, 2));
  show("looming", figure(100 * looming, 1));
  show("support", figure(100 * support, 0));
  show("time", figure(time, 0));
  show("rate", figure(rate(arrived), 1));
  show("offered", figure(rate(offered), 1));
  const sentence = moves ? `The picture moves ${word}.` : Number.isFinite(speed) ? "The picture hardly moves." : "";
  if (sentence && sentence !== lastSaid && performance.now() - said > SAID_EVERY) {
    said = performance.now();
    $("spoken").textContent = lastSaid = sentence;
  }
}

/** Show a text, if it is another: each change lays the page out anew. */
function show(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

function figure(value, digits) {
  return Number.isFinite(value) ? value.toFixed(digits).replace(/^-(0(\.0*)?)$/, "$1") : "-";
}

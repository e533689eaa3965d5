/* The picture with its arrows, and the wheel of directions. Colours and scales are those of the package's overlays. */

const WHITE = 0.25; // share of white in every hue
const STEPS = [1, 2, 3, 5, 10]; // numbers, times powers of ten, that a scale may end at
const PATIENCE = 15; // frames after which a scale shrinks
const LAZINESS = 0.2; // share of a frame in what is typical: one frame that is wrong changes no scale
const FIRM = 0.2; // confidence from which on an arrow is drawn
const SLOWEST = 0.08; // least length of an arrow, relative to the scale's
const INNER = 0.74; // radius of the wheel inside its rim, relative to all of it
const LONGEST = 1.5; // length of an arrow at the end of its scale, in distances of two arrows

/** Return the colour of a direction [deg]: 0, right, red; 90, up, yellow-green; 180, left, cyan; 270, down, violet. */
export function hue(angle) {
  return [0, 4, 2].map((by) => {
    const sixth = ((angle / 60 + by) % 6 + 6) % 6;
    return 255 * (WHITE + (1 - WHITE) * Math.min(Math.max(Math.abs(sixth - 3) - 1, 0), 1));
  });
}

/** The end of a scale: a round number that most values stay below, and that changes seldom. */
export class RoundScale {
  constructor(least) {
    Object.assign(this, { least, end: 0, low: 0, typical: 0 });
  }

  update(values) {
    const sorted = Float64Array.from(values).sort(), n = sorted.length;
    this.typical += LAZINESS * ((n ? sorted[Math.floor(0.9 * (n - 1))] : 0) - this.typical);
    const { typical } = this;
    const fitting = roundUp(Math.max(typical, this.least));
    this.low = typical < 0.3 * this.end ? this.low + 1 : 0;
    if (fitting > this.end || this.low > PATIENCE) Object.assign(this, { end: fitting, low: 0 });
    return this.end;
  }
}

function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return STEPS.map((k) => Number((k * power).toPrecision(6))).find((end) => end >= value * (1 - 1e-9));
}

/** Draw a picture, and arrows as long as the scale says; returns the scale's end. */
export function drawPicture(canvas, picture, { arrows }, side, scale) {
  const context = canvas.getContext("2d"), { columns, rows, x, y, confidence } = arrows;
  if (canvas.width !== picture.width || canvas.height !== picture.height) {
    canvas.width = picture.width;
    canvas.height = picture.height;
  }
  context.drawImage(picture, 0, 0);
  const firm = [...x.keys()].filter((k) => confidence[k] > FIRM);
  const end = scale.update(firm.map((k) => Math.hypot(x[k], y[k])));
  const unit = LONGEST * side / end, shafts = new Path2D();
  for (const k of firm) {
    const speed = Math.hypot(x[k], y[k]);
    if (speed < SLOWEST * end) continue;
    const shorten = Math.min(1, 1.25 * end / speed) * unit;
    arrow(shafts, (k % columns + 0.5) * side, (Math.floor(k / columns) + 0.5) * side, x[k] * shorten, y[k] * shorten, side / 4);
  }
  context.lineCap = context.lineJoin = "round";
  for (const [width, colour] of [[side / 6, "#000"], [side / 12, "#ffe14d"]]) {
    context.lineWidth = width;
    context.strokeStyle = colour;
    context.stroke(shafts);
  }
  return end;
}

function arrow(path, x, y, u, v, head) {
  const length = Math.hypot(u, v), size = Math.min(head, 0.6 * length), [a, b] = [u / length, v / length];
  const [tipX, tipY] = [x + u / 2, y + v / 2];
  path.moveTo(x - u / 2, y - v / 2);
  path.lineTo(tipX, tipY);
  path.moveTo(tipX - size * (a - 0.6 * b), tipY - size * (b + 0.6 * a));
  path.lineTo(tipX, tipY);
  path.lineTo(tipX - size * (a + 0.6 * b), tipY - size * (b - 0.6 * a));
}

/** Draw the wheel: a rim of hues, how strongly each detector answers, and the motion of the whole picture. */
export function drawWheel(canvas, angles, seen, strengths, speeds) {
  const context = canvas.getContext("2d"), middle = canvas.width / 2, inner = INNER * middle;
  const ink = getComputedStyle(canvas).color, paper = getComputedStyle(document.body).backgroundColor;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.drawImage(rim(canvas.width, ink), 0, 0);
  if (!seen) return;
  context.translate(middle, middle);
  const sizes = Array.from(seen.responses, Math.sqrt), end = strengths.update([Math.max(...sizes)]);
  angles.forEach((angle, k) => petal(context, angle, Math.min(sizes[k] / end, 1) * inner, css(hue(angle)), ink));
  const { x, y } = seen.motion, speed = Math.hypot(x, y);
  if (!(speed > 0)) return;
  const length = Math.min(speed / speeds.update([speed]), 1) * inner, path = new Path2D();
  arrow(path, x / speed * length / 2, y / speed * length / 2, x / speed * length, y / speed * length, 0.12 * middle);
  context.lineCap = context.lineJoin = "round";
  for (const [width, colour] of [[6, paper], [3.5, ink]]) {
    context.lineWidth = width;
    context.strokeStyle = colour;
    context.stroke(path);
  }
}

const rims = new Map();

/** Return the rim of the wheel, drawn once for each colour of its line. */
function rim(side, ink) {
  if (rims.has(ink)) return rims.get(ink);
  const canvas = Object.assign(document.createElement("canvas"), { width: side, height: side }), middle = side / 2;
  const context = canvas.getContext("2d");
  context.translate(middle, middle);
  for (let angle = 0; angle < 360; angle += 3) {
    const from = -(angle + 3.2) * Math.PI / 180, to = -angle * Math.PI / 180;
    context.fillStyle = css(hue(angle + 1.5));
    context.beginPath();
    context.arc(0, 0, 0.94 * middle, from, to);
    context.arc(0, 0, (INNER + 0.04) * middle, to, from, true);
    context.fill();
  }
  context.strokeStyle = ink;
  context.globalAlpha = 0.35;
  context.beginPath();
  context.arc(0, 0, INNER * middle, 0, 2 * Math.PI);
  context.stroke();
  rims.set(ink, canvas);
  return canvas;
}

function petal(context, angle, length, fill, ink) {
  const way = -angle * Math.PI / 180, spread = 0.28;
  context.fillStyle = fill;
  context.beginPath();
  context.moveTo(0, 0);
  context.arc(0, 0, length, way - spread, way + spread);
  context.closePath();
  context.fill();
  context.lineWidth = 1;
  context.strokeStyle = ink;
  context.stroke();
}

export function css(colour) {
  return `rgb(${colour.map(Math.round).join(" ")})`;
}

/* All that the page knows of its frames, without a page: what flymotion/browser/same_numbers.py says of the same ones. */

import { Detectors } from "./detectors.js";
import { blur, halve, reduce } from "./frames.js";
import { globalMotion } from "./global_motion.js";
import { Lenses } from "./lenses.js";
import { Slopes } from "./slopes.js";

/** The state between frames of one size. */
export class Seeing {
  /**
   * @param {object} numbers  what numbers_of in flymotion/browser/page_numbers.py returns
   * @param {number} width, height  of the pictures [pixels]
   * @param {number} scale  side of the areas that are averaged first [pixels]
   * @param {Function} Way  Detectors, or GraphicsDetectors
   */
  constructor(numbers, width, height, scale, Way = Detectors) {
    Object.assign(this, { numbers, sourceWidth: width, sourceHeight: height, scale });
    this.width = Math.floor(width / scale);
    this.height = Math.floor(height / scale);
    this.frames = [0, 1].map(() => new Float32Array(this.width * this.height));
    this.columns = this.width >> 1;
    this.rows = this.height >> 1;
    this.halves = [0, 1].map(() => new Float32Array(this.columns * this.rows));
    this.ready = false;
    this.detectors = new Way(numbers.operators, this.columns, this.rows);
    this.slopes = new Slopes(numbers.slopes, this.width, this.height);
    this.lenses = new Lenses(numbers.lenses, this.width, this.height, 1);
    this.cells = new Lenses(numbers.lenses, this.width, this.height, 2);
  }

  /** Take the next picture, four bytes a pixel; returns null for the first. */
  step(rgba) {
    const { numbers, frames, halves, columns, rows, ready } = this;
    frames.reverse();
    halves.reverse();
    reduce(rgba, this.sourceWidth, this.sourceHeight, this.scale, frames[1]);
    halve(frames[1], this.width, this.height, halves[1]);
    if (numbers.optics.length) blur(halves[1], columns, rows, numbers.optics);
    this.ready = true;
    return ready ? this.pair(...frames) : null;
  }

  /** Forget the last picture: the next one begins another clip. */
  cut() {
    this.ready = false;
  }

  pair(before, after) {
    const { numbers, detectors, halves, scale } = this;
    detectors.respond(...halves);
    const directions = detectors.total.map(rectified), { t4, t5 } = this.cellTypes();
    const field = this.slopes.between(before, after), motion = globalMotion(field, numbers.frame_motion);
    return {
      frame: halves[1].slice(), directions, opponent: opponent(detectors.total, numbers.axes), t4, t5,
      responses: directions.map(mean), x: scaled(field.x, scale), y: scaled(field.y, scale),
      confidence: scaled(field.confidence, 1),
      motion: { ...motion, x: motion.x * scale, y: motion.y * scale },
      arrows: arrows(field, numbers.cell, scale),
      lenses: this.lenses.see(after), lensDirections: directions.map((plane) => this.cells.see(plane)),
    };
  }

  /** Sum the responses to what became brighter, and to what darker, of the detectors of each subtype. */
  cellTypes() {
    const { total, on } = this.detectors, { subtypes } = this.numbers, n = total[0].length;
    const planes = () => Array.from({ length: 4 }, () => new Float32Array(n)), t4 = planes(), t5 = planes();
    subtypes.forEach((subtype, k) => {
      const bright = t4[subtype], dark = t5[subtype], all = total[k], some = on[k];
      for (let i = 0; i < n; i++) {
        bright[i] += Math.max(some[i], 0);
        dark[i] += Math.max(all[i] - some[i], 0);
      }
    });
    return { t4, t5 };
  }
}

function rectified(plane) {
  const positive = new Float32Array(plane.length);
  for (let i = 0; i < plane.length; i++) positive[i] = plane[i] > 0 ? plane[i] : 0;
  return positive;
}

function scaled(plane, by) {
  const times = new Float32Array(plane.length);
  for (let i = 0; i < plane.length; i++) times[i] = plane[i] * by;
  return times;
}

function mean(plane) {
  let sum = 0;
  for (let i = 0; i < plane.length; i++) sum += plane[i];
  return sum / plane.length;
}

/** Add up responses as vectors along their axes: (x right, y down). */
function opponent(planes, axes) {
  return axes.map((weights) => {
    const sum = new Float32Array(planes[0].length);
    planes.forEach((plane, k) => {
      for (let i = 0; i < sum.length; i++) sum[i] += weights[k] * plane[i];
    });
    return sum;
  });
}

/** Return the mean velocity of square cells, weighted with confidence, and their mean confidence. */
function arrows({ x, y, confidence, width, height }, side, scale) {
  const columns = Math.floor(width / side), rows = Math.floor(height / side), n = columns * rows;
  const cells = { columns, rows, x: new Float32Array(n), y: new Float32Array(n), confidence: new Float32Array(n) };
  for (let k = 0; k < n; k++) {
    let u = 0, v = 0, sum = 0;
    for (let i = 0; i < side; i++) {
      for (let j = 0; j < side; j++) {
        const at = (Math.floor(k / columns) * side + i) * width + k % columns * side + j;
        u += confidence[at] * x[at];
        v += confidence[at] * y[at];
        sum += confidence[at];
      }
    }
    cells.x[k] = scale * u / Math.max(sum, 1e-9);
    cells.y[k] = scale * v / Math.max(sum, 1e-9);
    cells.confidence[k] = sum / side ** 2;
  }
  return cells;
}

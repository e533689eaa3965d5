/* The worker: pictures come in, what is seen goes out, so that the page stays free. */

import { Detectors } from "./detectors.js";
import { GraphicsDetectors } from "./graphics.js";
import { Seeing } from "./seeing.js";

const TRIALS = 5;
const GOLDEN = 0.6180339887498949;
const ALIKE = 1e-5; // difference, relative to the largest response, up to which two ways are one

let numbers, seeing;

self.onmessage = ({ data }) => {
  if (data.numbers) numbers = data.numbers;
  else if (data.begin) self.postMessage({ begun: begin(data.begin) });
  else if (data.cut) seeing?.cut();
  else take(new Uint8ClampedArray(data.picture), data.seconds);
};

/** Begin with pictures of a size, in the way that is faster here; say which, and how long each takes. */
function begin({ width, height, scale }) {
  const ways = { processor: Detectors, graphics: GraphicsDetectors }, times = {};
  let best, expected;
  for (const [name, Way] of Object.entries(ways)) {
    times[name] = null;
    try {
      const one = new Seeing(numbers, width, height, scale, Way), time = timed(one);
      expected ??= one.detectors.total;
      if (!(apart(one.detectors.total, expected) <= ALIKE)) continue; // a graphics card that rounds otherwise, or fails
      times[name] = time;
      if (!best || time < times[best.name]) best = { name, one };
    } catch (error) {
      // that way is not to be had here
    }
  }
  seeing = best.one;
  const { columns, rows } = seeing;
  return { times, width: seeing.width, height: seeing.height, columns, rows };
}

/** Return the median time of a pair of frames of noise, the same for every way, once programs are compiled [ms]. */
function timed({ detectors, halves }) {
  const times = [];
  halves.forEach((frame, which) => {
    for (let k = 0; k < frame.length; k++) frame[k] = 255 * ((k * GOLDEN * (which + 1)) % 1);
  });
  for (let k = 0; k <= TRIALS; k++) {
    const begun = performance.now();
    detectors.respond(...halves);
    times.push(performance.now() - begun);
  }
  return times.slice(1).sort((a, b) => a - b)[TRIALS >> 1];
}

/** Return how far apart planes are, relative to the largest number; NaN where one is. */
function apart(some, others) {
  let most = 0, largest = 0;
  some.forEach((plane, k) => plane.forEach((value, i) => {
    most = Math.max(most, Math.abs(value - others[k][i]));
    largest = Math.max(largest, Math.abs(others[k][i]));
  }));
  return most / (largest || 1);
}

function take(picture, seconds) {
  const begun = performance.now();
  let seen;
  try {
    seen = seeing.step(picture);
  } catch (error) { // the graphics card was taken away
    seeing = new Seeing(numbers, seeing.sourceWidth, seeing.sourceHeight, seeing.scale);
    seen = seeing.step(picture);
  }
  const transferred = seen ? [seen.frame, ...seen.directions, ...seen.t4, ...seen.t5].map((plane) => plane.buffer) : [];
  self.postMessage({ seen, seconds, time: performance.now() - begun }, transferred);
}

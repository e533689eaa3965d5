/* The worker: pictures come in, what is seen goes out, so that the page stays free. */

import { Detectors } from "./detectors.js";
import { GraphicsDetectors } from "./graphics.js";
import { Seeing } from "./seeing.js";

const TRIALS = 5;

let numbers, seeing;

self.onmessage = ({ data }) => {
  if (data.numbers) numbers = data.numbers;
  else if (data.begin) self.postMessage({ begun: begin(data.begin) });
  else if (data.cut) seeing?.cut();
  else take(new Uint8ClampedArray(data.picture), data.seconds);
};

/** Begin with pictures of a size, in the way that is faster here; say which, and how long each takes. */
function begin({ width, height, scale }) {
  const ways = [["processor", Detectors], ["graphics", GraphicsDetectors]], times = {};
  let best;
  for (const [name, Way] of ways) {
    try {
      const one = new Seeing(numbers, width, height, scale, Way), time = times[name] = timed(one.detectors, one.halves);
      if (!best || time < times[best.name]) best = { name, one };
    } catch (error) {
      times[name] = null; // that way is not to be had here
    }
  }
  seeing = best.one;
  return { way: best.name, times, width: seeing.width, height: seeing.height,
    columns: seeing.columns, rows: seeing.rows };
}

/** Return the median time of a pair of frames of noise, once the program is compiled [ms]. */
function timed(detectors, frames) {
  const times = [];
  for (const frame of frames) for (let k = 0; k < frame.length; k++) frame[k] = 255 * Math.random();
  for (let k = 0; k <= TRIALS; k++) {
    const begun = performance.now();
    detectors.respond(frames[0], frames[1]);
    times.push(performance.now() - begun);
  }
  return times.slice(1).sort((a, b) => a - b)[TRIALS >> 1];
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

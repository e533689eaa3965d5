/* Frames: luminance of what the browser decoded, reduced, and blurred as a model saw what it learned from. */

/**
 * Average the luminance of areas of `scale` x `scale` pixels; rows and columns left over at the end are dropped.
 *
 * @param {Uint8ClampedArray} rgba  of a picture, row by row
 * @param {Float32Array} out  one number an area [grey levels]
 */
export function reduce(rgba, width, height, scale, out) {
  const columns = Math.floor(width / scale), rows = Math.floor(height / scale);
  const share = 1 / (scale * scale);
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      let red = 0, green = 0, blue = 0;
      for (let i = 0; i < scale; i++) {
        let at = 4 * ((y * scale + i) * width + x * scale);
        for (let j = 0; j < scale; j++, at += 4) {
          red += rgba[at];
          green += rgba[at + 1];
          blue += rgba[at + 2];
        }
      }
      out[y * columns + x] = (0.299 * red + 0.587 * green + 0.114 * blue) * share;
    }
  }
}

/** Average areas of 2 x 2 numbers of a frame. */
export function halve(frame, width, height, out) {
  const columns = width >> 1, rows = height >> 1;
  for (let y = 0; y < rows; y++) {
    for (let x = 0, at = 2 * y * width; x < columns; x++, at += 2) {
      out[y * columns + x] = (frame[at] + frame[at + 1] + frame[at + width] + frame[at + width + 1]) / 4;
    }
  }
}

/** Blur a frame, along both axes, by weights that are even about their middle; beyond its border is its mirror image. */
export function blur(frame, width, height, weights) {
  const r = (weights.length - 1) / 2, between = new Float32Array(frame.length);
  const mirrored = (k, n) => (k < 0 ? -1 - k : k >= n ? 2 * n - 1 - k : k);
  const along = (from, to, n, step, others, stride) => {
    for (let o = 0; o < others; o++) {
      for (let k = 0; k < n; k++) {
        let sum = 0;
        for (let t = -r; t <= r; t++) sum += weights[t + r] * from[o * stride + mirrored(k + t, n) * step];
        to[o * stride + k * step] = sum;
      }
    }
  };
  along(frame, between, height, width, width, 1);
  along(between, frame, width, 1, height, width);
}

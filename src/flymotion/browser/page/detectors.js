/* Learned responses on the processor: operators as lines of cosine modes, on typed arrays. */

/**
 * Responses of learned detectors at every pixel whose patch lies in the frame, 0 elsewhere.
 *
 * An operator is a sum of two parts. In that along x, columns of the patch are first reduced to their cosine modes, and
 * a matrix stands between the change and the intensity of each mode, or of two; that along y is the same of the frame
 * turned over its diagonal.
 */
export class Detectors {
  /** @param {{size: number, count: number, modes: number[][], axes: object[][]}} operators */
  constructor(operators, width, height) {
    Object.assign(this, { operators, width, height });
    const n = width * height, planes = () => Array.from({ length: operators.count }, () => new Float32Array(n));
    /** Signed responses to all of the change, a plane each, and to what of it became brighter. */
    this.total = planes();
    this.on = planes();
    this.signals = new Float32Array(n);
    this.upright = { change: new Float32Array(n), middle: new Float32Array(n) };
    this.turned = { change: new Float32Array(n), middle: new Float32Array(n) };
    this.modes = operators.modes.map((mode) => Float32Array.from(mode));
    this.axes = operators.axes.map((parts) => parts.map(({ weights, lines }) => ({
      weights, lines: lines.map(([a, b, matrix]) => [a, b, Float32Array.from(matrix)]),
      total: new Float32Array(n), on: new Float32Array(n),
    })));
  }

  respond(before, after) {
    const { width, height, upright, turned } = this;
    for (let k = 0; k < before.length; k++) {
      upright.change[k] = after[k] - before[k];
      upright.middle[k] = (after[k] + before[k]) / 2;
    }
    turn(upright.change, turned.change, width, height);
    turn(upright.middle, turned.middle, width, height);
    for (const plane of [...this.total, ...this.on]) plane.fill(0);
    for (const part of this.axes[0]) {
      this.along(upright, width, height, part);
      add(part.weights, part.total, this.total);
      add(part.weights, part.on, this.on);
    }
    for (const part of this.axes[1]) {
      this.along(turned, height, width, part);
      for (const [from, to] of [[part.total, this.total], [part.on, this.on]]) {
        turn(from, this.signals, height, width);
        add(part.weights, this.signals, to);
      }
    }
  }

  /** Respond along the rows of frames. */
  along({ change, middle }, width, height, { lines, total, on }) {
    const { size } = this.operators, h = size >> 1, count = width - size + 1;
    const rows = () => this.modes.map(() => new Float32Array(width)), d = rows(), p = rows(), m = rows();
    total.fill(0);
    on.fill(0);
    for (let y = h; y + size - h <= height; y++) {
      this.modes.forEach((mode, a) => reduceRows(mode, change, middle, (y - h) * width, d[a], p[a], m[a]));
      for (const [a, b, matrix] of lines) products(matrix, size, d[a], p[a], m[b], total, on, y * width + h, count);
    }
  }
}

/** Reduce rows, from `at` on, to one of their cosine modes: all of the change, what became brighter, the intensity. */
function reduceRows(mode, change, middle, at, d, p, m) {
  const width = d.length;
  d.fill(0);
  p.fill(0);
  m.fill(0);
  for (let i = 0; i < mode.length; i++, at += width) {
    const weight = mode[i];
    for (let x = 0; x < width; x++) {
      const dx = change[at + x];
      d[x] += weight * dx;
      p[x] += weight * (dx > 0 ? dx : 0);
      m[x] += weight * middle[at + x];
    }
  }
}

/** Add, to `count` responses from `at` on, those of one mode: change times matrix times intensity. */
function products(matrix, size, d, p, m, total, on, at, count) {
  for (let x = 0; x < count; x++) {
    let all = 0, brighter = 0;
    for (let i = 0, w = 0; i < size; i++) {
      let v = 0;
      for (let j = 0; j < size; j++, w++) v += matrix[w] * m[x + j];
      all += d[x + i] * v;
      brighter += p[x + i] * v;
    }
    total[at + x] += all;
    on[at + x] += brighter;
  }
}

function add(weights, from, to) {
  weights.forEach((weight, k) => {
    const plane = to[k];
    for (let i = 0; i < plane.length; i++) plane[i] += weight * from[i];
  });
}

/** Turn a frame over its diagonal. */
function turn(from, to, width, height) {
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) to[x * height + y] = from[y * width + x];
}

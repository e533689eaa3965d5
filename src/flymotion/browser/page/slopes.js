/* Velocity from the slopes of a few scales: what flymotion/browser/slopes.py says, step by step, on typed arrays. */

import { halve } from "./frames.js";

/** The estimator for frames of one size. `constants` are those of slopes.py. */
export class Slopes {
  constructor(constants, width, height) {
    this.constants = constants;
    this.scales = [new Scale(width, height)];
    while (this.scales.length < constants.scales && Math.min(width, height) >= 2 * constants.least_side) {
      width >>= 1;
      height >>= 1;
      this.scales.push(new Scale(width, height));
    }
  }

  /** Return the finest scale, with `x`, `y` and `confidence` of the velocity of what is at each pixel of `before`. */
  between(before, after) {
    const [finest] = this.scales;
    finest.before.set(before);
    finest.after.set(after);
    for (let k = 1; k < this.scales.length; k++) {
      const finer = this.scales[k - 1];
      halve(finer.before, finer.width, finer.height, this.scales[k].before);
      halve(finer.after, finer.width, finer.height, this.scales[k].after);
    }
    for (let k = this.scales.length - 1; k >= 0; k--) {
      this.scales[k].begin(this.scales[k + 1]);
      this.scales[k].estimate(this.constants);
    }
    return finest;
  }
}

const MOMENTS = 10;

class Scale {
  constructor(width, height) {
    Object.assign(this, { width, height });
    for (const name of ["before", "after", "x", "y", "confidence", "middle", "change", "slopeX", "slopeY", "inside",
      "smooth", "meanX", "meanY", "weight"]) this[name] = new Float64Array(width * height);
    this.columns = new Float64Array(MOMENTS * width);
    this.windows = new Float64Array(MOMENTS * width);
  }

  /** Begin with twice what the coarser scale says, whose pixels lie between. */
  begin(coarser) {
    const { width, height } = this;
    if (!coarser) {
      this.x.fill(0);
      this.y.fill(0);
      return;
    }
    const across = places(width, coarser.width), down = places(height, coarser.height), stride = coarser.width;
    for (const name of ["x", "y"]) {
      const from = coarser[name], to = this[name];
      for (let i = 0; i < height; i++) {
        const above = down.first[i] * stride, s = down.share[i];
        for (let j = 0; j < width; j++) {
          const a = above + across.first[j], t = across.share[j];
          const left = (1 - s) * from[a] + s * from[a + stride];
          const right = (1 - s) * from[a + 1] + s * from[a + stride + 1];
          to[i * width + j] = 2 * ((1 - t) * left + t * right);
        }
      }
    }
  }

  estimate(constants) {
    this.carry();
    smoothDown(this.change, this.smooth, this.width, this.height);
    smoothAlong(this.smooth, this.change, this.width, this.height);
    this.slopes();
    this.solve(constants);
    this.agree();
  }

  /** Carry the frame after back by the velocity so far. */
  carry() {
    const { width, height, before, after, x, y, middle, change, inside } = this;
    for (let i = 0, k = 0; i < height; i++) {
      for (let j = 0; j < width; j++, k++) {
        const u = j + x[k], v = i + y[k];
        inside[k] = u >= 0 && u <= width - 1 && v >= 0 && v <= height - 1 ? 1 : 0;
        const p = Math.min(Math.max(u, 0), width - 1), q = Math.min(Math.max(v, 0), height - 1);
        const column = Math.min(Math.floor(p), width - 2), row = Math.min(Math.floor(q), height - 2);
        const t = p - column, s = q - row, at = row * width + column;
        const above = (1 - t) * after[at] + t * after[at + 1];
        const below = (1 - t) * after[at + width] + t * after[at + width + 1];
        const carried = (1 - s) * above + s * below;
        middle[k] = (before[k] + carried) / 2;
        change[k] = carried - before[k];
      }
    }
  }

  /** Take the slopes of the mean of both frames; what lies outside a frame has none, and no change. */
  slopes() {
    const { width, height, middle, change, inside, smooth, slopeX, slopeY } = this;
    smoothDown(middle, smooth, width, height);
    for (let i = 0, k = 0; i < height; i++) {
      for (let j = 0; j < width; j++, k++) {
        slopeX[k] = inside[k] * (smooth[k + (j < width - 1 ? 1 : 0)] - smooth[k - (j > 0 ? 1 : 0)]) / 2;
      }
    }
    smoothAlong(middle, smooth, width, height);
    for (let i = 0, k = 0; i < height; i++) {
      const below = i < height - 1 ? width : 0, above = i > 0 ? width : 0;
      for (let j = 0; j < width; j++, k++) slopeY[k] = inside[k] * (smooth[k + below] - smooth[k - above]) / 2;
    }
    for (let k = 0; k < middle.length; k++) {
      middle[k] *= inside[k];
      change[k] *= inside[k];
    }
  }

  /** Solve for what is left of the velocity, window by window. */
  solve(constants) {
    const { width, height, columns, windows, slopeX, slopeY } = this, r = constants.radius;
    let power = 0;
    for (let k = 0; k < slopeX.length; k++) power += slopeX[k] * slopeX[k] + slopeY[k] * slopeY[k];
    const least = constants.ridge * power / slopeX.length + constants.noise ** 2;
    const ridge = (2 * r + 1) ** 2 * least;
    columns.fill(0);
    for (let i = 0; i < Math.min(r, height); i++) this.count(i, 1);
    for (let i = 0; i < height; i++) {
      if (i + r < height) this.count(i + r, 1);
      if (i - r - 1 >= 0) this.count(i - r - 1, -1);
      for (let m = 0; m < MOMENTS; m++) slide(columns, windows, m * width, width, r);
      this.row(i, ridge, constants);
    }
  }

  /** Add a row's products to the sums of its columns, or take them away. */
  count(i, sign) {
    const { width: n, columns: sums, slopeX, slopeY, change, middle } = this;
    for (let j = 0, k = i * n; j < n; j++, k++) {
      const x = slopeX[k], y = slopeY[k], t = change[k], m = middle[k], sx = sign * x, sy = sign * y, st = sign * t;
      sums[j] += sx * x;
      sums[n + j] += sx * y;
      sums[2 * n + j] += sy * y;
      sums[3 * n + j] += sx * t;
      sums[4 * n + j] += sy * t;
      sums[5 * n + j] += st * t;
      sums[6 * n + j] += sx * m;
      sums[7 * n + j] += sy * m;
      sums[8 * n + j] += st * m;
      sums[9 * n + j] += sign * m * m;
    }
  }

  row(i, ridge, { farthest, half }) {
    const { width: n, windows: s, x, y, confidence } = this;
    for (let j = 0, k = i * n; j < n; j++, k++) {
      const xm = s[6 * n + j], ym = s[7 * n + j], tm = s[8 * n + j], light = 1 / Math.max(s[9 * n + j], 1e-9);
      const xx = s[j] - xm * xm * light, xy = s[n + j] - xm * ym * light, yy = s[2 * n + j] - ym * ym * light;
      const xt = s[3 * n + j] - xm * tm * light, yt = s[4 * n + j] - ym * tm * light;
      const tt = s[5 * n + j] - tm * tm * light;
      const determinant = 1 / ((xx + ridge) * (yy + ridge) - xy * xy);
      const dx = clipped((xy * yt - (yy + ridge) * xt) * determinant, farthest);
      const dy = clipped((xy * xt - (xx + ridge) * yt) * determinant, farthest);
      const left = Math.max(tt + 2 * (dx * xt + dy * yt) + dx * dx * xx + 2 * dx * dy * xy + dy * dy * yy, 0);
      const difference = xx - yy;
      const least = Math.max((xx + yy - Math.sqrt(difference * difference + 4 * xy * xy)) / 2, 0);
      const energy = half * half * (xx + yy) / 2;
      confidence[k] = least / (least + ridge) * (energy / (energy + left + 1e-9));
      x[k] += dx;
      y[k] += dy;
    }
  }

  /** Take the mean of the nine about each, weighted with confidence. */
  agree() {
    const { width, height, x, y, confidence, meanX, meanY, weight } = this;
    for (let k = 0; k < x.length; k++) {
      weight[k] = confidence[k] + 1e-6;
      x[k] *= weight[k];
      y[k] *= weight[k];
    }
    for (let i = 0, k = 0; i < height; i++) {
      for (let j = 0; j < width; j++, k++) {
        let u = 0, v = 0, w = 0;
        for (let p = Math.max(i - 1, 0); p <= Math.min(i + 1, height - 1); p++) {
          for (let q = Math.max(j - 1, 0); q <= Math.min(j + 1, width - 1); q++) {
            const at = p * width + q;
            u += x[at];
            v += y[at];
            w += weight[at];
          }
        }
        meanX[k] = u / w;
        meanY[k] = v / w;
      }
    }
    x.set(meanX);
    y.set(meanY);
  }
}

/** Say which of `few` pixels lie before each of about twice as many, and the share of the next one. */
function places(many, few) {
  const first = new Int32Array(many), share = new Float64Array(many);
  for (let k = 0; k < many; k++) {
    const at = Math.min(Math.max((k - 0.5) / 2, 0), few - 1);
    first[k] = Math.min(Math.floor(at), few - 2);
    share[k] = at - first[k];
  }
  return { first, share };
}

function clipped(value, limit) {
  return Math.min(Math.max(value, -limit), limit);
}

/** Sum `n` numbers from `at` on over windows of `2 r + 1`. */
function slide(from, to, at, n, r) {
  let sum = 0;
  for (let j = 0; j < Math.min(r, n); j++) sum += from[at + j];
  for (let j = 0; j < n; j++) {
    if (j + r < n) sum += from[at + j + r];
    if (j - r - 1 >= 0) sum -= from[at + j - r - 1];
    to[at + j] = sum;
  }
}

function smoothDown(from, to, width, height) {
  for (let i = 0, k = 0; i < height; i++) {
    const above = i > 0 ? width : 0, below = i < height - 1 ? width : 0;
    for (let j = 0; j < width; j++, k++) to[k] = (3 * (from[k - above] + from[k + below]) + 10 * from[k]) / 16;
  }
}

function smoothAlong(from, to, width, height) {
  for (let i = 0, k = 0; i < height; i++) {
    for (let j = 0; j < width; j++, k++) {
      const left = j > 0 ? 1 : 0, right = j < width - 1 ? 1 : 0;
      to[k] = (3 * (from[k - left] + from[k + right]) + 10 * from[k]) / 16;
    }
  }
}

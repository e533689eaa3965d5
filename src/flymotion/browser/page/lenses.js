/* What the lenses of a hexagonal eye see: what flymotion/browser/lenses_of_frames.py says, on typed arrays. */

/** An eye over frames of one size, `columns` columns of lenses whose neighbours are straight above and below. */
export class Lenses {
  /** @param {number} spacing  side of the areas that it looks at [pixels]: 2 for responses */
  constructor({ columns, sigma }, width, height, spacing) {
    const across = width / columns, apart = this.apart = 2 * across / Math.sqrt(3);
    const rows = Math.floor(height / apart - 0.5);
    Object.assign(this, { columns, rows, across });
    this.width = Math.floor(width / spacing);
    this.height = Math.floor(height / spacing);
    this.horizontal = [];
    this.vertical = [];
    for (let c = 0; c < columns; c++) {
      this.horizontal.push(acceptance((c + 0.5) * across - 0.5, sigma * apart, this.width, spacing));
    }
    for (let r = 0; r < 2 * rows; r++) {
      this.vertical.push(acceptance((r + 1) * apart / 2 - 0.5, sigma * apart, this.height, spacing));
    }
    this.between = new Float64Array(this.height);
  }

  /** Return what each lens sees of a plane, column by column from above. */
  see(plane) {
    const { columns, rows, width, height, between } = this, seen = new Float32Array(columns * rows);
    for (let c = 0; c < columns; c++) {
      const { first, weights } = this.horizontal[c];
      for (let y = 0; y < height; y++) {
        let sum = 0;
        for (let k = 0, at = y * width + first; k < weights.length; k++, at++) sum += weights[k] * plane[at];
        between[y] = sum;
      }
      for (let r = 0; r < rows; r++) {
        const lens = this.vertical[2 * r + (c & 1)];
        let sum = 0;
        for (let k = 0; k < lens.weights.length; k++) sum += lens.weights[k] * between[lens.first + k];
        seen[c * rows + r] = sum;
      }
    }
    return seen;
  }
}

/** Return the Gaussian weights, whose sum is 1, of areas about a place, and the first one's index. */
function acceptance(pixel, sigma, n, spacing) {
  const place = pixel - (spacing - 1) / 2;
  const first = Math.max(Math.ceil((place - 6 * sigma) / spacing), 0);
  const last = Math.min(Math.floor((place + 6 * sigma) / spacing), n - 1);
  const weights = Float64Array.from({ length: last - first + 1 }, (_, k) => (
    Math.exp(-0.5 * ((spacing * (first + k) - place) / sigma) ** 2)));
  const sum = weights.reduce((a, b) => a + b, 0);
  return { first, weights: weights.map((weight) => weight / sum) };
}

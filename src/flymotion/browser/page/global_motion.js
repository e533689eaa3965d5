/* How the whole frame moves: what flymotion.field.frame_motion.global_motion says of a velocity and its confidence. */

const NUMBERS = 6;

/**
 * Fit the motion of the whole frame: what most of its texture agrees with.
 *
 * @param {{x: Float64Array, y: Float64Array, confidence: Float64Array, width: number, height: number}} field
 * @param {object} constants  those of frame_motion.py, by their names
 * @returns {{x: number, y: number, rotation: number, looming: number, support: number}} NaN where the frame does not
 *   tell [pixels, deg, 1 per frame]
 */
export function globalMotion(field, constants) {
  const unknown = { x: NaN, y: NaN, rotation: NaN, looming: NaN, support: 0 };
  const seen = look(field, constants);
  if (seen.texture < constants.LEAST_SUPPORT) return unknown;
  const { model, agreeing } = fit(seen, bestStart(seen));
  let votes = 0, near = 0, total = 0, power = 0, x = 0, y = 0, u = 0, v = 0;
  for (let k = 0; k < seen.n; k++) {
    votes += seen.votes[k];
    if (square(seen, model, k) < 4 * seen.near ** 2) near += seen.votes[k];
    const weight = agreeing[k];
    total += weight;
    power += weight * (seen.x[k] ** 2 + seen.y[k] ** 2);
    x += weight * seen.x[k];
    y += weight * seen.y[k];
    u += weight * seen.u[k];
    v += weight * seen.v[k];
  }
  const support = near / votes;
  if (support * seen.texture < constants.LEAST_SUPPORT || !(total > 0)) return unknown;
  const spread = power / total - (x / total) ** 2 - (y / total) ** 2;
  if (spread < constants.LEAST_SPREAD ** 2) return { ...unknown, x: u / total, y: v / total, support };
  const half = Math.hypot(field.width, field.height) / 2, a = [model[2] / half, model[3] / half];
  const [re, im] = divided([2 + a[0], a[1]], [2 - a[0], -a[1]]);
  return {
    x: model[0], y: model[1], rotation: -Math.atan2(im, re) * 180 / Math.PI, looming: Math.hypot(re, im) - 1, support,
  };
}

/** Say what a field says at n places: midway between both frames, from the centre [half the frame's diagonal]. */
function look({ x: xs, y: ys, confidence, width, height }, constants) {
  const step = Math.max(1, evenRound(Math.sqrt(width * height / constants.N_SAMPLES))), first = step >> 1;
  const rows = Math.ceil((height - first) / step), columns = Math.ceil((width - first) / step), n = rows * columns;
  const array = () => new Float64Array(n), half = Math.hypot(width, height) / 2;
  const seen = { n, rows, columns, x: array(), y: array(), u: array(), v: array(), votes: array(), weights: array(),
    least: constants.ROUNDING, constants };
  let texture = 0;
  for (let k = 0; k < n; k++) {
    const row = first + step * Math.floor(k / columns), column = first + step * (k % columns), at = row * width + column;
    const power = confidence[at] ** 2;
    texture += power;
    seen.u[k] = xs[at];
    seen.v[k] = ys[at];
    seen.votes[k] = power / (power + constants.TEXTURE ** 2);
    seen.weights[k] = Math.sqrt(power);
    seen.x[k] = (column + (1 - width) / 2 + xs[at] / 2) / half;
    seen.y[k] = (row + (1 - height) / 2 + ys[at] / 2) / half;
  }
  seen.texture = texture / n;
  seen.near = Math.hypot(constants.NEAR, constants.ROUGH * roughness(seen));
  return seen;
}

/** Return the noise of velocities, a standard deviation, from second differences, which no similarity has. */
function roughness({ u, v, votes, rows, columns }) {
  const mean = votes.reduce((a, b) => a + b, 0) / votes.length, squares = [];
  for (let i = 0; i < rows; i++) {
    for (let j = 1; j < columns - 1; j++) {
      const k = i * columns + j;
      if (votes[k - 1] < mean || votes[k] < mean || votes[k + 1] < mean) continue;
      squares.push((u[k - 1] - 2 * u[k] + u[k + 1]) ** 2 + (v[k - 1] - 2 * v[k] + v[k + 1]) ** 2);
    }
  }
  if (squares.length < 20) return 0;
  squares.sort((a, b) => a - b);
  return Math.sqrt(squares[squares.length >> 1] / (6 * 2 * Math.LN2));
}

/** Return the motion that has most votes, or rest unless that has clearly more. */
function bestStart(all) {
  const { EVERY, N_SINGLE, REST, WIDENINGS } = all.constants, seen = some(all, EVERY), { near } = seen;
  let models = hypotheses(seen);
  let scores = models.map((model) => score(seen, model));
  const atRest = scores[0], kinds = [[0, 1], [1, 1 + N_SINGLE], [1 + N_SINGLE, models.length]];
  const best = kinds.flatMap(([from, to]) => {
    const kind = [...Array(to - from).keys()].map((k) => k + from);
    return kind.sort((i, j) => scores[j] - scores[i]).slice(0, 2);
  });
  models = best.map((k) => models[k]);
  for (const wider of WIDENINGS) {
    models = models.map((model) => {
      const weights = seen.votes.map((vote, k) => vote * agreement(square(seen, model, k) / (wider * near) ** 2));
      return solved(seen, weights, model, near ** 2);
    });
  }
  scores = models.map((model) => score(seen, model));
  const most = Math.max(...scores);
  return REST * atRest >= most ? models[0] : models[scores.indexOf(most)];
}

function some(seen, every) {
  const few = { ...seen };
  for (const name of ["x", "y", "u", "v", "votes", "weights"]) {
    few[name] = seen[name].filter((_, k) => k % every === every >> 1);
  }
  few.n = few.x.length;
  return few;
}

/** Return motions: rest, those of single places and those of pairs, drawn evenly by their votes. */
function hypotheses({ n, x, y, u, v, votes, constants }) {
  const { N_SINGLE, N_PAIRS, GENERATORS, LEAST_DISTANCE } = constants, upto = new Float64Array(n);
  for (let k = 0, sum = 0; k < n; k++) upto[k] = sum += votes[k];
  const drawn = (k, generator) => Math.min(after(upto, k * generator % 1 * upto[n - 1]), n - 1);
  const models = [new Array(NUMBERS).fill(0)];
  for (let k = 1; k <= N_SINGLE; k++) {
    const i = drawn(k, GENERATORS[0]);
    models.push([u[i], v[i], 0, 0, 0, 0]);
  }
  for (let k = 1; k <= N_PAIRS; k++) {
    const i = drawn(k, GENERATORS[0]), j = drawn(k, GENERATORS[1]), apart = [x[i] - x[j], y[i] - y[j]];
    const far = Math.hypot(...apart) > LEAST_DISTANCE;
    const a = far ? divided([u[i] - u[j], v[i] - v[j]], apart) : [0, 0];
    models.push([u[i] - a[0] * x[i] + a[1] * y[i], v[i] - a[0] * y[i] - a[1] * x[i], a[0], a[1], 0, 0]);
  }
  return models;
}

/** Return how many of rising numbers are not above a value. */
function after(rising, value) {
  let low = 0, high = rising.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Return the motion of least squares of what agrees with a motion, and the weights. */
function fit(seen, model) {
  const { N_TURNS, TOLERANCE } = seen.constants;
  let scale = seen.near ** 2, weights;
  for (let turn = 0; turn < N_TURNS; turn++) {
    let sum = 0, weighted = 0;
    const start = model, size = scale;
    weights = seen.weights.map((weight, k) => {
      const left = square(seen, start, k), counts = weight * agreement(left / size);
      sum += counts;
      weighted += counts * left;
      return counts;
    });
    const variance = weighted / sum + seen.least ** 2;
    scale = TOLERANCE ** 2 * variance;
    model = solved(seen, weights, model, variance);
  }
  return { model, agreeing: weights };
}

/** Return the squared difference of place k from a motion [pixels per frame, squared]. */
function square({ x, y, u, v }, m, k) {
  const perspective = m[4] * x[k] + m[5] * y[k];
  const across = m[0] + m[2] * x[k] - m[3] * y[k] + perspective * x[k] - u[k];
  const down = m[1] + m[2] * y[k] + m[3] * x[k] + perspective * y[k] - v[k];
  return across * across + down * down;
}

function score(seen, model) {
  let sum = 0;
  for (let k = 0; k < seen.n; k++) sum += seen.votes[k] * agreement(square(seen, model, k) / seen.near ** 2);
  return sum;
}

/** Return the weight of a squared difference, in units of that with a quarter: Geman and McClure's. */
function agreement(squared) {
  return 1 / ((squared + 1) * (squared + 1));
}

/** Return a motion of weighted least squares with a ridge: perspective is about as large as translation, or less. */
function solved({ n, x, y, u, v, constants }, weights, model, variance) {
  const normal = Array.from({ length: NUMBERS }, () => new Float64Array(NUMBERS)), right = new Float64Array(NUMBERS);
  let total = 0;
  for (let k = 0; k < n; k++) {
    const across = [1, 0, x[k], -y[k], x[k] * x[k], x[k] * y[k]], down = [0, 1, y[k], x[k], x[k] * y[k], y[k] * y[k]];
    total += weights[k];
    for (let i = 0; i < NUMBERS; i++) {
      const a = weights[k] * across[i], d = weights[k] * down[i];
      right[i] += a * u[k] + d * v[k];
      for (let j = i; j < NUMBERS; j++) normal[i][j] += a * across[j] + d * down[j];
    }
  }
  const held = constants.ALIKE * variance / (model[0] ** 2 + model[1] ** 2 + constants.ROUNDING ** 2);
  for (let i = 0; i < NUMBERS; i++) {
    for (let j = 0; j < i; j++) normal[i][j] = normal[j][i];
    normal[i][i] += 1e-9 * total + (i < 4 ? 0 : held);
  }
  return eliminated(normal, right);
}

/** Solve equations by elimination, the largest of each column first. */
function eliminated(rows, right) {
  const n = right.length;
  for (let c = 0; c < n; c++) {
    let best = c;
    for (let i = c + 1; i < n; i++) if (Math.abs(rows[i][c]) > Math.abs(rows[best][c])) best = i;
    [rows[c], rows[best]] = [rows[best], rows[c]];
    [right[c], right[best]] = [right[best], right[c]];
    for (let i = c + 1; i < n; i++) {
      const times = rows[i][c] / rows[c][c];
      for (let j = c; j < n; j++) rows[i][j] -= times * rows[c][j];
      right[i] -= times * right[c];
    }
  }
  const found = new Array(n).fill(0);
  for (let i = n - 1; i >= 0; i--) {
    let left = right[i];
    for (let j = i + 1; j < n; j++) left -= rows[i][j] * found[j];
    found[i] = left / rows[i][i];
  }
  return found;
}

/** Divide complex numbers. */
function divided([a, b], [c, d]) {
  const power = c * c + d * d;
  return [(a * c + b * d) / power, (b * c - a * d) / power];
}

/** Round halves to even numbers, as Python does. */
function evenRound(value) {
  const floor = Math.floor(value);
  return value - floor === 0.5 ? floor + (floor % 2) : Math.round(value);
}

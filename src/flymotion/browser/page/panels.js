/* Panels of T4 and T5, and the hexagonal eye. */

import { hue, RoundScale } from "./drawing.js";

const SUBTYPES = ["a", "b", "c", "d"];
const SOME = 7; // every so many responses say where their scale ends
const FILLED = 0.96; // width of a hexagon, relative to the distance of two lenses
const POINTERS = { 0: "\u2192 right", 90: "\u2191 up", 180: "\u2190 left", 270: "\u2193 down" };

/** The eight panels: grey where nothing moves, the stronger the response the more of the direction's colour. */
export class Panels {
  constructor(places, preferred, subtypes, floor) {
    this.scale = new RoundScale(2 * Math.sqrt(floor));
    this.canvases = places.map((place, type) => SUBTYPES.map((letter, k) => {
      const figure = document.createElement("figure"), canvas = document.createElement("canvas");
      const caption = document.createElement("figcaption"), name = `T${4 + type}${letter}`;
      caption.textContent = `${name} ${POINTERS[preferred[k]]}${subtypes.includes(k) ? "" : " (none learned)"}`;
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", `Responses of ${caption.textContent}`);
      figure.append(canvas, caption);
      place.append(figure);
      return canvas;
    }));
    this.colours = preferred.map(hue);
  }

  /** Draw responses; returns the end of their scale, the square root of a response. */
  draw(seen, columns, rows) {
    const { frame } = seen;
    const end = this.scale.update([...seen.t4, ...seen.t5].flatMap(sizes));
    [seen.t4, seen.t5].forEach((planes, type) => planes.forEach((plane, k) => {
      const canvas = this.canvases[type][k], colour = this.colours[k];
      const image = new ImageData(columns, rows);
      for (let i = 0, at = 0; i < plane.length; i++, at += 4) {
        const grey = frame[i], opacity = Math.min(Math.sqrt(plane[i]) / end, 1);
        for (let c = 0; c < 3; c++) image.data[at + c] = grey + opacity * (colour[c] - grey);
        image.data[at + 3] = 255;
      }
      if (canvas.width !== columns || canvas.height !== rows) {
        canvas.width = columns;
        canvas.height = rows;
      }
      canvas.getContext("2d").putImageData(image, 0, 0);
    }));
    return end;
  }
}

/** Return the square roots of some responses. */
function sizes(plane) {
  const some = [];
  for (let k = 0; k < plane.length; k += SOME) if (plane[k] > 0) some.push(Math.sqrt(plane[k]));
  return some;
}

/** The eye: a hexagon a lens, as bright as what it sees, in the colour of what its detectors answer. */
export class Eye {
  constructor(canvas, { columns }, angles, floor) {
    const ways = angles.map((angle) => angle * Math.PI / 180);
    Object.assign(this, { canvas, columns, scale: new RoundScale(2 * Math.sqrt(floor)) });
    this.across = ways.map(Math.cos);
    this.up = ways.map(Math.sin);
  }

  /** Draw what lenses see; returns their number. */
  draw({ lenses, lensDirections }) {
    const { canvas } = this;
    if (this.count !== lenses.length) this.layOut(lenses.length);
    const found = Array.from(lenses, (_, k) => this.direction(lensDirections, k));
    const end = this.scale.update(found.map(({ length }) => Math.sqrt(length)));
    const bytes = new Uint8ClampedArray(4 * lenses.length);
    found.forEach(({ angle, length }, k) => {
      const opacity = Math.min(Math.sqrt(length) / end, 1);
      bytes.set([...hue(angle).map((part) => lenses[k] + opacity * (part - lenses[k])), 255], 4 * k);
    });
    const colours = new Uint32Array(bytes.buffer), image = new ImageData(canvas.width, canvas.height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < pixels.length; i++) if (this.lens[i] >= 0) pixels[i] = colours[this.lens[i]];
    canvas.getContext("2d").putImageData(image, 0, 0);
    return lenses.length;
  }

  /** Find each pixel's lens, once: paths of hundreds of hexagons are too slow for every frame. */
  layOut(count) {
    const { canvas, columns } = this, rows = count / columns, across = canvas.width / columns;
    const apart = 2 * across / Math.sqrt(3), [wide, high] = [canvas.width, Math.round((rows + 0.5) * apart)];
    Object.assign(canvas, { height: high });
    this.count = count;
    this.lens = new Int32Array(wide * high).fill(-1);
    for (let k = 0; k < count; k++) {
      const column = Math.floor(k / rows), x = (column + 0.5) * across;
      const y = (k % rows + 0.5 + (column & 1) / 2) * apart;
      for (let i = Math.max(Math.floor(y - apart), 0); i < Math.min(y + apart, high); i++) {
        for (let j = Math.max(Math.floor(x - across), 0); j < Math.min(x + across, wide); j++) {
          if (inHexagon(j + 0.5 - x, i + 0.5 - y, FILLED * apart / 2)) this.lens[i * wide + j] = k;
        }
      }
    }
  }

  direction(planes, k) {
    let x = 0, y = 0;
    planes.forEach((plane, n) => {
      x += this.across[n] * plane[k];
      y += this.up[n] * plane[k];
    });
    return { angle: Math.atan2(y, x) * 180 / Math.PI, length: Math.hypot(x, y) };
  }
}

/** Say whether a point lies in a hexagon about (0, 0) whose sides above and below are level, at a distance. */
function inHexagon(x, y, distance) {
  return Math.max(Math.abs(y), Math.abs(y) / 2 + Math.abs(x) * Math.sqrt(3) / 2) < distance;
}

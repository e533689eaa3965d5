/* Panels of T4 and T5, and the hexagonal eye. */

import { css, hue, RoundScale } from "./drawing.js";

const SUBTYPES = ["a", "b", "c", "d"];
const SOME = 7; // every so many responses say where their scale ends
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
    const { canvas, columns } = this, rows = lenses.length / columns;
    const across = canvas.width / columns, apart = 2 * across / Math.sqrt(3), context = canvas.getContext("2d");
    canvas.height = Math.round((rows + 0.5) * apart);
    const found = Array.from(lenses, (_, k) => this.direction(lensDirections, k));
    const end = this.scale.update(found.map(({ length }) => Math.sqrt(length)));
    found.forEach(({ angle, length }, k) => {
      const column = Math.floor(k / rows), opacity = Math.min(Math.sqrt(length) / end, 1), colour = hue(angle);
      context.fillStyle = css(colour.map((part) => lenses[k] + opacity * (part - lenses[k])));
      hexagon(context, (column + 0.5) * across, (k % rows + 0.5 + (column & 1) / 2) * apart, 0.97 * apart / Math.sqrt(3));
    });
    return lenses.length;
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

function hexagon(context, x, y, radius) {
  context.beginPath();
  for (let k = 0; k < 6; k++) {
    context.lineTo(x + radius * Math.cos(k * Math.PI / 3), y + radius * Math.sin(k * Math.PI / 3));
  }
  context.fill();
}

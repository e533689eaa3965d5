/* Learned responses on the graphics card: the same numbers as detectors.js, by WebGL 2. */

const VERTICES = `#version 300 es
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }`;

/** Detectors, as those of detectors.js; throws where there is no WebGL 2 that can write numbers of single precision. */
export class GraphicsDetectors {
  constructor(operators, width, height) {
    Object.assign(this, { operators, width, height });
    const canvas = new OffscreenCanvas(width, height);
    const gl = (this.gl = canvas.getContext("webgl2", { antialias: false, depth: false }));
    if (!gl || !gl.getExtension("EXT_color_buffer_float")) throw new Error("no WebGL 2 with numbers of single precision");
    const planes = () => Array.from({ length: operators.count }, () => new Float32Array(width * height));
    this.total = planes();
    this.on = planes();
    this.pair = new Float32Array(2 * width * height);
    this.four = new Float32Array(4 * width * height);
    this.frames = this.texture(gl.RG32F);
    this.programs = [];
    for (let first = 0; first < operators.count; first += 4) this.programs.push(this.program(fragment(operators, first)));
    const buffer = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, buffer);
    const targets = [gl.COLOR_ATTACHMENT0, gl.COLOR_ATTACHMENT1];
    for (const target of targets) gl.framebufferTexture2D(gl.FRAMEBUFFER, target, gl.TEXTURE_2D, this.texture(gl.RGBA32F), 0);
    gl.drawBuffers(targets);
    gl.viewport(0, 0, width, height);
  }

  texture(format) {
    const { gl } = this, texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, format, this.width, this.height);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    return texture;
  }

  program(source) {
    const { gl } = this, program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTICES], [gl.FRAGMENT_SHADER, source]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    return program;
  }

  respond(before, after) {
    const { gl, width, height, pair, four } = this;
    for (let k = 0; k < before.length; k++) {
      pair[2 * k] = before[k];
      pair[2 * k + 1] = after[k];
    }
    if (gl.isContextLost()) throw new Error("the graphics card was taken away");
    gl.bindTexture(gl.TEXTURE_2D, this.frames);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, height, gl.RG, gl.FLOAT, pair);
    this.programs.forEach((program, group) => {
      gl.useProgram(program);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
      [this.total, this.on].forEach((planes, which) => {
        gl.readBuffer(gl.COLOR_ATTACHMENT0 + which);
        gl.readPixels(0, 0, width, height, gl.RGBA, gl.FLOAT, four);
        planes.slice(4 * group, 4 * group + 4).forEach((plane, k) => {
          for (let i = 0; i < plane.length; i++) plane[i] = four[4 * i + k];
        });
      });
    });
  }
}

/** Write the program of detectors `first` to `first + 3`, each operation for itself. */
function fragment({ size, modes, axes }, first) {
  const number = (value) => (Number.isInteger(value) ? `${value}.0` : `${value}`);
  const four = (weights) => `vec4(${[0, 1, 2, 3].map((k) => number(weights[first + k] ?? 0)).join(", ")})`;
  const places = [...Array(size).keys()], h = size >> 1, code = [];
  for (const i of places) for (const j of places) code.push(`vec3 s${i}_${j} = seen(ivec2(${j - h}, ${i - h}));`);
  axes.forEach((parts, axis) => parts.forEach(({ weights, lines }, part) => {
    for (const [a, b, matrix] of lines) {
      for (const k of places) {
        const seen = places.map((i) => (axis ? `s${k}_${i}` : `s${i}_${k}`));
        code.push(`c${k} = ${seen.map((s, i) => `${number(modes[a][i])} * ${s}`).join(" + ")};`);
        if (a !== b) code.push(`c${k}.z = ${seen.map((s, i) => `${number(modes[b][i])} * ${s}.z`).join(" + ")};`);
      }
      for (const i of places) {
        const row = places.map((j) => `${number(matrix[size * i + j])} * c${j}.z`);
        code.push(`sum${axis}_${part} += c${i}.xy * (${row.join(" + ")});`);
      }
    }
    code.push(`total += ${four(weights)} * sum${axis}_${part}.x;`, `on += ${four(weights)} * sum${axis}_${part}.y;`);
  }));
  const sums = axes.flatMap((parts, axis) => parts.map((_, part) => `vec2 sum${axis}_${part} = vec2(0.0);`));
  return `#version 300 es
precision highp float;
precision highp sampler2D;
uniform sampler2D frames;
layout(location = 0) out vec4 total;
layout(location = 1) out vec4 on;
vec3 seen(ivec2 by) {
  vec2 pair = texelFetch(frames, ivec2(gl_FragCoord.xy) + by, 0).xy;
  float change = pair.y - pair.x;
  return vec3(change, max(change, 0.0), (pair.x + pair.y) / 2.0);
}
void main() {
  total = on = vec4(0.0);
  ivec2 at = ivec2(gl_FragCoord.xy), behind = textureSize(frames, 0) - at;
  if (min(at.x, at.y) < ${h} || min(behind.x, behind.y) < ${size - h}) return;
  vec3 ${places.map((k) => `c${k}`).join(", ")};
  ${sums.join(" ")}
  ${code.join("\n  ")}
}`;
}

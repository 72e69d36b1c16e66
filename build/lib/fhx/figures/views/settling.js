// A frame: {truth, guess, right, errors, residuals, sweep}. `truth` and `guess` are states at steps 1, 2, ..., `right`
// are the steps at which the guess is right; `errors` and `residuals` are powers of ten after 0, 1, ... sweeps, or null.
const HIGH = 190;
const HEAD = 26;
const FOOT = 42;
const LEAST = -16;

export function render(root, { truth, guess, right: known, errors, residuals, sweep }, values, { svg, ticks, alt, width }) {
  const [left, right] = [44, width - 10];
  const last = errors.length - 1;
  const powers = [...errors, ...residuals].filter((power) => power !== null);
  const most = Math.max(1, ...powers);
  const tall = 2 * (HEAD + HIGH + FOOT);
  const picture = svg("svg", { role: "img", "aria-label": alt, viewBox: `0 0 ${width} ${tall}` });
  const add = (tag, attributes, ...children) => picture.append(svg(tag, attributes, ...children));

  // Axes over `top`; returns what places a point. Names of the curves stand at the right of the heading.
  const axes = (top, [x0, x1], [y0, y1], heading, below, names) => {
    const px = (x) => left + ((x - x0) / (x1 - x0)) * (right - left);
    const py = (y) => top + HEAD + ((y1 - Math.min(y1, Math.max(y0, y))) / (y1 - y0)) * HIGH;
    for (const [value, label] of ticks(x0, x1, Math.max(2, width / 80))) {
      add("line", { class: "rx-grid", x1: px(value), x2: px(value), y1: py(y1), y2: py(y0) });
      add("text", { x: px(value), y: py(y0) + 17, "text-anchor": "middle" }, label);
    }
    for (const [value, label] of ticks(y0, y1, 4)) {
      add("line", { class: "rx-grid", x1: left, x2: right, y1: py(value), y2: py(value) });
      add("text", { x: left - 6, y: py(value) + 4.5, "text-anchor": "end" }, label);
    }
    add("text", { class: "rx-axis", x: 2, y: top + 14 }, heading);
    add("text", { class: "rx-axis", x: right, y: py(y0) + 35, "text-anchor": "end" }, below);
    const legend = svg("text", { x: right, y: top + 14, "text-anchor": "end" });
    names.forEach(([name, color], i) => {
      legend.append(svg("tspan", { style: `fill: var(--rx-c${color})`, dx: i ? 12 : 0 }, name));
    });
    picture.append(legend);
    return [px, py];
  };
  const line = (px, py, xs, ys, color, name) => {
    let pen = "M";
    const parts = xs.map((x, i) => {
      const part = ys[i] === null ? "" : `${pen}${px(x).toFixed(1)} ${py(ys[i]).toFixed(1)}`;
      pen = ys[i] === null ? "M" : "L";
      return part;
    });
    add("path", { class: "rx-line", d: parts.join(""), stroke: `var(--rx-c${color})`, "data-line": name });
  };

  const steps = truth.map((_, i) => i + 1);
  const legend = [["true run", 5], ["● right", 2], ["○ not yet", 1]];
  const [px, py] = axes(0, [0, steps.length + 1], [-1.1, 1.1], "first unit", "step t", legend);
  line(px, py, steps, truth, 5, "truth");
  const settled = new Set(known);
  guess.forEach((state, i) => {
    const done = settled.has(i + 1);
    const color = `var(--rx-c${done ? 2 : 1})`;
    const at = { cx: px(i + 1).toFixed(1), cy: py(state).toFixed(1), r: 3.5, stroke: color, "stroke-width": 1.5 };
    add("circle", { ...at, fill: done ? color : "var(--rx-paper)", "data-right": done });
  });

  const curves = [["error", 1], ["residual", 3]];
  const [qx, qy] = axes(tall / 2, [0, last], [LEAST, most], "powers of ten", "sweep", curves);
  const sweeps = errors.map((_, i) => i);
  add("line", { x1: qx(sweep), x2: qx(sweep), y1: qy(most), y2: qy(LEAST), stroke: "var(--rx-soft)", "data-sweep": sweep });
  line(qx, qy, sweeps, errors, 1, "error");
  line(qx, qy, sweeps, residuals, 3, "residual");
  for (const [power, color] of [[errors[sweep], 1], [residuals[sweep], 3]]) {
    if (power !== null) add("circle", { cx: qx(sweep), cy: qy(power), r: 4, fill: `var(--rx-c${color})` });
  }
  root.replaceChildren(picture);
}

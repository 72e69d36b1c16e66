// A frame is one panel, or {panels: [...], below}. A panel:
//   {title, series: [{label, x, y, style: "line" | "points" | "both", faint, color}], xlabel, ylabel, xlim, ylim,
//    span: {from, to, label}, square, height, yticks: about how many}
// Panels stand side by side where there is room, otherwise below one another; always if `below`, and then over one axis.
const SIDE_BY_SIDE = 560;
const PLOT = 216;
const AXIS = 40;
const GAP = 12;

const extent = (lists) => {
  const numbers = lists.flat().filter((value) => value !== null);
  let [low, high] = [Infinity, -Infinity];
  for (const value of numbers) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low < high ? [low, high] : [(low || 0) - 1, (low || 0) + 1];
};

// Moves labels apart until neighbours are `gap` apart, inside [top, bottom] where they fit.
const spread = (labels, gap, top, bottom) => {
  labels.sort((a, b) => a.y - b.y);
  labels.forEach((label, i) => {
    label.y = Math.max(label.y, i ? labels[i - 1].y + gap : top);
  });
  let floor = bottom;
  for (const label of labels.toReversed()) {
    label.y = Math.min(label.y, floor);
    floor = label.y - gap;
  }
};

const longestLabel = (spec) => Math.max(...spec.series.map((series) => (series.label ?? "").length));

const panel = (spec, left, top, width, head, longest, { svg, ticks }) => {
  const inner = { x: left + 38, y: top + head, width: 0, height: spec.height ?? PLOT };
  inner.width = width - 38 - (longest ? 12 + 7.5 * longest : 8);
  if (spec.square) inner.width = Math.min(inner.width, inner.height);
  const [x0, x1] = spec.xlim ?? extent(spec.series.map((series) => series.x));
  const [y0, y1] = spec.ylim ?? extent(spec.series.map((series) => series.y));
  const px = (x) => ((x - x0) / (x1 - x0)) * inner.width;
  const py = (y) => ((y1 - y) / (y1 - y0)) * inner.height;
  const group = svg("g");
  const text = (x, y, content, attributes = {}) => group.append(svg("text", { x, y, ...attributes }, content));

  for (const [value, label] of ticks(x0, x1, Math.max(2, inner.width / 60))) {
    const x = inner.x + px(value);
    group.append(svg("line", { class: "rx-grid", x1: x, x2: x, y1: inner.y, y2: inner.y + inner.height }));
    text(x, inner.y + inner.height + 17, label, { "text-anchor": "middle" });
  }
  for (const [value, label] of ticks(y0, y1, spec.yticks ?? Math.max(2, inner.height / 60))) {
    const y = inner.y + py(value);
    group.append(svg("line", { class: "rx-grid", x1: inner.x, x2: inner.x + inner.width, y1: y, y2: y }));
    text(inner.x - 6, y + 4.5, label, { "text-anchor": "end" });
  }
  if (spec.title) text(left + 2, top + 13, spec.title);
  text(left + 2, inner.y - 11, spec.ylabel ?? "", { class: "rx-axis" });
  text(inner.x + inner.width, inner.y + inner.height + 35, spec.xlabel ?? "", { class: "rx-axis", "text-anchor": "end" });

  const { x, y, width: w, height: h } = inner;
  const plot = svg("svg", { role: "presentation", x, y, width: w, height: h }); // clips
  if (spec.span) {
    const from = px(spec.span.from);
    plot.append(svg("rect", { class: "rx-span", x: from, y: 0, width: px(spec.span.to) - from, height: inner.height }));
  }
  const labels = [];
  spec.series.forEach((series, i) => {
    const color = `var(--rx-c${(series.color ?? i) % 6})`;
    const at = series.x.map((x, k) => (series.y[k] === null ? null : [px(x), py(series.y[k])]));
    const style = series.style ?? "line";
    if (style !== "points") {
      let pen = "M";
      const d = at.map((p) => {
        const part = p ? `${pen}${p[0].toFixed(1)} ${p[1].toFixed(1)}` : "";
        pen = p ? "L" : "M";
        return part;
      });
      const opacity = series.faint ? 0.45 : 1;
      plot.append(svg("path", { class: "rx-line", d: d.join(""), stroke: color, opacity, "data-series": i }));
    }
    if (style !== "line") {
      const d = at.map((p) => (p ? `M${p[0].toFixed(1)} ${p[1].toFixed(1)}h0` : "")).join("");
      plot.append(svg("path", { class: "rx-points", d, stroke: color, "data-series": i }));
    }
    const last = at.findLast((p) => p);
    if (series.label && last) labels.push({ y: inner.y + last[1] + 4.5, name: series.label, color });
  });
  if (spec.span) plot.append(svg("text", { x: px(spec.span.to) + 5, y: inner.height - 7 }, spec.span.label));
  group.append(plot);
  spread(labels, 16, inner.y + 8, inner.y + inner.height);
  for (const { y, name, color } of labels) text(inner.x + inner.width + 6, y, name, { style: `fill: ${color}` });
  return group;
};

export function render(root, frame, values, helpers) {
  const panels = frame.panels ?? [frame];
  const { width, svg } = helpers;
  const beside = panels.length > 1 && width >= SIDE_BY_SIDE && !frame.below;
  const head = panels.some((spec) => spec.title && spec.ylabel) ? 48 : 24;
  const heights = panels.map((spec) => head + (spec.height ?? PLOT) + AXIS);
  const square = (spec) => (spec.square ? 290 : 0);
  const rest = width - panels.reduce((sum, spec) => sum + square(spec), 0);
  const loose = panels.filter((spec) => !spec.square).length;
  const total = beside ? Math.max(...heights) : heights.reduce((sum, height) => sum + height + GAP, -GAP);
  const widest = Math.max(...panels.map(longestLabel));
  const picture = svg("svg", { role: "img", "aria-label": helpers.alt, viewBox: `0 0 ${width} ${total}` });
  let [left, top] = [0, 0];
  panels.forEach((spec, i) => {
    const wide = beside ? square(spec) || rest / loose : spec.square ? Math.min(width, 300) : width;
    picture.append(panel(spec, left, top, wide, head, frame.below ? widest : longestLabel(spec), helpers));
    if (beside) left += wide;
    else top += heights[i] + GAP;
  });
  root.replaceChildren(picture);
}

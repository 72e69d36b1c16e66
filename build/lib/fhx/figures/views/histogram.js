// A frame: {xlim, bars: {from, width, counts}, marks: [{label, at}], xlabel}. Bars on an axis, and named vertical lines.
const HIGH = 190;
const ROW = 19;

export function render(root, frame, values, { svg, ticks, alt, width }) {
  const [x0, x1] = frame.xlim;
  const [left, right] = [10, width - 10];
  const px = (x) => left + ((x - x0) / (x1 - x0)) * (right - left);
  const top = frame.marks.length * ROW + 8;
  const floor = top + HIGH;
  const picture = svg("svg", { role: "img", "aria-label": alt, viewBox: `0 0 ${width} ${floor + 44}` });
  for (const [value, label] of ticks(x0, x1, Math.max(3, width / 80))) {
    picture.append(svg("line", { class: "rx-grid", x1: px(value), x2: px(value), y1: top, y2: floor }));
    picture.append(svg("text", { x: px(value), y: floor + 17, "text-anchor": "middle" }, label));
  }
  picture.append(svg("line", { x1: left, x2: right, y1: floor, y2: floor, stroke: "var(--rx-edge)" }));

  const { from, width: step, counts } = frame.bars;
  const most = Math.max(...counts);
  const wide = Math.max(1, px(x0 + step) - left - 0.5);
  counts.forEach((count, i) => {
    const tall = (count / most) * (HIGH - 6);
    const box = { x: px(from + i * step), y: floor - tall, width: wide, height: tall };
    picture.append(svg("rect", { ...box, fill: "var(--rx-c0)", "fill-opacity": 0.75, "data-count": count }));
  });

  frame.marks.forEach(({ label, at }, i) => {
    const x = px(at);
    const y = 14 + i * ROW;
    const color = `var(--rx-c${i + 1})`;
    const line = { x1: x, x2: x, y1: y + 4, y2: floor, stroke: color, "stroke-width": 2.5 };
    picture.append(svg("line", { ...line, "stroke-dasharray": ["none", "2 4", "8 4"][i % 3], "data-mark": label }));
    const beyond = x + 9 * label.length > right;
    const words = { x: beyond ? x + 4 : x - 4, y, "text-anchor": beyond ? "end" : "start" };
    picture.append(svg("text", { ...words, style: `fill: ${color}; font-weight: 600` }, label));
  });
  picture.append(svg("text", { x: right, y: floor + 36, class: "rx-axis", "text-anchor": "end" }, frame.xlabel));
  root.replaceChildren(picture);
}

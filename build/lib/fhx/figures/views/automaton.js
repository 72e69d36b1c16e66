// data.machines[name]: {alphabet, word, units, W, U, b, h0, w, c, activation, steps, states, codes, D, d, table, others,
//   diagram}. W and U hold for each column the pairs [row, weight]; codes[q] is what D h + d is in state q.
//   table[q][a] is the unit of state q and symbol a, others are the units beside the table.
//   diagram: {width, height, radius, circles: [[q, x, y, accepting]], edges: [{from, to, symbols, word, d, head, at}], start}
const BESIDE = 600;
const ROWS = 24;
const ACTIVATIONS = { relu: (x) => Math.max(x, 0), slu: (x) => Math.min(Math.max(x, 0), 1) };

const step = (net, h, symbol) => {
  const sums = [...net.b];
  for (const [j, value] of h) for (const [i, weight] of net.W[j]) sums[i] += weight * value;
  if (symbol !== null) for (const [i, weight] of net.U[symbol]) sums[i] += weight;
  const wrong = sums.findIndex((sum) => !Number.isSafeInteger(sum));
  if (wrong >= 0) throw new Error(`unit ${net.units[wrong]} has left the integers that are exact here`);
  return nonzero(sums.map(ACTIVATIONS[net.activation]));
};

const nonzero = (values) => new Map([...values.entries()].filter(([, value]) => value !== 0));

// The states h_0, h_1, ... of the net, `steps` for each symbol.
const run = (net, symbols) => {
  const states = [nonzero(net.h0)];
  for (const symbol of symbols) {
    for (let k = 0; k < net.steps; k++) states.push(step(net, states.at(-1), k ? null : net.alphabet.indexOf(symbol)));
  }
  return states;
};

const dot = (pairs, h) => pairs.reduce((sum, [i, weight]) => sum + weight * (h.get(i) ?? 0), 0);
const output = (net, h) => dot(net.w, h) + net.c;
// The state whose code the net holds, or null.
const decoded = (net, h) => {
  const code = net.D.map((pairs, i) => dot(pairs, h) + net.d[i]);
  const q = net.codes.findIndex((other) => other?.every((value, i) => value === code[i]));
  return q < 0 ? null : q;
};

const pairOf = (net, unit) => {
  for (const [q, row] of (net.table ?? []).entries()) if (row.includes(unit)) return [q, row.indexOf(unit)];
  return null;
};

const listed = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`);

const sentence = (net, read, h, judged) => {
  const active = [...h].map(([unit, value]) => `${net.units[unit]} is ${value}`);
  const state = decoded(net, h);
  const pair = h.size === 1 ? pairOf(net, [...h.keys()][0]) : null;
  const start = read ? `Read ${read}. ` : "Nothing read yet. ";
  let units = `${active.length === 1 ? "Unit" : "Units"} ${listed(active)}, all others are 0`;
  if (!active.length) units = "All units are 0";
  const where = state === null ? "" : net.states[state];
  let then = where && `: state ${where}`;
  if (pair) then = `: the net was in state ${net.states[pair[0]]}, read ${net.alphabet[pair[1]]}, and is in state ${where}`;
  if (!judged) return `${start}${units}${then}.`;
  const y = output(net, h);
  const verdict = y === 1 ? "accept" : y === 0 ? "reject" : "no verdict";
  return `${start}${units}${then}. Output ${y}: ${verdict}.`;
};

const lit = "fill: var(--rx-c1); stroke: var(--rx-c1)";
const onLit = "fill: var(--rx-paper)";
const soft = "fill: var(--rx-soft)";
const middle = { "text-anchor": "middle" };

const drawDiagram = (net, h, taken, { svg }) => {
  const { diagram } = net;
  const group = svg("g");
  const state = decoded(net, h);
  const words = [];
  for (const edge of diagram.edges) {
    const on = taken && edge.from === taken[0] && edge.symbols.includes(taken[1]);
    const color = on ? "var(--rx-c1)" : "var(--rx-ink)";
    const data = on ? { "data-taken": `${net.states[edge.from]} ${net.states[edge.to]}` } : {};
    group.append(svg("path", { d: edge.d, fill: "none", stroke: color, "stroke-width": on ? 3 : 1.3, ...data }));
    group.append(svg("path", { d: edge.head, fill: color, stroke: color, "stroke-width": on ? 2 : 0 }));
    const halo = "paint-order: stroke; stroke: var(--rx-paper); stroke-width: 4px; stroke-linejoin: round";
    const style = on ? `${halo}; fill: var(--rx-c1); font-weight: 700` : halo;
    words.push(svg("text", { x: edge.at[0], y: edge.at[1] + 4.5, ...middle, style }, edge.word));
  }
  group.append(svg("path", { d: diagram.start.d, fill: "none", stroke: "var(--rx-ink)", "stroke-width": 1.3 }));
  group.append(svg("path", { d: diagram.start.head, fill: "var(--rx-ink)" }));
  for (const [q, x, y, accepting] of diagram.circles) {
    const on = q === state;
    const fill = on ? "var(--rx-c0)" : "var(--rx-paper)";
    const data = on ? { "data-state": net.states[q] } : {};
    const ring = { cx: x, cy: y, stroke: on ? "var(--rx-c0)" : "var(--rx-ink)", "stroke-width": 1.3, fill };
    group.append(svg("circle", { ...ring, r: diagram.radius, ...data }));
    if (accepting) {
      const inner = on ? "var(--rx-paper)" : "var(--rx-ink)";
      group.append(svg("circle", { ...ring, r: diagram.radius - 3.5, stroke: inner, fill: "none" }));
    }
    const style = on ? `${onLit}; font-weight: 700` : "";
    group.append(svg("text", { x, y: y + 4.5, ...middle, style }, net.states[q]));
  }
  group.append(...words);
  return { group, width: diagram.width, height: diagram.height };
};

const cell = (svg, x, y, width, height, name, value, unit) => {
  const group = svg("g", { "data-unit": unit, "data-value": value });
  const on = value !== 0;
  const box = { x: x + 1, y: y + 1, width: width - 2, height: height - 2, rx: 3 };
  group.append(svg("rect", { ...box, style: on ? lit : "fill: none; stroke: var(--rx-edge)" }));
  const style = on ? `${onLit}; font-weight: 700` : soft;
  if (name) group.append(svg("text", { x: x + 7, y: y + height / 2 + 4.5, style: on ? style : "" }, name));
  const at = name ? { x: x + width - 7, "text-anchor": "end" } : { x: x + width / 2, ...middle };
  group.append(svg("text", { ...at, y: y + height / 2 + 4.5, style }, String(value)));
  return group;
};

// The units by state before and symbol read, and below them those that are not such a pair.
const drawUnits = (net, h, room, { svg }) => {
  const group = svg("g");
  const high = 26;
  const wide = (names) => Math.max(...names.map((name) => name.length)) * 9;
  let y = 0;
  if (net.table) {
    const left = Math.max(58, wide(net.states) + 12);
    const named = wide(net.table.flat().map((unit) => net.units[unit])) + 30;
    const each = Math.min(Math.max(named, 57), (room - left) / net.alphabet.length);
    group.append(svg("text", { x: 0, y: 14, class: "rx-axis" }, "state"));
    net.alphabet.forEach((symbol, a) => {
      const words = each > 50 ? `reads ${symbol}` : symbol;
      group.append(svg("text", { x: left + (a + 0.5) * each, y: 14, ...middle, class: "rx-axis" }, words));
    });
    y = 20;
    net.table.forEach((row, q) => {
      group.append(svg("text", { x: 0, y: y + high / 2 + 4.5 }, net.states[q]));
      row.forEach((unit, a) => {
        const name = each >= named ? net.units[unit] : "";
        group.append(cell(svg, left + a * each, y, each, high, name, h.get(unit) ?? 0, net.units[unit]));
      });
      y += high;
    });
    y += 6;
  }
  let x = net.table ? Math.max(58, wide(net.states) + 12) : 0;
  const first = x;
  for (const unit of net.others) {
    const width = wide([net.units[unit]]) + 30;
    if (x > first && x + width > room) [x, y] = [first, y + high];
    group.append(cell(svg, x, y, width, high, net.units[unit], h.get(unit) ?? 0, net.units[unit]));
    x += width;
  }
  return { group, height: y + (net.others.length ? high : 0) };
};

const strange = (net, word) => [...word].findIndex((symbol) => !net.alphabet.includes(symbol));

// The verdict stands under the slider, and room for four lines on a phone keeps the picture in its place.
const placeReadout = (root, width) => {
  const readout = root.parentElement.querySelector(".rx-readout");
  if (readout !== root.previousElementSibling) root.before(readout);
  readout.style.margin = "0 0 0.5rem";
  readout.style.minHeight = width < BESIDE ? "5.6em" : "2.8em";
};

const mark = (field, invalid) => {
  field.setAttribute("aria-invalid", invalid);
  field.style.borderColor = invalid ? "var(--rx-c1)" : "";
  field.style.borderWidth = invalid ? "2px" : "";
};

// One row per unit and one column per step; what is not read yet stays empty.
const drawStrip = (net, states, symbols, now, room, { svg }) => {
  const group = svg("g");
  const high = 18;
  let rows = net.units.map((_, unit) => unit);
  if (rows.length > ROWS) rows = rows.filter((unit) => states.some((h) => h.has(unit)));
  const longest = Math.max(6, ...rows.map((unit) => net.units[unit].length));
  const left = 8 * longest + 10;
  const wide = Math.min(room < BESIDE ? 30 : 40, (room - left - 2) / states.length);
  const top = 20;
  const below = top + rows.length * high + 6;
  group.append(svg("text", { x: 0, y: 14, class: "rx-axis" }, "reads"));
  rows.forEach((unit, i) => {
    const y = top + i * high;
    const style = states[now].has(unit) ? "fill: var(--rx-c1); font-weight: 700" : "";
    group.append(svg("text", { x: 0, y: y + 13.5, style }, net.units[unit]));
    group.append(svg("line", { class: "rx-grid", x1: left, x2: left + wide * states.length, y1: y + high, y2: y + high }));
  });
  group.append(svg("text", { x: 0, y: below + 13.5 }, "output"));
  states.forEach((h, t) => {
    const x = left + t * wide;
    const symbol = t && (t - 1) % net.steps === 0 ? symbols[(t - 1) / net.steps] : "";
    const style = t > now ? soft : "font-weight: 700";
    group.append(svg("text", { x: x + wide / 2, y: 14, ...middle, style }, symbol));
    if (t > now) return;
    rows.forEach((unit, i) => {
      if (!h.has(unit)) return;
      const y = top + i * high;
      const box = { x: x + 1, y: y + 1.5, width: wide - 2, height: high - 3, rx: 2 };
      group.append(svg("rect", { ...box, style: `${lit}; fill-opacity: ${t === now ? 1 : 0.25}` }));
      const value = { x: x + wide / 2, y: y + 13.5, ...middle, style: t === now ? `${onLit}; font-weight: 700` : "" };
      group.append(svg("text", value, String(h.get(unit))));
    });
    if (t % net.steps) return;
    const y = output(net, h);
    const word = { x: x + wide / 2, y: below + 13.5, ...middle, "data-output": t / net.steps };
    group.append(svg("text", { ...word, style: y === 1 ? "fill: var(--rx-c2); font-weight: 700" : "" }, String(y)));
  });
  const frame = { x: left + now * wide, y: 1, width: wide, height: below + high, rx: 3 };
  group.append(svg("rect", { ...frame, fill: "none", stroke: "var(--rx-ink)", "stroke-width": 1.5, "data-now": now }));
  return { group, height: below + high + 4 };
};

export function render(root, data, values, helpers) {
  const { state, svg, width } = helpers;
  const net = data.machines[values.machine];
  state.words ??= {};
  const first = state.machine === undefined;
  const other = state.machine !== values.machine;
  let { word, position } = values;
  if (other && !first && strange(net, word) >= 0) helpers.set("word", (word = state.words[values.machine] ?? net.word));
  const typed = [...word];
  const stop = strange(net, word);
  const symbols = stop < 0 ? typed : typed.slice(0, stop);
  if (!first && word !== state.word) position = symbols.length;
  position = Math.min(position, symbols.length);
  helpers.set("position", position, symbols.length);
  Object.assign(state, { machine: values.machine, word });
  state.words[values.machine] = word;
  mark(root.parentElement.querySelector("input[type=text]"), stop >= 0);
  placeReadout(root, width);

  const states = run(net, symbols);
  const now = position * net.steps;
  const before = position ? decoded(net, states[now - net.steps]) : null;
  const taken = before === null ? null : [before, symbols[position - 1]];
  const diagram = drawDiagram(net, states[now], taken, helpers);
  const beside = width >= BESIDE;
  const shrink = Math.min(1, width / diagram.width);
  const half = beside ? width - 340 : width;
  const units = drawUnits(net, states[now], half, helpers);
  const strip = drawStrip(net, states, symbols, now, width, helpers);

  const picture = svg("svg", { role: "img", "aria-label": helpers.alt });
  const place = (part, x, y, scale = 1) => {
    part.group.setAttribute("transform", `translate(${x} ${y})${scale === 1 ? "" : ` scale(${scale})`}`);
    picture.append(part.group);
  };
  let bottom;
  if (beside) {
    const tall = Math.max(diagram.height, units.height);
    place(diagram, (316 - diagram.width) / 2, (tall - diagram.height) / 2);
    place(units, 340, (tall - units.height) / 2);
    bottom = tall;
  } else {
    place(diagram, (width - diagram.width * shrink) / 2, 0, shrink);
    place(units, 0, diagram.height * shrink + 12);
    bottom = diagram.height * shrink + 12 + units.height;
  }
  place(strip, 0, bottom + 18);
  picture.setAttribute("viewBox", `0 0 ${width} ${bottom + 18 + strip.height}`);
  root.replaceChildren(picture);

  const said = sentence(net, symbols.slice(0, position).join(""), states[now], stop < 0);
  if (stop < 0) return said;
  const named = typed[stop].trim() || "A space";
  return `${named} is not in the alphabet ${net.alphabet.join(", ")}: no verdict on ${word}. ${said}`;
}

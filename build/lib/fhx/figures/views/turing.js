// The run of a net as turing_net.js computes it: tape, units, stacks. data: {machines, steps}, see there.
const BESIDE = 600;
const LEVELS = 3;


const lowest = ({ n, d }) => {
  const common = gcd(n, d);
  return { n: n / common, d: d / common };
};

const fraction = (value) => {
  const { n, d } = lowest(value);
  return d === 1n ? `${n}` : `${n}/${d}`;
};

// A unit's value: exact where that is short, and else its first decimals.
const shortly = (value) => {
  const { n, d } = lowest(value);
  if (d < 100000n) return fraction(value);
  const [whole, part] = [n / d, ((n % d) * 1000000n) / d];
  return `${whole}.${String(part).padStart(6, "0")}…`;
};

// A stack's number by its digits.
const written = (net, value, most) => {
  const digits = digitsOf(net, value);
  if (!digits.length) return "0";
  return `0.${digits.slice(0, most).join(net.base > 10 ? " " : "")}${digits.length > most ? "…" : ""}`;
};

// The rule that leads from one configuration to the next, and whether the head stayed at the left end.
const ruleOf = (net, before, after) => {
  const [a, b] = [before.tape[before.head] ?? 0, after.tape[before.head] ?? 0].map((symbol) => net.symbols[symbol]);
  const move = after.head > before.head ? "R" : "L";
  return [`${net.states[before.state]}, ${a} → ${net.states[after.state]}, ${b}, ${move}`, after.head === before.head];
};

const sentence = (net, columns, now, symbols, steps) => {
  const { held: here, y } = columns[now];
  const [k, last] = [now - symbols.length - 1, now === columns.length - 1];
  if (!now) return "Net step 0: nothing read yet.";
  if (k < 0) return `Net step ${now}: read ${symbols[now - 1]}. The right stack holds ${symbols.slice(0, now).join("")}.`;
  const reads = net.symbols[here.tape[here.head] ?? 0];
  const where = `in state ${net.states[here.state]}, reading ${reads}`;
  let said = `Net step ${now}, the first EOS: the machine starts ${where}.`;
  if (k) {
    const [rule, stayed] = ruleOf(net, columns[now - 1].held, here);
    said = `Net step ${now}, machine step ${k}: rule ${rule}${stayed ? " (the head stays at the left end)" : ""}; now ${where}.`;
  }
  if (y) {
    const verdict = y > 0n ? "1: accept" : "−1: reject";
    return `${said} Output ${verdict}. The net has answered, after ${k} step${k === 1 ? "" : "s"}.`;
  }
  return `${said} Output 0${last ? `: not halted after ${steps} steps, and the page stops here` : ""}.`;
};

const middle = { "text-anchor": "middle" };
const soft = "fill: var(--rx-soft)";
const strong = "font-weight: 700";
const wide = (names) => Math.max(0, ...names.map((name) => name.length)) * 8 + 8;

// Long names are pressed together.
const fitted = (text, width) => {
  if (text.textContent.length * 9 > width) {
    text.setAttribute("textLength", width - 4);
    text.setAttribute("lengthAdjust", "spacingAndGlyphs");
  }
  return text;
};

// A unit as a square, filled the more the larger it is.
const unitBox = ({ svg }, net, h, unit, x, y, width, height) => {
  const value = { n: h.n.get(unit) ?? 0n, d: h.d };
  const size = Number((value.n * 1000n) / value.d) / 1000;
  const words = fraction(value);
  const shade = `fill: var(--rx-c1); fill-opacity: ${0.25 + 0.75 * Math.min(size, 1)}; stroke: var(--rx-c1)`;
  const style = value.n ? shade : "fill: none; stroke: var(--rx-edge)";
  const box = { x: x + 1, y: y + 1, width: width - 2, height: height - 2, rx: 2 };
  return svg("rect", { ...box, style, "data-unit": net.units[unit], "data-value": words }, svg("title", {}, `${net.units[unit]} = ${words}`));
};

const drawTape = (net, columns, now, room, helpers) => {
  const { svg } = helpers;
  const group = svg("g");
  const here = columns[now].held;
  const size = 30;
  const seats = Math.floor((room - 2) / size);
  const extent = Math.max(...columns.map(({ held: each }) => Math.max(each.tape.length, (each.head ?? 0) + 1))) + 1;
  const focus = here.head ?? here.tape.length;
  const first = Math.max(0, Math.min(focus - Math.floor(seats / 2), extent - seats));
  const top = 36;
  for (let i = first; i < first + seats; i++) {
    const x = 1 + (i - first) * size;
    const symbol = here.tape[i] ?? 0;
    const on = i === here.head;
    const known = i < here.tape.length || on;
    const box = { x, y: top, width: size, height: size, style: `fill: ${on ? "var(--rx-c0)" : "none"}; stroke: var(--rx-edge)` };
    const style = on ? `fill: var(--rx-paper); ${strong}` : known ? "" : soft;
    const at = { x: x + size / 2, y: top + 20, ...middle, style, "data-cell": i };
    group.append(svg("rect", box), fitted(svg("text", at, net.symbols[symbol]), size));
    if (i % 5 === 0) group.append(svg("text", { x: x + size / 2, y: top + size + 15, ...middle, class: "rx-axis" }, String(i)));
  }
  const edge = { y1: top - 4, y2: top + size + 4, stroke: "var(--rx-ink)", "stroke-width": 3 };
  if (!first) group.append(svg("line", { ...edge, x1: 1.5, x2: 1.5 }));
  if (here.state !== undefined) {
    const x = 1 + (here.head - first + 0.5) * size;
    group.append(svg("path", { d: `M${x - 6} ${top - 11}h12l-6 9z`, fill: "var(--rx-c0)" }));
    const half = (net.states[here.state].length * 8.5) / 2;
    const at = Math.min(Math.max(x, half), room - half);
    group.append(svg("text", { x: at, y: top - 18, ...middle, style: `fill: var(--rx-c0); ${strong}` }, net.states[here.state]));
  } else {
    group.append(svg("text", { x: 2, y: top - 18, class: "rx-axis" }, "the right stack, while the word is read"));
  }
  return { group, height: top + size + 20 };
};

// A unit that holds several parts stands at each of them.
// One row per state and one column per symbol; below, the units of the loading.
const drawPairs = (net, column, room, helpers) => {
  const { svg } = helpers;
  const group = svg("g");
  const high = 22;
  const { held: here, h } = column;
  const reads = here.state === undefined ? -1 : (here.tape[here.head] ?? 0);
  const symbols = net.symbols.map((_, a) => a).filter((a) => net.pairs.some((pair) => pair[1] === a));
  const left = Math.min(Math.max(50, wide(net.states)), room * 0.45);
  const each = Math.min((room - left) / symbols.length, 56);
  group.append(svg("text", { x: 0, y: 14, style: strong }, "Units by state and symbol read"));
  symbols.forEach((a, i) => {
    const style = a === reads ? `fill: var(--rx-c1); ${strong}` : soft;
    group.append(fitted(svg("text", { x: left + (i + 0.5) * each, y: 34, ...middle, style }, net.symbols[a]), each));
  });
  let y = 40;
  net.states.forEach((name, q) => {
    const style = q === here.state ? `fill: var(--rx-c1); ${strong}` : "";
    group.append(fitted(svg("text", { x: 0, y: y + high / 2 + 4.5, style }, name), left + 4));
    for (const [, a, row] of net.pairs.filter((pair) => pair[0] === q)) {
      const units = net.code.D[row].map(([unit]) => unit);
      const width = each / units.length;
      const x = left + symbols.indexOf(a) * each;
      units.forEach((unit, i) => group.append(unitBox(helpers, net, h, unit, x + i * width, y, width, high)));
    }
    y += high;
  });
  y += 6;
  let x = 0;
  for (const unit of net.others) {
    const width = net.units[unit].length * 8 + 30;
    if (x && x + width > room) [x, y] = [0, y + high];
    group.append(unitBox(helpers, net, h, unit, x, y + 2, 18, 18), svg("text", { x: x + 22, y: y + 15.5 }, net.units[unit]));
    x += width;
  }
  return { group, height: y + high };
};

// Components of a stack: the symbol, its number on the line [0, 1] of the Cantor set, the number's digits, its units.
const drawStack = (net, h, name, components, room, helpers) => {
  const { svg } = helpers;
  const group = svg("g");
  const [high, side, digits] = [24, room < 380 ? 11 : 13, 72];
  const unitsOf = (row) => net.code.D[row].map(([unit]) => unit);
  const both = [...net.left, ...net.right];
  const most = [1, 2].map((k) => Math.max(...both.map((component) => unitsOf(component[k]).length)));
  const left = wide(both.map(([a]) => net.symbols[a])) + 4;
  const right = room - (most[0] + most[1]) * side - 6;
  const [from, to] = [left, right - digits - 4];
  const x = (value) => from + value * (to - from);
  const B = net.base;
  const [top, bottom] = [38, 38 + high * components.length];
  group.append(svg("text", { x: 0, y: 14, style: strong }, `The ${name} stack in base ${B}`));
  group.append(svg("rect", { class: "rx-span", x: x(1 / B), y: top - 16, width: x((B - 2) / B) - x(0), height: bottom - top + 16 }));
  group.append(svg("text", { x: x(0.5), y: top - 4, ...middle, class: "rx-axis" }, "margin"));
  group.append(svg("text", { x: right + 1, y: top - 4, class: "rx-axis" }, "units"));
  components.forEach(([a, ...rows], k) => {
    const y = top + k * high;
    const value = part(net, h, rows[0]);
    const at = Number((value.n * 1000000n) / value.d) / 1000000;
    const on = at >= (B - 1) / B - 1e-6;
    const ink = on ? `fill: var(--rx-c1); ${strong}` : "";
    group.append(svg("text", { x: 2, y: y + 16.5, style: ink }, net.symbols[a]));
    group.append(svg("line", { class: "rx-grid", x1: from, x2: to, y1: y + 12, y2: y + 12 }));
    for (let i = 0; i < 2 ** LEVELS; i++) {
      const low = [...Array(LEVELS).keys()].reduce((sum, l) => sum + ((i >> l) & 1) * (B - 1) * B ** -(l + 1), 0);
      const ends = { x1: x(low), x2: Math.max(x(low + B ** -LEVELS), x(low) + 0.8), y1: y + 12, y2: y + 12 };
      group.append(svg("line", { ...ends, stroke: "var(--rx-soft)", "stroke-width": 5 }));
    }
    const style = `fill: var(${on ? "--rx-c1" : "--rx-c0"}); stroke: var(--rx-paper); stroke-width: 1.5`;
    group.append(svg("circle", { cx: x(at), cy: y + 12, r: 5.5, style, "data-stack": `${name} ${net.symbols[a]}`, "data-value": fraction(value) }));
    group.append(svg("text", { x: to + 9, y: y + 16.5, style: at ? ink : soft }, written(net, value, 4)));
    rows.map(unitsOf).forEach((units, t) => units.forEach((unit, i) => {
      const shift = right + (t ? most[0] * side + 4 : 0) + i * side;
      group.append(unitBox(helpers, net, h, unit, shift, y + 12 - side / 2 - 1, side, side + 2));
    }));
  });
  const ends = x(1 / B) - x(0) < 30 ? [] : [[0, "0"], [1, "1"]];
  for (const [value, words] of [...ends, [1 / B, `1/${B}`], [(B - 1) / B, `${B - 1}/${B}`]]) {
    group.append(svg("text", { x: x(value), y: bottom + 14, ...middle, class: "rx-axis" }, words));
  }
  return { group, height: bottom + 20 };
};

const placed = (root, width) => {
  const box = root.parentElement;
  const names = [".rx-readout", `#${box.id}-play`, "input[type=text]", "input[type=range]"];
  const [readout, button, field, slider] = names.map((name) => box.querySelector(name));
  if (readout !== root.previousElementSibling) root.before(readout);
  readout.style.margin = "0 0 0.5rem";
  readout.style.minHeight = width < BESIDE ? "7em" : "2.8em";
  return { readout, button, field, slider };
};

// One press plays or pauses; where the reader wants less motion, it goes to the other end of the run instead.
const play = (state, { button, readout, slider }, position, last) => {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const stop = () => (state.timer = void clearInterval(state.timer));
  const tick = () => {
    if (!slider.isConnected) return stop();
    slider.value = Number(slider.value) + 1;
    state.ticking = true;
    slider.dispatchEvent(new Event("input"));
    state.ticking = false;
  };
  if (state.timer && (state.pressed || state.moved || position === last)) stop();
  else if (state.pressed) {
    if (still) position = position === last ? 0 : last;
    else {
      if (position === last) position = 0;
      state.timer = setInterval(tick, Math.min(Math.max(12000 / (last + 1), 250), 600));
    }
  }
  const words = still ? (position === last ? "To the start" : "To the end") : state.timer ? "Pause" : "Play";
  if (button.textContent !== words) button.textContent = words;
  readout.setAttribute("aria-live", state.timer ? "off" : "polite");
  return position;
};

const mark = (field, invalid) => {
  field.setAttribute("aria-invalid", invalid);
  field.style.borderColor = invalid ? "var(--rx-c1)" : "";
  field.style.borderWidth = invalid ? "2px" : "";
};

const strange = (net, word) => [...word].findIndex((symbol) => !net.alphabet.includes(symbol));

export function render(root, data, values, helpers) {
  const { state, svg, width } = helpers;
  state.nets ??= {};
  state.words ??= {};
  const net = (state.nets[values.machine] ??= exact(data.machines[values.machine]));
  const first = state.machine === undefined;
  const other = state.machine !== values.machine;
  let { word, position } = values;
  if (other && !first) helpers.set("word", (word = state.words[values.machine] ?? net.word));
  const foreign = strange(net, word);
  const symbols = foreign < 0 ? [...word] : [...word].slice(0, foreign);
  const anew = other || word !== state.word;
  if (anew) state.columns = run(net, symbols, foreign >= 0, data.steps);
  const { columns } = state;
  const last = columns.length - 1;
  if (anew && !first) position = Math.min(symbols.length + 1, last);
  position = Math.min(position, last);
  const controls = placed(root, width);
  state.pressed = values.play !== (state.play ?? 0);
  state.moved = !state.ticking && (anew || position !== state.position);
  position = play(state, controls, position, last);
  helpers.set("position", position, last);
  Object.assign(state, { machine: values.machine, word, position, play: values.play });
  state.words[values.machine] = word;
  mark(controls.field, foreign >= 0);

  const beside = width >= BESIDE && net.symbols.length <= 10;
  const half = beside ? Math.max(250, width * 0.4) : width;
  const rest = beside ? width - half - 24 : width;
  const picture = svg("svg", { role: "img", "aria-label": helpers.alt, "data-step": position });
  picture.dataset.output = fraction(output(net, columns[position].h));
  const here = columns[position].held;
  if (here.state !== undefined) Object.assign(picture.dataset, { state: net.states[here.state], head: here.head });
  const place = (drawn, x, y) => {
    drawn.group.setAttribute("transform", `translate(${x} ${y})`);
    picture.append(drawn.group);
    return y + drawn.height;
  };
  const below = place(drawTape(net, columns, position, width, helpers), 0, 0) + 12;
  const table = place(drawPairs(net, columns[position], half, helpers), 0, below);
  let y = beside ? below : table + 14;
  for (const name of ["left", "right"]) {
    if (net[name].length) y = place(drawStack(net, columns[position].h, name, net[name], rest, helpers), width - rest, y) + 10;
  }
  picture.setAttribute("viewBox", `0 0 ${width} ${Math.max(table, y)}`);
  state.list ??= document.createElement("p");
  state.list.style.cssText = "margin: 0.5rem 0 0; overflow-wrap: anywhere";
  const { n: active, d } = columns[position].h;
  const listed = [...active].sort(([a], [b]) => a - b).map(([unit, n]) => `${net.units[unit]} = ${shortly({ n, d })}`);
  state.list.textContent = `Units that are not 0: ${listed.join(", ")}.`;
  root.replaceChildren(picture, state.list);

  const said = sentence(net, columns, position, symbols, data.steps);
  if (foreign < 0) return said;
  const named = [...word][foreign].trim() || "A space";
  return `${named} is not in the alphabet ${net.alphabet.join(", ")}: no run on ${word}. ${said}`;
}

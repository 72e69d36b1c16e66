// A compiled net over exact numbers, stepped by its own weights, and what its states hold.
// data.steps: of the machine, at most so many are run. data.machines[name]: {alphabet, word, base, states, symbols, units, scale,
//   W, U, b, h0, out, code, load, pairs, left, right, others}. Vectors hold the pairs [place, numerator] of what is not 0, and W and U
//   such a vector for each column, all over `scale`; out: {scale, w, c}. code: {scale, D, d}: the rows of D and the entries of d, with
//   which D h + d is the state of the step. load, and the rows in pairs [state, symbol, row] and in left and right
//   [symbol, row of its number, row of its top], are places in that state. The first symbol is the blank, and EOS is the last column of U.

const big = (pairs) => pairs.map(([place, n]) => [place, BigInt(n)]);
const gcd = (a, b) => (b ? gcd(b, a % b) : a);

const exact = (net) => ({
  ...net,
  scale: BigInt(net.scale),
  W: net.W.map(big),
  drives: net.U.map((column) => {
    const sums = net.units.map(() => 0n);
    for (const [i, n] of [...big(net.b), ...big(column)]) sums[i] += n;
    return sums;
  }),
  start: reduced(new Map(big(net.h0)), BigInt(net.scale), BigInt(net.scale)),
  out: { scale: BigInt(net.out.scale), w: big(net.out.w), c: BigInt(net.out.c) },
  code: { scale: BigInt(net.code.scale), D: net.code.D.map(big), d: net.code.d.map(BigInt) },
});

// A state is {n, d}: the numerators of the units that are not 0, by unit, over one denominator, in lowest terms for the primes of `factor`.
const reduced = (n, d, factor) => {
  for (;;) {
    let common = gcd(d, factor);
    for (const value of n.values()) common = gcd(common, value);
    if (common === 1n) return { n, d };
    d /= common;
    n = new Map([...n].map(([i, value]) => [i, value / common]));
  }
};

// With weights v / M and units n / d the next sums are (v n + drive d) / (M d).
const step = (net, { n, d }, column) => {
  const sums = net.drives[column].map((drive) => drive * d);
  for (const [j, value] of n) for (const [i, weight] of net.W[j]) sums[i] += weight * value;
  return reduced(new Map([...sums.entries()].filter(([, sum]) => sum > 0n)), d * net.scale, net.scale);
};

const affine = (pairs, c, scale, { n, d }) => ({ n: pairs.reduce((sum, [i, v]) => sum + v * (n.get(i) ?? 0n), c * d), d: scale * d });
const part = (net, h, row) => affine(net.code.D[row], net.code.d[row], net.code.scale, h);
const output = (net, h) => affine(net.out.w, net.out.c, net.out.scale, h);

const digitsOf = (net, { n, d }) => {
  const found = [];
  for (const base = BigInt(net.base); n; n %= d) {
    n *= base;
    found.push(Number(n / d));
    if (found.length > 2000) throw new Error("a stack has no end");
  }
  return found;
};

// The symbols of a stack, top first; a blank where all components have the digit 0.
const stackOf = (net, h, components) => {
  const digits = components.map(([, row]) => digitsOf(net, part(net, h, row)));
  const symbols = [];
  for (let i = 0; i < Math.max(0, ...digits.map((each) => each.length)); i++) {
    const here = components.filter((_, k) => digits[k][i]);
    if (here.length > 1 || digits.some((each) => each[i] && each[i] !== net.base - 1)) throw new Error("a state holds no stack");
    symbols.push(here.length ? here[0][0] : 0);
  }
  return symbols;
};

// What a state holds: {tape, head, state}; only a tape while the word is read.
const held = (net, h) => {
  const on = net.pairs.filter(([, , row]) => part(net, h, row).n);
  if (!on.length && part(net, h, net.load).n) return { tape: stackOf(net, h, net.right) };
  if (on.length !== 1) throw new Error("a state holds no configuration");
  const [q, a, row] = on[0];
  const value = part(net, h, row);
  if (value.n !== value.d) throw new Error("a state holds no configuration");
  const left = stackOf(net, h, net.left).reverse();
  const tape = [...left, a, ...stackOf(net, h, net.right)];
  while (tape.at(-1) === 0) tape.pop();
  return { tape, head: left.length, state: q };
};

// A column {h, y, held} to each step, up to that of the answer; `foreign`: the net stops before a symbol that it cannot read.
const run = (net, symbols, foreign, steps) => {
  const columns = [];
  const add = (h) => columns.push({ h, y: columns.length ? output(net, h).n : 0n, held: held(net, h) });
  const read = (column) => add(step(net, columns.at(-1).h, column));
  add(net.start);
  for (const symbol of symbols) read(net.alphabet.indexOf(symbol));
  for (let k = 0; k <= steps && !foreign && !columns.at(-1).y; k++) read(net.alphabet.length);
  return columns;
};

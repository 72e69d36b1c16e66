"""Partial evaluation of steps, against their definition; and runs by pieces, against runs in fractions."""

import pickle
from fractions import Fraction
from itertools import islice
from textwrap import indent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.exact import Pieces, Step, codegen, const, relu, slu, sum_of, variable
from fhx.exact.specialize import Specializer, range_by_top, span
from fhx.exact.stacks import decode, pop, push, sharpened

b, c, n, m, x, y = map(variable, ("b", "c", "n", "m", "x", "y"))
BASES = st.integers(3, 7)
NUMBERS = st.fractions(-2, 2, max_denominator=4)


def affine(atoms):
    return st.lists(st.tuples(NUMBERS, st.sampled_from(atoms)), max_size=4).map(
        lambda kept: sum_of(k * a for k, a in kept)
    )


@st.composite
def steps(draw):
    """Any step with two bits and two numbers, n with the top b, and m, which has none."""
    names = ("b", "c", "n", "m")
    arguments = st.builds(lambda e, k: e + k, affine([b, c, n, m, x, y]), st.integers(-1, 1))
    units = draw(
        st.lists(st.builds(lambda layer, e: layer(e), st.sampled_from([relu, slu]), arguments), min_size=2, max_size=5)
    )
    state = {name: draw(affine([b, n, x, *units])) + draw(NUMBERS) for name in names}
    return Step(state, ("x", "y"), dict.fromkeys(names, 0))


def somewhere(draw, low, high):
    return low + (high - low) * Fraction(draw(st.integers(0, 9)), 9)


@settings(max_examples=40)
@given(steps(), BASES, st.sets(st.sampled_from("bc")), st.sampled_from("xy"), st.data())
def test_a_piece_is_the_step_wherever_its_numbers_are_in_their_ranges(step, base, on, symbol, data):
    tops = {"n": "b", "m": None}
    piece = Specializer(step, tops, base).piece(frozenset(on), symbol)
    numbers = {name: somewhere(data.draw, *range_by_top(top in on, base)) for name, top in tops.items()}
    values = numbers | {name: int(name in on) for name in "bc"} | {name: int(name == symbol) for name in "xy"}
    assert {name: e.evaluate(numbers) for name, e in piece.items()} == {
        name: e.evaluate(values) for name, e in step.state.items()
    }


def test_gates_that_the_ranges_decide_leave_no_unit():
    closed, opened, undecided = relu(n + b - 1), relu(n - Fraction(2, 3) * b), relu(n - Fraction(5, 6) * b)
    step = Step({"b": const(0), "c": const(0), "n": closed, "m": opened + undecided}, ("x",), dict.fromkeys("bcnm", 0))
    by_bits = Specializer(step, {"n": "b", "m": None}, 3)
    assert by_bits.piece(frozenset(), "x") == {"b": const(0), "c": const(0), "n": const(0), "m": 2 * n}
    piece = by_bits.piece(frozenset("b"), "x")
    assert piece["n"] == n
    assert piece["m"] == n - Fraction(2, 3) + relu(n - Fraction(5, 6))


@given(affine([n, m]), NUMBERS, st.fractions(0, 1), st.fractions(0, 1))
def test_a_span_holds_every_value_and_is_no_wider(e, k, at_n, at_m):
    e, ranges = e + k, {"n": (Fraction(0), Fraction(1, 3)), "m": (Fraction(2, 3), Fraction(1))}
    low, high = span(e, ranges)
    assert low <= e.evaluate({"n": at_n / 3, "m": 1 - at_m / 3}) <= high
    corners = [e.evaluate({"n": p, "m": q}) for p in ranges["n"] for q in ranges["m"]]
    assert (low, high) == (min(corners), max(corners))


def stack_step(base):
    """A stack over p and q that pushes or pops what the input says, as on the left of a Turing machine's head."""
    steepest, flattest = (sharpened(const(v), base).constant for v in (1, 0))
    inputs = {a: variable(f"push {a}") for a in "pq"}
    popping, state = variable("pop"), {}
    for a, pushed in inputs.items():
        z, t = variable(a), variable(f"top {a}")
        popped = pop(z, t, base)
        state[a] = relu(push(z, pushed, base) + sum_of(inputs.values()) - 1) + relu(popped + popping - 1)
        state[f"top {a}"] = slu(sharpened(popped, base) + steepest * (popping - 1) + (steepest - flattest + 1) * pushed)
    return Step(state, ("push p", "push q", "pop"), dict.fromkeys(state, 0))


def stack_pieces(base):
    return Pieces(stack_step(base), variable("top p") - variable("top q"), [{"p": "top p", "q": "top q"}], base)


@given(st.lists(st.integers(0, 2), max_size=40), BASES)
def test_a_run_is_that_of_the_step_in_fractions(columns, base):
    pieces, word = stack_pieces(base), []
    expected = list(stack_step(base).run([[int(i == column) for i in range(3)] for column in columns]))
    assert list(islice(pieces.states(columns, 2), len(columns) + 1)) == expected
    assert list(islice(pieces.outputs(columns, 2), len(columns))) == [s["top p"] - s["top q"] for s in expected[1:]]
    for column in columns:
        word = word[1:] if column == 2 else ["pq"[column], *word]
    assert decode([expected[-1]["p"], expected[-1]["q"]], "pq", base) == tuple(word)


def test_the_answer_is_the_first_output_that_is_not_zero_after_the_columns():
    pieces = stack_pieces(3)
    assert pieces.answer([], 1, 5) == (-1, 1)
    assert pieces.answer([0, 1, 0], 2, 5) == (-1, 1)
    assert pieces.answer([1, 0, 0, 0], 2, 1) == (1, 1)
    assert pieces.answer([0], 2, 10_000) is None
    assert pieces.answer([0], 0, 0) is None


def test_code_holds_only_what_is_open():
    code = stack_pieces(3).source({"top p"}, "push q")
    assert "n0" not in code
    assert "h[1] = n1 + 2*d0" in code
    assert "key" not in code
    code = stack_pieces(3).source({"top p"}, "pop")
    assert "h[0] = n0 - 2*e0" in code
    assert "h[1]" not in code.split("return")[0].split("d0 = ")[1]
    assert code.count("> 0") == 4  # two units to find out each top
    assert "range" not in code  # it is proved


def test_it_is_written_once_for_each_pattern_and_survives_a_pickle(monkeypatch):
    pieces, written = stack_pieces(3), []
    original = pieces._written
    monkeypatch.setattr(pieces, "_written", lambda *pattern: written.append(pattern) or original(*pattern))
    run = [*([0] * 20), *([2] * 30), 1]
    expected = list(islice(pieces.states(run, 0), 60))
    assert len(written) == len(set(written)) < 10
    assert list(islice(pieces.states(run, 0), 60)) == expected
    assert len(written) == len(set(written))
    assert list(islice(pickle.loads(pickle.dumps(pieces)).states(run, 0), 60)) == expected


def one(state, start=None, out=b, stacks=({"n": "b"}, {"m": None}), base=3, inputs=("x",)):
    """Pieces of a step whose state stays, but for what is given."""
    state = {"b": relu(b), "n": relu(n), "m": relu(m)} | state
    return Pieces(Step(state, inputs, dict.fromkeys(state, 0) | (start or {})), out, stacks, base)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: one({"m": relu(relu(m) - n)}), "nests 2 units"),
        (lambda: one({}, stacks=[{"n": "z"}]), "the number 'n' has the top 'z'"),
        (lambda: one({}, stacks=[{"n": "m", "m": None}]), "the number 'n' has the top 'm'"),
        (lambda: one({}, stacks=[{"z": None}]), "the number 'z' has the top None"),
        (lambda: one({}, stacks=[{"n": "b"}, {"n": None}]), "a number is in two stacks"),
        (lambda: one({}, out=b + n), "the output depends on n, which are not bits"),
        (lambda: one({}, {"b": 2}), "the bit 'b' starts with 2"),
        (lambda: one({}, {"n": Fraction(2, 3)}), r"the number 'n' starts with 2/3, outside of \[0, 1/3\]"),
        (lambda: one({}, {"m": Fraction(1, 4)}), "1/4 is not a whole number over a power of 3"),
        (lambda: one({}, base=2), "the base must be an integer of at least 3"),
    ],
)
def test_what_has_no_pieces_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("state", "start", "message"),
    [
        ({"b": b + 2}, {}, "the bit 'b' becomes 2, neither 0 nor 1"),
        ({"b": 9 * relu(m - Fraction(1, 6))}, {"m": Fraction(2, 9)}, "a bit becomes neither 0 nor 1"),
        ({"b": 9 * m}, {"m": Fraction(2, 9)}, "a bit becomes neither 0 nor 1"),
        ({"m": 2 * m}, {"m": Fraction(1, 9)}, r"the number 'm' leaves its range \[0, 1/3\]"),
        ({"m": m - Fraction(1, 9)}, {"m": Fraction(1, 9)}, r"the number 'm' leaves its range \[0, 1/3\]"),
        ({"n": n + Fraction(1, 9), "b": relu(b)}, {}, r"the number 'n' leaves its range \[0, 1/3\]"),
        ({"b": 3 * m}, {"m": Fraction(1, 3)}, r"the number 'n' leaves its range \[2/3, 1\]"),
        ({"m": relu(m - Fraction(1, 9))}, {}, "the next 'm' depends on"),
        ({"m": m / 2}, {}, "1/2 is not a whole number over a power of 3"),
    ],
)
def test_a_run_that_leaves_what_it_relies_on_is_stopped(state, start, message):
    run = one(state, start).states([], 0)
    with pytest.raises(ValueError, match=message):
        list(islice(run, 5))


@pytest.mark.parametrize(("m_0", "bit"), [(0, 0), ("1/9", 0), ("2/9", 1), ("1/3", 1), ("4/27", None)])
def test_a_bit_is_found_at_both_ends_of_its_slope(m_0, bit):
    """The slu rises from 0 at 1/9 to 1 at 2/9."""
    rising = {"b": slu(9 * (variable("m") - Fraction(1, 9)))}
    run = one(rising, {"m": Fraction(m_0)}, stacks=[{"m": None}]).states([], 0)
    next(run)
    if bit is None:
        with pytest.raises(ValueError, match="neither 0 nor 1"):
            next(run)
    else:
        assert next(run)["b"] == bit


@given(st.integers(0, 9), st.integers(0, 81))
def test_a_stack_that_becomes_another_takes_its_denominator(first, second):
    """Also where it was shorter or longer; b stays 0, so both numbers lie below 1/3."""
    start = {"n": Fraction(first, 27), "m": Fraction(second, 243)}
    run = one({"n": relu(m), "m": relu(n)}, start).states([], 0)
    for t, state in enumerate(islice(run, 4)):
        assert (state["n"], state["m"]) == ((start["n"], start["m"]) if t % 2 == 0 else (start["m"], start["n"]))


def test_a_number_that_is_whole_is_divided_too():
    """1 is 0.222... in base 3: it can be popped for ever."""
    run = one({"n": 3 * n - 2 * b}, {"b": 1, "n": 1}).states([], 0)
    assert [state["n"] for state in islice(run, 5)] == [1] * 5


@settings(max_examples=30)
@given(st.integers(0, 9), st.integers(0, 9), st.integers(2, 3), st.integers(2, 3))
def test_numbers_of_two_stacks_are_added_whatever_their_denominators(i, j, k, l):
    start = {"n": Fraction(i, 3**k) / 9, "m": Fraction(j, 3**l) / 9, "b": 0}
    apart = {"n": (n + 2 * m) / 9, "m": n / 3 + m / 9 + Fraction(1, 27)}
    counted = {"b": slu(3 ** (k + l + 2) * (n + m) - 1)}
    for state in (apart, counted, apart | counted):
        stacks = [{"n": None}, {"m": None}]
        step = Step({"b": relu(b), "n": relu(n), "m": relu(m)} | state, ("x",), start)
        found = Pieces(step, b, stacks, 3).states([], 0)
        steps = 2 if state is not apart else 6  # what is counted is whole at first
        assert list(islice(found, steps)) == list(islice(step.run([[1]] * 5), steps))


@pytest.mark.parametrize("column", [-1, 1, 1.0, None, True])
def test_a_column_that_is_no_input_is_refused(column):
    for run in (one({}).outputs([column], 0), one({}).states([], column)):
        with pytest.raises(ValueError, match="is not one of the 1 inputs"):
            list(islice(run, 3))
    with pytest.raises(ValueError, match="is not one of the 1 inputs"):
        one({}).answer([], column, 3)


def test_the_documented_function_is_the_one_that_is_written():
    z, bit, x = variable("z"), variable("top"), variable("push")
    popped = pop(z, bit)
    state = {"top": x + slu(sharpened(popped) - 2 * x), "z": relu(push(z, x) + x - 1) + relu(popped - x)}
    pieces = Pieces(Step(state, ("push", "pop"), dict.fromkeys(state, 0)), bit, [{"z": "top"}], 3)
    assert indent(pieces.source(["top"], "pop").strip(), "    ") in codegen.__doc__
    assert list(islice(pieces.outputs([0, 0, 0], 1), 7)) == [1, 1, 1, 1, 1, 0, 0]

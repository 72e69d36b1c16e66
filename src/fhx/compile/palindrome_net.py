"""A stack in one number of a ReLU net: marked palindromes in real time, which no counters recognise."""

from fractions import Fraction

from fhx.compile.lemma import step_to_rnn
from fhx.exact import Recognizer, Step, relu, slu, sum_of, variable

__all__ = ["marked_palindromes"]


def marked_palindromes() -> Recognizer:
    r"""A simple RNN for :math:`w \# w^{\mathrm R}` with w over a and b, one net step for each symbol.

    The letters of w are the digits 1 (a) and 3 (b) of a number s in base 4, the last letter first; so s is 0, or in
    :math:`[\frac14, \frac12)`, or in :math:`[\frac34, 1)`. Before the mark, :math:`m_1 = 1`, letter number j = 0 or 1
    makes :math:`\frac14 (s + 2 j + 1)` of it. After it, :math:`m_2 = 1`, a letter has to be the one on top. For each
    letter let :math:`p = m_2 + x - 1`, which is 1 if it is popped and else at most 0; then

    .. math::

       R = \mathrm{relu}(4 s + 4 (p - 1)), \quad N = \mathrm{slu}(4 s + 4 (p - 1)), \quad
       T = \mathrm{slu}(4 s - 2 + 4 (p - 1))

    are all 0 unless it is popped, since s < 1; and if it is, they are :math:`4 s`, whether the stack has a letter, and
    whether that is b. So :math:`R - 2 T - N` is the rest of the stack, N - T says that a is right and T that b is. The
    word may end if this was the last letter, that is if s is exactly 1/4 or 3/4, which a tent of width 1/8 tells:
    there is no other s that close; or at the mark if s is 0. One layer does all this; the weights are whole but for
    fourths, and after n letters s has 2 n bits.

    Source: Siegelmann and Sontag (1995), "On the computational power of neural nets", for stacks in a number.
    """
    m1, m2, s = map(variable, ("before", "after", "stack"))
    x = {letter: variable(f"x={letter}") for letter in "ab#"}
    pushed, rest, right, last = [], [], [], []
    for j, letter in enumerate("ab"):
        push, p = m1 + x[letter] - 1, m2 + x[letter] - 1
        pushed.append(relu(s / 4 + Fraction(2 * j + 1, 4) + push - 1, f"push {letter}"))
        R, N, T = (f(4 * s - t + 4 * (p - 1)) for f, t in ((relu, 0), (slu, 0), (slu, 2)))
        rest.append(R - 2 * T - N)
        right.append(T if j else N - T)
        rise, fall = (slu(16 * s - (8 * j + t) + 16 * (p - 1)) for t in (3, 4))
        last.append(rise - fall)
    mark = m1 + x["#"] - 1
    step = Step(
        state={
            "before": relu(m1 + x["a"] + x["b"] - 1),
            "after": sum_of([relu(mark), *right]),
            "stack": sum_of([*pushed, relu(s + mark - 1), *rest]),
            "accepts": sum_of([relu(mark - 4 * s), *last]),
        },
        inputs=[f"x={letter}" for letter in "ab#"],
        h0={"before": 1, "after": 0, "stack": 0, "accepts": 0},
    )
    net = step_to_rnn(step, variable("accepts"))
    return Recognizer(net.rnn, net.V.dense()[0], net.c[0], "ab#", 1, net.decoder)

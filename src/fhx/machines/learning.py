r"""Learning a machine from queries: Angluin's L*, by AALpy, with a stated list of words as equivalence oracle."""

from collections.abc import Callable, Hashable, Iterable, Reversible
from typing import overload

from aalpy import SUL, Dfa, Oracle, run_Lstar
from attrs import field, frozen

from fhx.machines.dfa import DFA
from fhx.machines.validation import in_order
from fhx.machines.words import Symbol, Word, as_word, refuse_one_string

__all__ = ["LearnedDFA", "learn_dfa"]


@frozen
class LearnedDFA:
    """The result of L*.

    Attributes:
        dfa: the last hypothesis, minimal and canonical.
        complete: True if it agrees with the teacher on every word of the list; False if the next hypothesis would have
            had too many states.
        membership_queries: how many different words the teacher was asked about, those of the list included.
        equivalence_queries: how many hypotheses were compared with the list.
        counterexamples: the words of the list that refuted a hypothesis, in the order in which they were found.
    """

    dfa: DFA
    complete: bool
    membership_queries: int
    equivalence_queries: int
    counterexamples: tuple[Word, ...] = field(repr=False)


@overload
def learn_dfa(
    accepts: Callable[[str], object], alphabet: str, words: Iterable[str], max_states: int = 100
) -> LearnedDFA: ...
@overload
def learn_dfa(
    accepts: Callable[[Word], object], alphabet: Reversible[Symbol], words: Iterable[Word], max_states: int = 100
) -> LearnedDFA: ...
def learn_dfa(
    accepts: Callable[..., object], alphabet: Reversible[Symbol], words: Iterable[Word], max_states: int = 100
) -> LearnedDFA:
    r"""The machine that L* infers for a language from membership queries, with a list of words for equivalence queries.

    L* keeps a table of words :math:`s` and suffixes :math:`e` with the answers for :math:`se`, and takes words with
    different rows for different states. A hypothesis is compared with the list: the first word on which it differs from
    the teacher refutes it and yields a new suffix, by Rivest and Schapire's binary search. All this is deterministic,
    and the teacher is asked about each word once. The result agrees with the teacher on the list; beyond it nothing is
    known unless the list is long enough to tell any two machines in question apart, as all words of up to
    :math:`|Q_1| + |Q_2| - 2` symbols are.

    Args:
        accepts: the teacher, whose answer is read as true or false. A word comes as a string if all symbols are single
            characters, else as a tuple.
        alphabet: the symbols in their order.
        words: a finite list, which every equivalence query searches from its beginning; see :func:`word_sample`.
        max_states: no machine with more states is returned, so that learning ends even if the language is not regular.

    Raises:
        TypeError: the words are one string.
        ValueError: an empty alphabet, a word with a symbol outside the alphabet, or ``max_states`` below 2.

    Source: Angluin, Learning regular sets from queries and counterexamples (1987); Rivest and Schapire (1993).
    """
    symbols = in_order(alphabet, "symbols of the alphabet")
    refuse_one_string(words)
    listed = [tuple(word) for word in words]
    if not symbols or max_states < 2:
        raise ValueError(f"an alphabet with a symbol and at least 2 states are needed, not {symbols} and {max_states}")
    for word in listed:
        if outside := [symbol for symbol in word if symbol not in symbols]:
            raise ValueError(f"the word {as_word(word, symbols)!r} has {outside[0]!r}, outside the alphabet {symbols}")
    longest = max(map(len, listed), default=0)
    teacher = _Teacher(accepts, symbols, _max_queries(max_states, len(symbols), longest))
    oracle = _StatedWords(teacher, symbols, listed, max_states)
    try:
        run_Lstar(
            list(symbols),
            teacher,
            oracle,
            "dfa",
            cex_processing="rs",
            all_prefixes_in_obs_table=False,
            cache_and_non_det_check=False,
            print_level=0,
        )
    except _TooManyStatesError:
        complete = False
    else:
        complete = True
    found = tuple(as_word(word, symbols) for word in oracle.counterexamples)
    dfa = oracle.hypotheses[-1].canonical()
    return LearnedDFA(dfa, complete, len(teacher.answers), len(oracle.hypotheses), found)


class _TooManyStatesError(RuntimeError):
    """The next hypothesis has more states than were allowed."""


def _max_queries(states: int, symbols: int, longest: int) -> int:
    r"""How often L* asks at most to fill the table of a machine of :math:`n` states and to use its counterexamples.

    There are :math:`1 + n |\Sigma|` rows of at most :math:`n` suffixes, and at most :math:`n` counterexamples, each
    searched by halves.
    """
    return states * (1 + states * symbols) + states * (4 + longest.bit_length())


class _Teacher(SUL):
    """Answers about whole words, each asked for once, and no more than ``max_queries`` of them."""

    def __init__(self, accepts: Callable[..., object], alphabet: tuple[Symbol, ...], max_queries: int) -> None:
        super().__init__()
        self.accepts, self.alphabet, self.max_queries = accepts, alphabet, max_queries
        self.answers: dict[tuple[Symbol, ...], bool] = {}

    def answer(self, word: tuple[Symbol, ...]) -> bool:
        if word not in self.answers:
            self.answers[word] = bool(self.accepts(as_word(word, self.alphabet)))
        return self.answers[word]

    def query(self, word: tuple[Symbol, ...]) -> list[bool]:
        """The last output only: with one answer per cell of the table, L* reads no other."""
        self.num_queries += 1
        if self.num_queries > self.max_queries:
            raise _TooManyStatesError
        return [self.answer(tuple(word))]

    def pre(self) -> None:
        raise NotImplementedError("this teacher answers about whole words")

    post = pre

    def step(self, letter: Hashable) -> bool:
        raise NotImplementedError("this teacher answers about whole words")


class _StatedWords(Oracle):
    """Compares a hypothesis with a list of words, in order."""

    def __init__(
        self, teacher: _Teacher, alphabet: tuple[Symbol, ...], words: list[tuple[Symbol, ...]], max_states: int
    ) -> None:
        super().__init__(list(alphabet), teacher)
        self.teacher, self.words, self.max_states = teacher, words, max_states
        self.hypotheses: list[DFA] = []
        self.counterexamples: list[tuple[Symbol, ...]] = []

    def find_cex(self, hypothesis: Dfa) -> tuple[Symbol, ...] | None:
        """The first word of the list that refutes the hypothesis."""
        if hypothesis.size > self.max_states:
            raise _TooManyStatesError
        dfa = _from_aalpy(hypothesis, self.alphabet)
        self.hypotheses.append(dfa)
        refuting = next((word for word in self.words if dfa.accepts(word) != self.teacher.answer(word)), None)
        if refuting is not None:
            self.counterexamples.append(refuting)
        return refuting


def _from_aalpy(machine: Dfa, alphabet: tuple[Symbol, ...]) -> DFA:
    return DFA(
        [state.state_id for state in machine.states],
        alphabet,
        {
            (state.state_id, symbol): state.transitions[symbol].state_id
            for state in machine.states
            for symbol in alphabet
        },
        machine.initial_state.state_id,
        [state.state_id for state in machine.states if state.is_accepting],
    )

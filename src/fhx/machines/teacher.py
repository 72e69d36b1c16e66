"""What AALpy's L* asks: a teacher of words, and a list of words that it looks for counterexamples in."""

from collections.abc import Callable, Hashable, Reversible
from warnings import catch_warnings, simplefilter

from fhx.machines.dfa import DFA
from fhx.machines.words import Symbol, as_word

with catch_warnings():  # it writes "\\d", of which Python warns where the package has not been compiled before
    simplefilter("ignore", SyntaxWarning)
    simplefilter("ignore", DeprecationWarning)
    from aalpy import SUL, Dfa, DfaState, Oracle, run_Lstar

__all__ = ["Dfa", "DfaState", "StatedWords", "Teacher", "TooManyStatesError", "from_aalpy", "run_Lstar"]


class TooManyStatesError(RuntimeError):
    """The next hypothesis has more states than were allowed."""


class Teacher(SUL):
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
            raise TooManyStatesError
        return [self.answer(tuple(word))]

    def pre(self) -> None:
        raise NotImplementedError("this teacher answers about whole words")

    post = pre

    def step(self, letter: Hashable) -> bool:
        raise NotImplementedError("this teacher answers about whole words")


class StatedWords(Oracle):
    """Compares a hypothesis with a list of words, in order."""

    def __init__(
        self, teacher: Teacher, alphabet: tuple[Symbol, ...], words: list[tuple[Symbol, ...]], max_states: int
    ) -> None:
        super().__init__(list(alphabet), teacher)
        self.teacher, self.words, self.max_states = teacher, words, max_states
        self.hypotheses: list[DFA] = []
        self.counterexamples: list[tuple[Symbol, ...]] = []

    def find_cex(self, hypothesis: Dfa) -> tuple[Symbol, ...] | None:
        """The first word of the list that refutes the hypothesis."""
        if hypothesis.size > self.max_states:
            raise TooManyStatesError
        dfa = from_aalpy(hypothesis, self.alphabet)
        self.hypotheses.append(dfa)
        refuting = next((word for word in self.words if dfa.accepts(word) != self.teacher.answer(word)), None)
        if refuting is not None:
            self.counterexamples.append(refuting)
        return refuting


def from_aalpy(machine: Dfa, alphabet: Reversible[Symbol]) -> DFA:
    """The same machine, with its states in their order."""
    return DFA(
        [state.state_id for state in machine.states],
        alphabet,
        {
            (state.state_id, symbol): target.state_id
            for state in machine.states
            for symbol, target in state.transitions.items()
        },
        machine.initial_state.state_id,
        [state.state_id for state in machine.states if state.is_accepting],
    )

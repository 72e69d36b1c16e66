r"""Learning a machine from queries: Angluin's L*, by AALpy, with a stated list of words as equivalence oracle."""

from collections.abc import Callable, Iterable, Reversible
from typing import overload

from attrs import field, frozen

from fhx._extras import needs
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
        MissingExtraError: AALpy is missing, which the extra ``learn`` installs.
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
    with needs("learn"):
        from fhx.machines.teacher import StatedWords, Teacher, TooManyStatesError, run_Lstar  # machines need no AALpy
    teacher = Teacher(accepts, symbols, _max_queries(max_states, len(symbols), longest))
    oracle = StatedWords(teacher, symbols, listed, max_states)
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
    except TooManyStatesError:
        complete = False
    else:
        complete = True
    found = tuple(as_word(word, symbols) for word in oracle.counterexamples)
    dfa = oracle.hypotheses[-1].canonical()
    return LearnedDFA(dfa, complete, len(teacher.answers), len(oracle.hypotheses), found)


def _max_queries(states: int, symbols: int, longest: int) -> int:
    r"""How often L* asks at most to fill the table of a machine of :math:`n` states and to use its counterexamples.

    There are :math:`1 + n |\Sigma|` rows of at most :math:`n` suffixes, and at most :math:`n` counterexamples, each
    searched by halves.
    """
    return states * (1 + states * symbols) + states * (4 + longest.bit_length())

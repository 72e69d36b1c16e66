"""Names: every spelling of a language leads to one entry, and a name that is none is answered with those near it."""

import pytest

from fhx.machines import NAMED, TURING_MACHINES, UnknownNameError, tomita
from fhx.machines.names import ALIASES, NameTable
from fhx.tasks import LANGUAGES, formal_language, next_symbols


@pytest.mark.parametrize("table", [NAMED, LANGUAGES, TURING_MACHINES])
def test_ids_aliases_and_other_spellings_find_the_entry(table):
    for id_, entry in table.items():
        plain = id_.replace("-", " ").replace("^", "")
        for name in (id_, id_.upper(), id_.replace("-", "_"), plain, *ALIASES.get(id_, ())):
            assert name in table
            assert table[name] is entry


def test_one_language_however_it_is_written():
    for name in ("tomita 4", "tomita-4", "Tomita 4", "without 000"):
        assert NAMED[name] == tomita(4)
        assert LANGUAGES[name].name == formal_language(name, sizes=(1, 1, 1)).name == "tomita-4"
    assert NAMED["PARITY"] is NAMED["parity"]
    assert next_symbols("aⁿbⁿ").name == next_symbols("anbn").name == "a^n b^n, next"


def test_automata_and_predicates_share_their_ids_and_agree():
    shared = NAMED.keys() & LANGUAGES.keys()
    assert shared == {"(a|b)*abb", "parity", "tomita-3", "tomita-4", "tomita-6"}
    for id_ in shared:
        assert "".join(NAMED[id_].alphabet) == LANGUAGES[id_].alphabet
        for word in LANGUAGES[id_].words(50, (1, 12), 0):
            assert NAMED[id_].accepts(word) == LANGUAGES[id_].contains(word)


def test_every_alias_is_of_an_entry_and_of_no_other():
    assert ALIASES.keys() <= NAMED.keys() | LANGUAGES.keys()
    table = NameTable("language", dict.fromkeys((*NAMED, *LANGUAGES)))
    assert len(table._ids) == len(table) + sum(map(len, ALIASES.values()))


def test_an_unknown_name_is_answered_with_those_near_it():
    with pytest.raises(
        UnknownNameError, match=r"^there is no language 'dyck-2'; near it are dyck-1; .*NAMED$"
    ) as caught:
        formal_language("dyck-2")
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, KeyError)
    with pytest.raises(UnknownNameError, match=r"^there is no finite automaton 'tomita-8'; near it are tomita-\d, "):
        NAMED["tomita-8"]
    with pytest.raises(UnknownNameError, match=r"^there is no Turing machine '#'; there are palindromes, "):
        TURING_MACHINES["#"]
    with pytest.raises(UnknownNameError, match=r"^there is no finite automaton 4; there are "):
        NAMED[4]
    assert "tomita-8" not in NAMED
    assert NAMED.get("tomita-8") is None
    assert repr(LANGUAGES).startswith("NameTable('language', ['parity', ")


def test_a_table_says_where_else_to_look():
    with pytest.raises(UnknownNameError, match=r"no finite automaton 'a\^n b\^n'.*; .* in fhx\.tasks\.LANGUAGES$"):
        NAMED["a^n b^n"]
    with pytest.raises(UnknownNameError, match=r"no language 'S7'.*; .* in fhx\.machines\.NAMED$"):
        LANGUAGES["S7"]


def test_two_entries_with_one_name_are_refused():
    for ids in (("tomita-4", "Tomita 4"), ("parity", "odd number of ones")):
        with pytest.raises(ValueError, match=f"is a name of '{ids[0]}' and of '{ids[1]}'"):
            NameTable("language", dict.fromkeys(ids))

# Never ends when no word tells the two apart.
from itertools import count, product


def shortest_difference(left, right):
    for length in count():
        for letters in product("ab", repeat=length):
            word = "".join(letters)
            if left.accepts(word) != right.accepts(word):
                return word

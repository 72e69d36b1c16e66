"""Random words of brackets, shared by the tests of their machines and of their nets."""

from random import Random

from fhx.machines import bracket_pairs


def walk(k, m, length, faults, seed):
    """A word that keeps the rules but for a share of faults."""
    random, stack, word = Random(seed), [], []
    for _ in range(length):
        opening, closing = random.choice(bracket_pairs(k))
        if random.random() < faults:
            word.append(random.choice((opening, closing)))
        elif stack and (len(stack) >= m or random.random() < 0.5):
            word.append(stack.pop())
        else:
            word.append(opening)
            stack.append(closing)
    return word

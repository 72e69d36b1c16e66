"""A formula on one line of plain text, made of its MathML: ``h_t ≤ 10^{-6}`` is "hₜ ≤ 10⁻⁶".

An excerpt in a list of what was found has no room for a typeset formula, and its letters alone would say 10−6. What
Unicode has no small letter for is written with ``^`` or ``_``.
"""

from __future__ import annotations

import re

from lxml.html import HtmlElement

LOW = dict(zip("0123456789+−-=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))
HIGH = dict(
    zip(
        "0123456789+−-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW⊤",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵀ",
        strict=True,
    )
)
ITSELF = {"′": "′", "″": "″", "∗": "*", "*": "*"}  # raised already
ACCENTS = {"^": "\u0302", "~": "\u0303", "ˉ": "\u0304", "‾": "\u0304", "¯": "\u0304", "˙": "\u0307", "⃗": "\u20d7"}
BLACKBOARD = dict(zip("CENPQRZ", "ℂ𝔼ℕℙℚℝℤ", strict=True))
SUMS = {"∑", "∏", "∫"}
APPLIED = "\u2061"  # what MathML puts between a function and its argument
AFTER = "\u2062"  # what parts a fraction or a sum from a letter that follows
RELATION = re.compile(r"\s*([=≠<>≤≥≪≫≈∼≡∈∉⊂⊆⊃⊇→↦←⇒⇔⟶⟼]+|:=)\s*")
BINARY = re.compile(r"(?<=[\w)\]∣∥ₐ-ₜ₀-₉⁰-⁹ᵀ′])\s*([+−⋅×])\s*(?=\S)")
COMPOUND = re.compile(r"[\s+−/=≤≥,⋅×]")


def formula_line(math: HtmlElement) -> str:
    """The formula of a ``<math>`` element, on one line."""
    text = _line(math)
    text = re.sub(rf"{APPLIED}\s*(?=[(\[{{])", "", text).replace(APPLIED, " ")
    text = re.sub(rf"{AFTER}\s*(?=[\w∂∇√∑∏∫])", " ", text).replace(AFTER, "")
    text = RELATION.sub(r" \1 ", re.sub(r",(?=\S)", ", ", text))
    return re.sub(r" (?=[,.;)\]}])", "", " ".join(BINARY.sub(r" \1 ", text).split()))


def _line(node: HtmlElement) -> str:
    parts = [_line(child) for child in node]
    match node.tag, parts:
        case "msup", [base, high]:
            return _scripted(base, high=high)
        case (("msub" | "munder"), [base, low]):
            return _scripted(base, low)
        case (("msubsup" | "munderover"), [base, low, high]):
            return _scripted(base, low, high)
        case "mover", [base, over]:
            return base + (ACCENTS.get(over.strip(), "") if len(base) == 1 else "")
        case "mfrac", [above, below]:
            return f"{_whole(above)}/{_whole(below)}{AFTER}"
        case "mroot", [radicand, _]:
            return "√" + _whole(radicand)
        case "msqrt", _:
            return "√" + _whole("".join(parts))
        case ("mtable", _):
            in_columns = len(node) > 0 and len(node[0]) > 1 and not node.get("columnspacing", "1em").startswith("0em")
            return ("; " if in_columns else " ").join(_row(row, ", " if in_columns else " ") for row in node)
        case "mspace", _:
            return " "
        case (("mphantom" | "annotation"), _):
            return ""
        case "mi", [] if node.get("mathvariant") == "double-struck":
            return BLACKBOARD.get(node.text or "", node.text or "")
    return re.sub("[\u200b\u2063]", "", node.text or "") + "".join(parts)


def _row(row: HtmlElement, between: str) -> str:
    """A row of a matrix, or of equations below each other, which are parted where they are aligned."""
    return between.join(cell for cell in map(_line, row) if cell.strip())


def _scripted(base: str, low: str = "", high: str = "") -> str:
    """A letter, a sum or a function with what is below and above."""
    bare = base.strip(f" {APPLIED}")
    acts = bare != base or bare in SUMS
    return bare + _small(low, LOW, "_") + _small(high, HIGH | ITSELF, "^") + (AFTER if acts else "")


def _small(text: str, letters: dict[str, str], sign: str) -> str:
    """Raised or lowered: in small letters if there are any and it is no word, else after a sign."""
    text = " ".join(re.sub(f"[{APPLIED}{AFTER}]", " ", text).split())
    if not text:
        return ""
    close = text.replace(" ", "")
    if not (close.isalpha() and len(close) > 2) and all(letter in letters for letter in close):
        return "".join(letters[letter] for letter in close)
    return sign + (text if len(text) == 1 or (sign == "_" and text.isalnum()) else f"({text})")


def _whole(text: str) -> str:
    """In brackets where it is more than one thing."""
    text = text.strip(f" {AFTER}")
    return f"({text})" if COMPOUND.search(text) else text

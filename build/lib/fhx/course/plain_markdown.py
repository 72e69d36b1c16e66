"""From the book's Markdown to plain Markdown, which every notebook program shows.

Directives become headings and quotes, roles become the words that the rendered book has there, with links where there
is an address. What has no plain form is refused, so that none is left over by mistake.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from fhx.course import CourseError
from fhx.course.bibliography import Work
from fhx.course.book import Book, Target

__all__ = ["PlainMarkdown", "quoted"]

ADMONITIONS = (
    *("admonition", "attention", "caution", "danger", "error", "hint", "important", "note", "seealso", "tip"),
    "warning",
)
TOKEN = re.compile(
    r"^(?P<mark>`{3,}|:{3,})(?P<head>[^\n]*)\n(?P<body>.*?)^(?P=mark)[ \t]*$"
    r"|\$\$(?P<math>.+?)\$\$(?:[ \t]*\((?P<equation>[\w:.-]+)\))?"
    r"|^\([\w:.-]+\)=[ \t]*\n+(?P<label>)"
    r"|\{(?P<role>[\w:+-]+)\}`(?P<content>[^`]+)`"
    r"|(?P<code>(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|\[(?P<words>[^\]\[]*)\]\((?P<to>[\w-]+)\)",
    re.M | re.S,
)
DIRECTIVE = re.compile(r"\{(?P<name>[\w:+-]+)\}[ \t]*(?P<title>.*)")
OPTIONS = re.compile(r"\A(?::[\w-]+:[^\n]*\n)+\n*")
NEW_LINE = re.compile(r"\s*([-*+]|\d+[.)])\s|\s*[|>#]|\s*(```|~~~)|\s*\$\$|\s*<")
WITH_TARGET = re.compile(r"(?P<words>.+?)\s*<(?P<target>[^<>]+)>", re.S)


def quoted(text: str) -> str:
    """A Markdown quote, each paragraph and formula on one line: else its marks would enter the formulas."""
    text = re.sub(r"\$\$.+?\$\$", lambda formula: " ".join(formula[0].split()), text, flags=re.S)
    lines: list[str] = []
    code = False
    for line in text.strip().split("\n"):
        code ^= line.lstrip().startswith("```")
        goes_on = lines and lines[-1] and line.strip() and not lines[-1].startswith(("$$", "```"))
        if goes_on and not code and not NEW_LINE.match(line):
            lines[-1] += " " + line.strip()
        else:
            lines.append(line.rstrip())
    return "\n".join(f"> {line}".rstrip() for line in lines)


@dataclass(frozen=True)
class PlainMarkdown:
    """Turns the Markdown of one page of the book into plain Markdown.

    Attributes:
        book: what the references are about.
        page: the page, as ``notebooks/03-automata-in-integer-weights``.
        below: a line to set below the heading of an exercise, by its label.
    """

    book: Book
    page: str
    below: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, text: str) -> str:
        """The plain form.

        Raises:
            CourseError: there is a directive or role that has none, or a reference to nothing.
        """
        return re.sub(r"\n{3,}", "\n\n", TOKEN.sub(self._token, text)).strip()

    def _token(self, found: re.Match[str]) -> str:
        if found["code"] is not None or found["label"] is not None:
            return found["code"] or ""
        if found["math"] is not None:
            return self._equation(found["math"], found["equation"])
        if found["role"] is not None:
            return self._role(found["role"], " ".join(found["content"].split()))
        if found["to"] is not None:
            return self._reference(found["words"], self._target(found["to"]))
        directive = DIRECTIVE.match(found["head"])
        return self._directive(directive["name"], directive["title"].strip(), found["body"]) if directive else found[0]

    def _equation(self, formula: str, label: str | None) -> str:
        if label is None:
            return f"$${formula}$$"
        number = self._target(label).words.strip("()")
        end = "\n" if formula.endswith("\n") else ""
        return f"$${formula.rstrip()} \\tag{{{number}}}{end}$$"

    def _directive(self, name: str, title: str, body: str) -> str:
        options = OPTIONS.match(body)
        body = self(body[options.end() :] if options else body)
        found = re.search(r"^:label:[ \t]*(\S+)", options[0], re.M) if options else None
        label = found[1] if found else ""
        if name == "solution-start":
            return f"#### Solution of {self._target(title).words.lower()}\n\n{body}"
        if name == "solution-end":
            return ""
        if name == "exercise":
            line = f"{self.below[label]}\n\n" if label in self.below else ""
            return f"### {self._target(label).words}. {self(title)}\n\n{line}{body}"
        if name.startswith("prf:"):
            kind = self._target(label).words if label else name.removeprefix("prf:").capitalize()
            head = f"**{kind}** ({self(title)})" if title else f"**{kind}.**"
            end = ("\n\n∎" if body.endswith("```") else " ∎") if name == "prf:proof" else ""
            return quoted(f"{head}\n\n{body}{end}")
        if name in ADMONITIONS:
            return quoted(f"**{self(title) or name.capitalize()}.**\n\n{body}")
        raise CourseError(f"{self.page}: the directive {{{name}}} has no plain form")

    def _role(self, role: str, content: str) -> str:
        if role in ("cite:t", "cite:p"):
            works = [self._work(key.strip()) for key in content.split(",")]
            if role == "cite:p":
                return f"({'; '.join(work.parenthetical() for work in works)})"
            *more, last = [work.textual() for work in works]
            return f"{', '.join(more)} and {last}" if more else last
        explicit = WITH_TARGET.fullmatch(content)
        words, target = (explicit["words"], explicit["target"]) if explicit else ("", content)
        if role in ("ref", "numref", "eq", "prf:ref"):
            return self._reference(words, self._target(target))
        if role == "doc":
            return self._document(words, target)
        if role == "claim":
            return self.book.link(words or target, "book/claims", f"claim-{target}")
        if role == "term":
            return self.book.link(words or target, "book/notation")
        if role.startswith("py:"):
            return f"`{(words or target).removeprefix('~')}`"
        raise CourseError(f"{self.page}: the role {{{role}}} has no plain form")

    def _target(self, label: str) -> Target:
        if label.startswith("sol-"):
            label = "ex-" + label.removeprefix("sol-")
        if label not in self.book.targets:
            raise CourseError(f"{self.page} refers to {label!r}, and there is no such label in {self.book.folder}")
        return self.book.targets[label]

    def _work(self, key: str) -> Work:
        if key not in self.book.works:
            raise CourseError(f"{self.page} cites {key!r}, which the bibliography does not have")
        return self.book.works[key]

    def _reference(self, words: str, target: Target) -> str:
        """Where the words are the target's title they are set in quotation marks, and the chapter is named."""
        if words or re.match(r"\(|\w[\w.]* [\d.]+$", target.words):
            return self.book.link(words or target.words, target.page, target.anchor)
        title = self.book.link(f"“{self(target.words)}”", target.page, target.anchor)
        chapter = re.match(r"notebooks/0?(\d+)-", target.page)
        return title if chapter is None or target.page == self.page else f"{title}, chapter {chapter[1]}"

    def _document(self, words: str, path: str) -> str:
        page = path.removeprefix("/")
        if page not in self.book.titles:
            raise CourseError(f"{self.page} refers to the page {path!r}, and there is none")
        return self.book.link(words or f"“{self.book.titles[page]}”", page)

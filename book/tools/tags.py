"""Structure of a tagged PDF (ISO 32000-1, 14.7 and 14.8): headings, lists, tables and pictures, in reading order.

Chromium tags each file that it prints. :class:`Structure` joins the trees of several files under one root, as the
sheets are joined, so that a screen reader finds its way through the whole book.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pypdf import PageObject, PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    BooleanObject,
    DictionaryObject,
    NameObject,
    NumberObject,
    TextStringObject,
)


class Structure:
    """The joined structure of files whose sheets a writer has taken.

    Args:
        writer: what the sheets are added to. Its language becomes that of the first file.
    """

    def __init__(self, writer: PdfWriter) -> None:
        self.writer = writer
        self.root = DictionaryObject({NameObject("/Type"): NameObject("/StructTreeRoot")})
        self.parts, self.parents, self.names = ArrayObject(), ArrayObject(), ArrayObject()
        self.next = 0
        place = writer._add_object(self.root)
        lists = {"/Nums": self.parents}, {"/Names": self.names}
        numbers, names = (DictionaryObject({NameObject(key): value for key, value in each.items()}) for each in lists)
        self.root.update({NameObject("/K"): self.parts, NameObject("/ParentTree"): numbers})
        self.root[NameObject("/IDTree")] = names
        writer.root_object.update(
            {
                NameObject("/StructTreeRoot"): place,
                NameObject("/MarkInfo"): DictionaryObject({NameObject("/Marked"): BooleanObject(True)}),
                NameObject("/ViewerPreferences"): DictionaryObject(
                    {NameObject("/DisplayDocTitle"): BooleanObject(True)}
                ),
            }
        )

    def add(self, file: PdfReader, sheets: Sequence[PageObject]) -> None:
        """Take over the structure of a file, of which the writer has these sheets, in its order.

        Raises:
            ValueError: the file is not tagged.
        """
        old = file.root_object.get("/StructTreeRoot")
        if old is None:
            raise ValueError("a printed page is not tagged")
        self.writer.root_object.setdefault(NameObject("/Lang"), TextStringObject(file.root_object["/Lang"]))
        tree = old.get_object().clone(self.writer)
        for page, sheet in zip(file.pages, sheets, strict=True):
            if "/StructParents" in page:
                sheet[NameObject("/StructParents")] = NumberObject(self.next + page["/StructParents"])
            for link in (reference.get_object() for reference in sheet.get("/Annots", ())):
                if "/StructParent" in link:
                    link[NameObject("/StructParent")] = NumberObject(self.next + link["/StructParent"])
        for number, element in pairs(tree["/ParentTree"], "/Nums"):
            self.parents += [NumberObject(self.next + number), element]
        prefix = f"{len(self.parts):06}."  # names stay sorted
        for name, element in pairs(tree.get("/IDTree", DictionaryObject()), "/Names"):
            self.names += [TextStringObject(prefix + name), element]
        for element in elements(tree):
            rename(element, prefix)
        top = tree.raw_get("/K")
        for part in top if isinstance(top, ArrayObject) else [top]:
            part = part if hasattr(part, "idnum") else self.writer._add_object(part)
            part.get_object()[NameObject("/P")] = self.root.indirect_reference
            self.parts.append(part)
        self.next += tree["/ParentTreeNextKey"]
        self.root[NameObject("/ParentTreeNextKey")] = NumberObject(self.next)


def pairs(tree: Any, key: str) -> Iterator[tuple[Any, Any]]:
    """The entries of a number tree (``/Nums``) or a name tree (``/Names``), in order."""
    node = tree.get_object()
    for child in node.get("/Kids", ()):
        yield from pairs(child, key)
    entries = [*node.get(key, ())]  # as they stand: an element is known by its reference
    yield from zip(entries[::2], entries[1::2], strict=True)


def elements(node: Any) -> Iterator[DictionaryObject]:
    """All elements below a node of the structure, in reading order."""
    children = node.get("/K", ArrayObject())
    for child in children if isinstance(children, ArrayObject) else [children]:
        element = child.get_object()
        if isinstance(element, DictionaryObject) and "/S" in element:
            yield element
            yield from elements(element)


def rename(element: DictionaryObject, prefix: str) -> None:
    """Put a prefix before an element's name and before the names of the table headers that it refers to."""
    if "/ID" in element:
        element[NameObject("/ID")] = TextStringObject(prefix + element["/ID"])
    for attribute in element.get("/A", ()):
        if "/Headers" in attribute:
            names = attribute["/Headers"]
            attribute[NameObject("/Headers")] = ArrayObject(TextStringObject(prefix + name) for name in names)

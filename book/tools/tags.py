"""Structure of a tagged PDF (ISO 32000-1, 14.7 and 14.8): headings, lists, tables and pictures, in reading order.

Chromium tags each file that it prints. :class:`Structure` joins the trees of several files under one root, as the
sheets are joined, so that a screen reader finds its way through the whole book.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pikepdf import Array, Dictionary, Name, Object, Page, Pdf, String


class Structure:
    """The joined structure of files whose sheets another file has taken.

    Args:
        whole: what the sheets are added to. Its language becomes that of the first file.
    """

    def __init__(self, whole: Pdf) -> None:
        self.whole = whole
        self.parts, self.parents, self.names = Array(), Array(), Array()
        self.next = 0
        self.root = whole.make_indirect(
            Dictionary(
                Type=Name.StructTreeRoot,
                K=self.parts,
                ParentTree=Dictionary(Nums=self.parents),
                IDTree=Dictionary(Names=self.names),
            )
        )
        whole.Root.StructTreeRoot = self.root
        whole.Root.MarkInfo = Dictionary(Marked=True)
        whole.Root.ViewerPreferences = Dictionary(DisplayDocTitle=True)

    def add(self, file: Pdf, sheets: Iterable[Page]) -> None:
        """Take over the structure of a file, of which these sheets have been taken.

        Raises:
            ValueError: the file is not tagged.
        """
        if "/StructTreeRoot" not in file.Root:
            raise ValueError("a printed page is not tagged")
        if not self.parts:
            self.whole.Root.Lang = String(str(file.Root.Lang))
        tree = self.whole.copy_foreign(file.Root.StructTreeRoot)
        for sheet in sheets:
            if "/StructParents" in sheet:
                sheet.StructParents += self.next
            for link in sheet.get("/Annots", ()):
                if "/StructParent" in link:
                    link.StructParent += self.next
        for number, element in pairs(tree.ParentTree, "/Nums"):
            self.parents.extend([self.next + number, element])
        prefix = f"{len(self.parts):06}."  # names stay sorted
        for name, element in pairs(tree.get("/IDTree", Dictionary()), "/Names"):
            self.names.extend([String(prefix + str(name)), element])
        for element in elements(tree):
            rename(element, prefix)
        for part in listed(tree.K):
            part.P = self.root
            self.parts.append(part)
        self.next += tree.ParentTreeNextKey
        self.root.ParentTreeNextKey = self.next


def listed(children: Object | int) -> Iterable[Object | int]:
    """Children as a list, where one alone may stand for itself."""
    return children if isinstance(children, Array) else [children]


def pairs(node: Object, key: str) -> Iterator[tuple[Object | int, Object]]:
    """The entries of a number tree (``/Nums``) or a name tree (``/Names``), in order."""
    for child in node.get("/Kids", ()):
        yield from pairs(child, key)
    entries = [*node.get(key, ())]
    yield from zip(entries[::2], entries[1::2], strict=True)


def elements(node: Object) -> Iterator[Object]:
    """All elements below a node of the structure, in reading order."""
    for child in listed(node.get("/K", Array())):
        if isinstance(child, Dictionary) and "/S" in child:
            yield child
            yield from elements(child)


def rename(element: Object, prefix: str) -> None:
    """Put a prefix before an element's name and before the names of the table headers that it refers to."""
    if "/ID" in element:
        element.ID = String(prefix + str(element.ID))
    for attribute in element.get("/A", ()):
        if "/Headers" in attribute:
            attribute.Headers = Array(String(prefix + str(name)) for name in attribute.Headers)

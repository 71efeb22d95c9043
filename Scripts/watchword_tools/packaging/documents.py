"""Corrects the links of the documents in packages: the documents are in other folders there, and most files are not.

    python3 -m watchword_tools.packaging.documents FOLDER      FOLDER/PACKAGE/usr/share/doc/… holds the documents
"""
import os
import posixpath
import re
import sys

from watchword_tools import ROOT

# A link to a file, and not to another site or to a heading of the same page.
LINK = re.compile(r"\[((?:[^][]|\[[^][]*\])*)\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)")


def places(table):
    """Returns the package and the path of each document in Scripts/files, by its path in the project."""
    rows = [line.split() for line in table.splitlines() if line and not line.startswith("#")]
    return {source[1]: (package, path) for package, _, path, *source in rows if source[0] == "document"}


def relinked(text, document, installed):
    """Returns a document's text with links to other installed documents; the other links become text."""
    def link(match):
        words, name, anchor = match[1], match[2], match[3] or ""
        target = posixpath.normpath(posixpath.join(posixpath.dirname(document), name))
        if target not in installed:
            return words
        way = posixpath.relpath(installed[target][1], posixpath.dirname(installed[document][1]))
        return f"[{words}]({way}{anchor})"
    return LINK.sub(link, text)


def main(folder):
    with open(os.path.join(ROOT, "Scripts/files"), encoding="utf-8") as file:
        installed = places(file.read())
    for document, (package, path) in installed.items():
        with open(os.path.join(folder, package, "usr", path), "r+", encoding="utf-8") as file:
            text = relinked(file.read(), document, installed)
            file.seek(0)
            file.truncate()
            file.write(text)


if __name__ == "__main__":
    main(*sys.argv[1:])

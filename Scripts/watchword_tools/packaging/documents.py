"""Corrects the links of the documents in packages: the documents are in other folders there, and most files are not.

    python3 -m watchword_tools.packaging.documents FOLDER      FOLDER/PACKAGE/usr/share/doc/… holds the documents
"""
import os
import posixpath
import re
import sys

from watchword_tools import ROOT

# A link to a file or an image, and not to another site or to a heading of the same page.
LINK = re.compile(r"(!?)\[((?:[^][]|\[[^][]*\])*)\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)")


def rows(table):
    """Returns the package, the path and the source of each row of Scripts/files; the source is a list of words."""
    lines = [line.split() for line in table.splitlines() if line and not line.startswith("#")]
    return [(package, posixpath.join("/usr", path), source) for package, _, path, *source in lines]


def places(table):
    """Returns where each file of the project is installed."""
    return {source[-1]: path for _, path, source in rows(table) if source[0] not in ("program", "prints")}


def relinked(text, document, installed):
    """Returns a document's text with links to other installed files; the other links become text."""
    def link(match):
        kind, words, name, anchor = match[1], match[2], match[3], match[4] or ""
        target = posixpath.normpath(posixpath.join(posixpath.dirname(document), name))
        if target not in installed:
            return words
        way = posixpath.relpath(installed[target], posixpath.dirname(installed[document]))
        return f"{kind}[{words}]({way}{anchor})"
    return LINK.sub(link, text)


def main(folder):
    with open(os.path.join(ROOT, "Scripts/files"), encoding="utf-8") as file:
        table = file.read()
    installed = places(table)
    for package, path, source in rows(table):
        if source[0] != "document":
            continue
        with open(f"{folder}/{package}{path}", "r+", encoding="utf-8") as file:
            text = relinked(file.read(), source[1], installed)
            file.seek(0)
            file.truncate()
            file.write(text)


if __name__ == "__main__":
    main(*sys.argv[1:])

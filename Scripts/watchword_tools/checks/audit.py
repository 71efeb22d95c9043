"""The marked tables whose cells name functions: each name occurs in the file that is linked before it."""
import os
import re

from .linked import LINKED
from .tree import files_of, read, section

NAMED = section("named")
# The target of a link, or code that is not a link's text.
WORD = re.compile(r"\[[^]]*\]\(([^)#]+)[^)]*\)|`([^`]+)`")
PAGE = "Sources/Audit.md"


def missing_names(root):
    """Yields a complaint for each name in a marked table that the file linked before it in the cell lacks."""
    for path in files_of(root, "*.md"):
        for _, table, _ in NAMED.findall(read(root, path)):
            for cell in re.split(r"[|\n]", table):
                target = text = None
                for link, name in WORD.findall(cell):
                    if link:
                        target, text = link, contents(root, os.path.join(os.path.dirname(path), link))
                    elif text is not None and not re.search(rf"\b{re.escape(name)}\b", text):
                        yield f"{path}: {target}: does not contain {name}"


def contents(root, path):
    """The text of a linked file; empty if there is no such file, which causes a different complaint."""
    return read(root, path) if os.path.isfile(os.path.join(root, path)) else None


def wrong_programs(root):
    """Yields a complaint for each program whose row in the auditor's page is missing, or wrong about seccomp."""
    page = contents(root, PAGE)
    for program, linked in LINKED.items() if page is not None else []:
        cells = re.findall(rf"^\| `{program}`.*\| (.*) \|$", page, re.M)
        if not cells:
            yield f"{PAGE}: {program}: has no row"
        for cell in cells:
            if cell.startswith("—") == ("libseccomp" in linked):
                yield f"{PAGE}: {program}: only without libseccomp, the last cell begins with —"

"""The links of the Markdown files, of which Scripts/check-links reports the broken ones."""
import os
import re

from .tree import files_of, read

FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.S | re.M)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
LINK = re.compile(r"!?\[(?:[^][]|\[[^][]*\])*\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^]\n]+\]:\s*<?([^\s>]+)", re.M)
HEADING = re.compile(r"^#{1,6} +(.*?)(?: +#+)?$", re.M)


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    found = set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        name, number = anchor, 0
        while name in found:
            number += 1
            name = f"{anchor}-{number}"
        found.add(name)
    return found


def broken_links(root):
    """Yields a complaint for each relative link that leads nowhere."""
    for path in files_of(root, "*.md"):
        text = read(root, path)
        # A link's text may be code, so code becomes a word instead of disappearing.
        prose = CODE.sub("code", FENCE.sub("", text))
        for match in LINK.finditer(prose):
            link = match[1] or match[2]
            if re.match(r"[a-z][a-z0-9+.-]*:", link):
                continue
            name, _, anchor = link.partition("#")
            target = os.path.join(os.path.dirname(path), name) if name else path
            if not os.path.exists(os.path.join(root, target)):
                yield f"{path}: {link}: there is no such file"
            elif anchor and (not target.endswith(".md") or anchor not in anchors(read(root, target))):
                yield f"{path}: {link}: there is no such heading"

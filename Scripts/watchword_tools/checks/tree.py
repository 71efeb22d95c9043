"""The files of the tree that is checked, as Git lists them; the marked sections of its pages, and their examples."""
import os
import re
import subprocess


def files_of(root, *patterns):
    """Returns the paths of the tracked files and of those that Git does not ignore."""
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns],
        check=True, capture_output=True, text=True).stdout
    return sorted(path for path in listed.split("\0")
                  if path and os.path.isfile(os.path.join(root, path)))


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def section(name):
    """Returns a pattern for a page's section `name`: the marker before it, its text, and the marker after it."""
    return re.compile(rf"(<!-- {name}: .*? -->\n)(.*?)(<!-- end of {name} -->)", re.S)


def is_as_written(lines, written):
    """Whether the lines are as a page has them; "…" in the page matches anything within a line."""
    pattern = "\n".join(".*".join(map(re.escape, line.split("…"))) for line in written)
    return re.fullmatch(pattern, "\n".join(lines)) is not None

"""The files of the tree that is checked, as Git lists them."""
import os
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

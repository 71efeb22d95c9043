"""A small tree of files in a temporary folder, for the checks to look at."""
import pathlib
import subprocess
import tempfile


class Tree:
    """A Git working tree; its files change with `put` and return to their first content with `reset`."""

    def __init__(self, files):
        self.temporary = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.temporary.name)
        self.files = files
        subprocess.run(["git", "init", "-q", self.root], check=True)
        for path, text in files.items():
            self.put(path, text)

    def put(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def reset(self, path):
        (self.root / path).unlink()
        if path in self.files:
            self.put(path, self.files[path])

    def close(self):
        self.temporary.cleanup()

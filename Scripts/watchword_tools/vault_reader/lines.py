"""The lines of a text file in the vault's notation: words, numbers and Base64."""
import base64
import hashlib
import re


class Damaged(Exception):
    """The file does not match the format; the text names the place."""


def expect(condition, where):
    if not condition:
        raise Damaged(where)


def from_base64(text, count=None, where="base64"):
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        raise Damaged(where) from None
    expect(base64.b64encode(data).decode() == text, where)
    expect(count is None or len(data) == count, where)
    return data


def end_line(body):
    """Returns the last line, which contains the digest of everything before it."""
    return b"end " + base64.b64encode(hashlib.sha256(body).digest()) + b"\n"


def number(text, where, least=0, most=2**63 - 1):
    expect(re.fullmatch("0|[1-9][0-9]{0,18}", text), where)
    expect(least <= int(text) <= most, where)
    return int(text)


class Lines:
    """Reads the lines of the file in order."""

    def __init__(self, text):
        self.lines = text[:-1].split("\n")
        self.at = 0

    def next_is(self, word):
        return self.at < len(self.lines) and self.lines[self.at].startswith(word + " ")

    def where(self):
        return f"line {self.at + 1}"

    def take(self, word, count):
        """Reads a line `word …` and returns its `count` further words; if `count` is None, returns the rest unsplit."""
        expect(self.next_is(word), self.where())
        rest = self.lines[self.at][len(word) + 1:]
        words = rest.split(" ") if count is not None else [rest]
        expect(all(words) and (count is None or len(words) == count), self.where())
        self.at += 1
        return words

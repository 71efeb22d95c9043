"""The binary fields in a decrypted box."""
from .lines import Damaged, expect


class Fields:
    """Reads binary fields: big-endian numbers, and strings with a 32-bit length in front."""

    def __init__(self, data, where):
        self.data, self.at, self.where = data, 0, where

    def take(self, count):
        expect(self.at + count <= len(self.data), self.where)
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, count):
        return int.from_bytes(self.take(count), "big")

    def string(self, limit=65536):
        count = self.number(4)
        expect(count <= limit, self.where)
        return self.take(count)

    def text(self, limit=65536):
        try:
            return self.string(limit).decode("utf-8")
        except UnicodeDecodeError:
            raise Damaged(self.where) from None

    def end(self):
        expect(self.at == len(self.data), self.where)

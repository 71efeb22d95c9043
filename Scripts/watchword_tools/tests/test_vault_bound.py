"""Tests of format 4: a writer that was written from the document binds the records of a vault, and the reader opens them."""
import json
import struct
import unittest

from watchword_tools import ROOT
from watchword_tools.tests.bound_vault import BoundVault, string
from watchword_tools.tests.vault_files import PASSPHRASE
from watchword_tools.vault_reader.document import parse
from watchword_tools.vault_reader.lines import Damaged
from watchword_tools.vault_reader.records import enrolled_state
from watchword_tools.vault_reader.vault import verify

NAME = "every-kind-v2.vault"
DATA = (ROOT / "Vectors/vault" / NAME).read_bytes()
HOLDS = next(case["holds"] for case in json.loads((ROOT / "Vectors/vault/vaults.json").read_text())["cases"]
             if case["file"] == NAME)
KEYS = {BoundVault.device.hex(): BoundVault.secret}


class BoundTests(unittest.TestCase):
    def read(self, keys, **changes):
        vault = BoundVault(DATA, PASSPHRASE)
        for name, value in changes.items():
            setattr(vault, name, value)
        return verify(parse(vault.file()), vault.key, True, keys)

    def refused(self, where, keys=None, **changes):
        with self.subTest(**changes), self.assertRaisesRegex(Damaged, where):
            self.read(KEYS if keys is None else keys, **changes)

    def test_bound_records_open_with_the_key_of_their_device(self):
        bound = {0, 1, 3, 6}
        for keys in (KEYS, {}, {"00" * 16: BoundVault.secret}):
            expected = []
            for place, entry in enumerate(HOLDS["entries"]):
                if place in bound:
                    device = {"id": BoundVault.device.hex(), "binding": "file", "name": "Jörgs Rechner",
                              "state": entry.get("counter", 0)}
                    hidden = () if keys is KEYS else ("secret", "pin", "parameters", "counter")
                    entry = {name: value for name, value in entry.items() if name not in hidden} | {"device": device}
                expected.append(entry)
            self.assertEqual(self.read(keys, bound=bound) | {"attempts": []}, HOLDS | {"entries": expected})

    def test_an_inner_box_opens_only_as_what_it_was_sealed_as(self):
        self.assertTrue(self.read(KEYS))
        self.refused("^record", inner_device=bytes(16))
        self.refused("^record", inner_vault=b"vault AAAAAAAAAAAAAAAAAAAAAA==\n")
        self.refused("^record", inner_data=b"")
        self.refused("^record", word="tpm")
        for code in ({"digits": 9}, {"algorithm": "SHA512"}, {"period": 77}, {"start": 1}, {"kind": "secret"}):
            self.refused("^record", bound={0}, code=code)
        self.refused("^record", inner=lambda box: box[:-1] + bytes([box[-1] ^ 1]))
        self.refused("^record", {BoundVault.device.hex(): bytes(32)})

    def test_the_state_is_that_of_the_content(self):
        for place in (0, 1, 3):
            self.refused("^record", states={place: 7})

    def test_the_shape_of_an_inner_box_is_checked_without_the_key(self):
        for inner in (lambda box: b"", lambda box: box[:28], lambda box: box + b"x", lambda box: box[:-1]):
            self.refused("^record", {}, inner=inner)

    def test_the_format_is_the_one_that_the_records_require(self):
        for version in (2, 3):
            self.refused("^line 1$", version=version)
        self.refused("^line 1$", bound=set())

    def test_a_device_that_the_format_does_not_define_is_refused(self):
        for name in (b"", b"a\nb", b"x" * 65, b"\xff"):
            self.refused("^manifest$", name=name)
        for number in (0, 4):
            self.refused("^manifest$", number=number)

    def test_the_state_of_an_enrolled_secret(self):
        def form(generation, *fields):
            start = b"\1" + string(b"https://a") + string(b"") + string(b"cr") + struct.pack(">QQ", 5, generation)
            return start + b"".join(map(string, fields))

        key = b"\2" + string(b"https://a") + string(b"")
        for data, state in [
                (form(3, b"s", b"", b"", b""), 6), (form(3, b"s", b"n", b"", b""), 7),
                (form(3, b"s", b"n", b"t", b""), 8), (form(3, b"s", b"n", b"t", b"m"), 9),
                (form(2**62 - 2, b"s", b"n", b"", b""), 2**63 - 3), (form(2**62 - 1, b"s", b"n", b"", b""), 0),
                (key + string(b""), 2**63), (key + string(b"cr"), 2**63 + 1),
                (b"", 0), (b"\3", 0), (b"wws_what it says", 0), (form(3, b"s", b"n", b"t"), 0)]:
            with self.subTest(data):
                self.assertEqual(enrolled_state(data), state)

"""Tests of format 4. A writer made from the document binds the records of a vault in Vectors, and the reader opens it."""
import base64
import hashlib
import hmac
import json
import struct
import unittest

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from watchword_tools import ROOT
from watchword_tools.tests.vault_files import PASSPHRASE, with_end
from watchword_tools.vault_reader.boxes import hkdf, open_box
from watchword_tools.vault_reader.document import parse
from watchword_tools.vault_reader.lines import Damaged
from watchword_tools.vault_reader.records import enrolled_state
from watchword_tools.vault_reader.slots import vault_key
from watchword_tools.vault_reader.vault import verify

NAME = "every-kind-v2.vault"
DATA = (ROOT / "Vectors/vault" / NAME).read_bytes()
HOLDS = next(case["holds"] for case in json.loads((ROOT / "Vectors/vault/vaults.json").read_text())["cases"]
             if case["file"] == NAME)
DEVICE, SECRET = bytes(range(16)), bytes(range(32, 64))
KINDS = ["totp", "hotp", "secret", "enrolled", "motp", "yandex"]


def string(data):
    return struct.pack(">I", len(data)) + data


def padded(content):
    return string(content) + bytes(-len(string(content)) % 64)


def seal(key, plaintext, associated):
    nonce = hashlib.sha256(plaintext + associated).digest()[:12]
    return nonce + AESGCM(key).encrypt(nonce, plaintext, associated)


def base64_of(data):
    return base64.b64encode(data).decode()


class Writer:
    """Binds records of the vault; its attributes are what a faulty program could do otherwise."""

    def __init__(self):
        self.vault = parse(DATA)
        self.key = vault_key(self.vault, PASSPHRASE, None)
        self.bound = set(range(len(self.vault["records"])))
        self.version, self.word, self.number, self.name = 4, "file", 3, "Jörgs Rechner".encode()
        self.states, self.words, self.inner_vault = {}, {}, self.vault["line"]
        self.inner = lambda box: box

    def derived(self, purpose):
        return hkdf(self.key, self.vault["id"], b"watchword-vault 1 " + purpose)

    def device(self, purpose):
        return hkdf(SECRET, self.vault["id"], b"watchword-device 1 " + purpose)

    def file(self):
        header = self.vault["header"].replace(b"watchword-vault 2\n", b"watchword-vault %d\n" % self.version, 1)
        mac = b"mac " + base64.b64encode(hmac.digest(self.derived(b"header"), header, "sha256")) + b"\n"
        manifest = open_box(self.derived(b"manifest"), self.vault["manifest"], self.vault["mac_line"], "manifest")
        lines = []
        for place, record in enumerate(self.vault["records"]):
            sealed = base64_of(self.outer_box(place, record)) if place in self.bound else record["box64"]
            lines.append(f"sealed {record['id64']} {sealed}\n".encode())
            if place in self.bound:
                manifest = self.listed(manifest, place, record, sealed)
        box = base64.b64encode(seal(self.derived(b"manifest"), manifest, mac))
        return with_end(header + mac + b"".join(lines) + b"manifest " + box + b"\nchanges 0\n")

    def outer_box(self, place, record):
        key = self.derived(b"record" + record["id"])
        plaintext = open_box(key, base64.b64decode(record["box64"]), self.vault["line"] + record["line"], "record")
        word = self.words.get("device", base64_of(DEVICE))
        kind, state = KINDS.index(HOLDS["entries"][place]["kind"]) + 1, self.state(place)
        line = f"bound {record['id64']} {word} {self.word} {kind} {record['access']} {state}\n"
        associated = self.inner_vault + self.words.get("line", line).encode()
        inner = self.inner(seal(self.device(b"record" + record["id"]), plaintext, associated))
        return seal(key, padded(inner), self.vault["line"] + record["line"])

    def state(self, place):
        return self.states.get(place, HOLDS["entries"][place].get("counter", 0))

    def listed(self, manifest, place, record, sealed):
        """Adds the device to the record in the manifest."""
        at = manifest.index(record["id"] + struct.pack(">QB", record["revision"], 1)) + 24
        secret = bytes.fromhex(HOLDS["entries"][place]["secret"])
        fingerprint = hmac.digest(self.device(b"fingerprint"), secret, "sha256")[:16]
        device = DEVICE + bytes([self.number]) + string(self.name) + struct.pack(">Q", self.state(place))
        return manifest[:at] + b"\3" + hashlib.sha256(sealed.encode()).digest() + fingerprint + device + manifest[at + 49:]


class BoundTests(unittest.TestCase):
    def read(self, writer, keys):
        return verify(parse(writer.file()), writer.key, True, keys)

    def refused(self, where, change, keys=None):
        writer = Writer()
        change(writer)
        with self.assertRaisesRegex(Damaged, where):
            self.read(writer, {DEVICE.hex(): SECRET} if keys is None else keys)

    def test_bound_records_open_with_the_key_of_their_device(self):
        writer = Writer()
        writer.bound = {0, 1, 3, 6}
        for keys in ({DEVICE.hex(): SECRET}, {}, {"00" * 16: SECRET}):
            expected = []
            for place, entry in enumerate(HOLDS["entries"]):
                if place in writer.bound:
                    device = {"id": DEVICE.hex(), "binding": "file", "name": "Jörgs Rechner", "state": writer.state(place)}
                    hidden = () if DEVICE.hex() in keys else ("secret", "pin", "parameters", "counter")
                    entry = {name: value for name, value in entry.items() if name not in hidden} | {"device": device}
                expected.append(entry)
            self.assertEqual(self.read(writer, keys) | {"attempts": []}, HOLDS | {"entries": expected})

    def test_an_inner_box_opens_only_as_what_it_was_sealed_as(self):
        self.assertTrue(self.read(Writer(), {DEVICE.hex(): SECRET}))
        changes = [
            lambda writer: writer.words.update(device=base64_of(bytes(16))),
            lambda writer: setattr(writer, "word", "tpm"),
            lambda writer: setattr(writer, "inner_vault", writer.vault["line"].replace(b"vault ", b"vaults ")),
            lambda writer: setattr(writer, "inner", lambda box: box[:-1] + bytes([box[-1] ^ 1])),
            *(lambda writer, line=line: writer.words.update(line=line) for line in ("", "bound\n")),
        ]
        for change in changes:
            self.refused("^record", change)
        self.refused("^record", lambda writer: None, {DEVICE.hex(): bytes(32)})

    def test_the_state_is_that_of_the_content(self):
        for place in (0, 1, 3):
            self.refused("^record", lambda writer: writer.states.update({place: 7}))

    def test_the_shape_of_an_inner_box_is_checked_without_the_key(self):
        for inner in (lambda box: b"", lambda box: box[:28], lambda box: box + b"x", lambda box: box[:-1]):
            self.refused("^record", lambda writer: setattr(writer, "inner", inner), {})

    def test_the_format_is_the_one_that_the_records_require(self):
        for version in (2, 3):
            self.refused("^line 1$", lambda writer: setattr(writer, "version", version))
        self.refused("^line 1$", lambda writer: setattr(writer, "bound", set()))

    def test_a_device_that_the_format_does_not_define_is_refused(self):
        for name in (b"", b"a\nb", b"x" * 65, b"\xff"):
            self.refused("^manifest$", lambda writer: setattr(writer, "name", name))
        for number in (0, 4):
            self.refused("^manifest$", lambda writer: setattr(writer, "number", number))

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

"""Tests of the rules for what a vault's boxes contain, which only the vault key can change."""
import hashlib
import hmac
import struct
import unittest

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from watchword_tools.tests.vault_files import PASSPHRASE, changed, vault_bytes
from watchword_tools.vault_reader.boxes import open_box
from watchword_tools.vault_reader.document import parse
from watchword_tools.vault_reader.fields import Fields
from watchword_tools.vault_reader.lines import Damaged
from watchword_tools.vault_reader.manifest import read_history, read_listed, read_manifest
from watchword_tools.vault_reader.records import read_content, read_entry
from watchword_tools.vault_reader.slots import Wrong, recovery_key, vault_key
from watchword_tools.vault_reader.vault import read_vault, verify

RECOVERY_KEY = "JMMJ-42US-JFLN-GOOY-ZE7T-IJIB-LGZQ-W56O-PG5Y-24KL-CTJK-G7EY-YZ26-ZSRZ"


def string(data):
    return struct.pack(">I", len(data)) + data


def padded(content):
    text = string(content)
    return text + bytes(-len(text) % 64)


def listed(state=1, reason=1, issuer=b"Mill", account=b"alice", kind=1, algorithm=1, digits=6, period=30):
    """The manifest's bytes for one TOTP entry."""
    data = bytes(16) + struct.pack(">QB", 5, state)
    data += bytes(48) if state == 1 else struct.pack(">QB", 100, reason)
    data += struct.pack(">Q", 7) + string(issuer) + string(account) + bytes([kind, algorithm, digits])
    return data + struct.pack(">qq", period, -30)


def detailed(tags=(b"work",), count=None, note=b"n", icon=b"i", favourite=1, **others):
    """The bytes for one entry in a manifest of format 2."""
    data = listed(**others) + struct.pack(">Q", 99) + bytes(range(8))
    data += struct.pack(">I", len(tags) if count is None else count) + b"".join(map(string, tags))
    return data + string(note) + string(icon) + bytes([favourite])


class ManifestTests(unittest.TestCase):
    def read(self, data, version=1):
        fields = Fields(data, "manifest")
        entry = read_listed(fields, version)
        fields.end()
        return entry

    def test_an_entry_is_read(self):
        entry = self.read(listed(digits=0))
        self.assertEqual(
            [entry[name] for name in ("revision", "wiped", "created", "issuer", "account", "kind", "algorithm",
                                      "digits", "period", "start")],
            [5, None, 7, "Mill", "alice", "totp", "SHA1", 0, 30, -30])

    def test_a_wiped_entry_has_its_tombstone(self):
        self.assertEqual(self.read(listed(state=2, reason=5))["wiped"], {"time": 100, "reason": "account-closed"})

    def test_an_entry_of_format_2_has_details(self):
        entry = self.read(detailed(tags=("wörk".encode(), b"b")), 2)
        self.assertEqual([entry[name] for name in ("edited", "edited_in", "tags", "note", "icon", "favourite")],
                         [99, "0001020304050607", ["wörk", "b"], "n", "i", True])
        self.assertIs(self.read(detailed(favourite=0), 2)["favourite"], False)
        with self.assertRaises(Damaged):
            self.read(detailed())
        with self.assertRaises(Damaged):
            self.read(listed(), 2)

    def test_invalid_details_are_refused(self):
        numbered = [b"%d" % number for number in range(65)]
        for wrong in [{"tags": [b""]}, {"tags": [b" a"]}, {"tags": ["a\u3000".encode()]}, {"tags": [b"a", b"a"]},
                      {"tags": [b"a" * 257]}, {"tags": numbered}, {"count": 2}, {"note": b"n" * 16385},
                      {"icon": b"i" * 257}, {"favourite": 2}, {"note": b"\xff"}]:
            with self.subTest(wrong), self.assertRaisesRegex(Damaged, "^manifest$"):
                self.read(detailed(**wrong), 2)
        self.read(detailed(tags=numbered[1:], note=b"n" * 16384, icon=b"i" * 256), 2)
        self.read(detailed(tags=["a\u0308".encode(), "ä".encode(), b"a" * 256]), 2)

    def test_the_history_begins_with_the_save_of_the_file_and_its_generation_is_the_greatest(self):
        def read(generations):
            fields = Fields(struct.pack(">I", len(generations))
                            + b"".join(struct.pack(">Q", number) + bytes(8) for number in generations), "manifest")
            saves = read_history(fields, 9)
            fields.end()
            return [save["generation"] for save in saves]

        for generations in [[9], [9, 8, 1], [9, 3, 4]]:
            self.assertEqual(read(generations), generations)
        for generations in [[], [8], [9, 9], [9, 10], [9, 0], [9, 3, 3]]:
            with self.subTest(generations), self.assertRaisesRegex(Damaged, "^manifest$"):
                read(generations)

    def test_undefined_values_are_refused(self):
        for wrong in [{"state": 0}, {"state": 3}, {"state": 2, "reason": 0}, {"state": 2, "reason": 6}, {"kind": 0},
                      {"kind": 5}, {"algorithm": 0}, {"algorithm": 4}, {"digits": 11}, {"period": 0},
                      {"issuer": b"\xff"}, {"issuer": b"x" * 4097}, {"issuer": b" Mill"}, {"issuer": b"Mill "},
                      {"issuer": "\u2009".encode()}, {"account": b" alice"}, {"account": "alice\u3000".encode()}]:
            with self.subTest(wrong), self.assertRaisesRegex(Damaged, "^manifest$"):
                self.read(listed(**wrong))
        self.assertEqual(self.read(listed(period=1))["period"], 1)
        self.assertEqual(self.read(listed(issuer=b"", account=b"a b"))["account"], "a b")
        self.assertEqual(len(self.read(listed(issuer=b"x" * 4096))["issuer"]), 4096)


class ContentTests(unittest.TestCase):
    def test_the_content_of_each_kind_is_read(self):
        parameters = struct.pack(">I", 1) + string(b"image") + string(b"x")
        self.assertEqual(read_content(padded(b"any bytes"), "enrolled", "here"), {"secret": b"any bytes"})
        self.assertEqual(read_content(padded(string(b"key") + parameters), "totp", "here"),
                         {"secret": b"key", "parameters": [{"name": "image", "value": "x"}]})
        self.assertEqual(read_content(padded(struct.pack(">Q", 9) + string(b"key") + bytes(4)), "hotp", "here"),
                         {"counter": 9, "secret": b"key", "parameters": []})
        self.assertEqual(read_content(padded(string(b"key") + string(b"12")), "motp", "here"),
                         {"secret": b"key", "pin": b"12"})
        self.assertEqual(read_content(padded(string(b"key") + bytes(4)), "yandex", "here"), {"secret": b"key"})
        with self.assertRaises(Damaged):
            read_content(padded(string(b"key") + bytes(5)), "yandex", "here")

    def test_the_padding_is_the_shortest_and_consists_of_zeros(self):
        good, full = padded(b"secret"), padded(bytes(60))
        self.assertEqual(read_content(full, "secret", "here"), {"secret": bytes(60)})
        for bad in [good + bytes(64), full + bytes(64), good[:-1], good[:-1] + b"\1", string(b"secret")]:
            with self.subTest(bad), self.assertRaisesRegex(Damaged, "^here$"):
                read_content(bad, "secret", "here")

    def test_other_content_is_refused(self):
        pair = string(b"a") + string(b"b")
        many = struct.pack(">I", 65) + 65 * pair
        self.assertEqual(len(read_content(padded(string(b"key") + struct.pack(">I", 64) + 64 * pair), "totp",
                                          "here")["parameters"]), 64)
        for content in [string(b"key"), string(b"key") + bytes(5), string(b"key") + many]:
            with self.subTest(content[:20]), self.assertRaisesRegex(Damaged, "^here$"):
                read_content(padded(content), "totp", "here")
        with self.assertRaises(Damaged):
            read_content(padded(bytes(65537)), "secret", "here")


class BoxTests(unittest.TestCase):
    def test_a_box_opens_only_with_its_key_and_associated_data(self):
        key, nonce = bytes(32), bytes(12)
        box = nonce + AESGCM(key).encrypt(nonce, b"", b"line")
        self.assertEqual(len(box), 28)
        self.assertEqual(open_box(key, box, b"line", "here"), b"")
        for wrong in [(bytes(31) + b"\1", box, b"line"), (key, box, b"other"), (key, box[:-1], b"line"),
                      (key, b"", b"line"), (key, bytes(28), b"line")]:
            with self.subTest(wrong), self.assertRaisesRegex(Damaged, "^here$"):
                open_box(*wrong, "here")


class SlotTests(unittest.TestCase):
    def test_a_recovery_key_is_read_in_any_case_and_with_any_spaces(self):
        key = recovery_key(RECOVERY_KEY)
        self.assertEqual(len(key), 32)
        self.assertEqual(recovery_key(RECOVERY_KEY.lower().replace("-", " ") + "\n"), key)

    def test_a_mistyped_recovery_key_is_wrong(self):
        for text in ["", "1", RECOVERY_KEY[:-1], RECOVERY_KEY + "A", "K" + RECOVERY_KEY[1:], RECOVERY_KEY[:-5]]:
            with self.subTest(text), self.assertRaises(Wrong):
                recovery_key(text)

    def test_a_recovery_key_opens_the_same_vault_key_as_the_passphrase(self):
        vault = parse(vault_bytes("slots"))
        key = vault_key(vault, None, recovery_key(RECOVERY_KEY))
        self.assertEqual(key, vault_key(vault, PASSPHRASE, None))
        with self.assertRaises(Wrong):
            vault_key(vault, None, bytes(32))

    def test_a_slot_over_the_ceiling_is_refused_before_anything_is_spent(self):
        with self.assertRaisesRegex(Damaged, "^cost over the ceiling$"):
            read_vault(changed(vault_bytes("slots"), b"= 10 8 1 ", b"= 25 8 1 "), PASSPHRASE, None, False)

    def test_a_changed_vault_key_is_damage_and_not_a_wrong_passphrase(self):
        vault = parse(vault_bytes("empty"))
        vault["slots"][0]["vault_key"] = bytes(60)
        with self.assertRaisesRegex(Damaged, "^slot 1$"):
            vault_key(vault, PASSPHRASE, None)
        # With this public half, every agreement is zero.
        vault["slots"][0]["ephemeral"] = bytes(32)
        with self.assertRaisesRegex(Damaged, "^slot 1$"):
            vault_key(vault, PASSPHRASE, None)
        vault["slots"][0]["secret"] = bytes(92)
        with self.assertRaises(Wrong):
            vault_key(vault, PASSPHRASE, None)


class VerificationTests(unittest.TestCase):
    """Tests `verify` with the vault key, so that only the tested rule can refuse."""

    def setUp(self):
        self.vault = parse(vault_bytes("every-kind"))
        self.key = vault_key(self.vault, PASSPHRASE, None)

    def test_secrets_are_returned_only_on_request(self):
        for entry in verify(self.vault, self.key, False)["entries"]:
            self.assertNotIn("secret", entry)
        self.assertIn("secret", verify(self.vault, self.key, True)["entries"][0])

    def test_each_part_is_authenticated(self):
        first = self.vault["records"][0]["id"].hex()
        wrong_box = self.vault["records"][1]["box64"]
        changes = [
            ("header", lambda vault: vault.update(header=vault["header"] + b"\n")),
            ("manifest", lambda vault: vault.update(mac_line=vault["mac_line"] + b"\n")),
            ("manifest", lambda vault: vault["slots"].append(vault["slots"][0])),
            ("manifest", lambda vault: vault["slots"][0].update(number=9)),
            ("manifest", lambda vault: vault["records"].pop()),
            ("changes", lambda vault: vault.update(changes=1)),
            (f"record {first}", lambda vault: vault["records"][0].update(revision=99)),
            (f"record {first}", lambda vault: vault["records"][0].update(box64=wrong_box)),
            (f"record {first}", lambda vault: vault["records"][0].update(line=b"record\n")),
        ]
        for where, change in changes:
            vault = parse(vault_bytes("every-kind"))
            change(vault)
            with self.subTest(where), self.assertRaisesRegex(Damaged, f"^{where}$"):
                verify(vault, self.key, False)

    def test_a_record_matches_what_the_manifest_says(self):
        record, entry = self.vault["records"][0], read_manifest(self.vault, self.key)[0][0]
        read_entry(self.vault, self.key, record, entry, False)
        for name, value in [("id", bytes(16)), ("revision", 99), ("digest", bytes(32)), ("fingerprint", bytes(16)),
                            ("wiped", {"time": 1, "reason": "failures"})]:
            with self.subTest(name), self.assertRaises(Damaged):
                read_entry(self.vault, self.key, record, entry | {name: value}, False)

    def test_the_keys_are_those_of_the_document(self):
        # HKDF from its definition (RFC 5869), for the header key.
        extracted = hmac.digest(self.vault["id"], self.key, "sha256")
        header_key = hmac.digest(extracted, b"watchword-vault 1 header\1", "sha256")
        self.assertEqual(hmac.digest(header_key, self.vault["header"], hashlib.sha256), self.vault["mac"])

    def test_a_wiped_record_has_its_own_tombstone_and_no_box(self):
        vault = parse(vault_bytes("listed-tombstone"))
        key = vault_key(vault, PASSPHRASE, None)
        verify(vault, key, False)
        vault["records"][3]["tombstone"]["time"] += 1
        with self.assertRaises(Damaged):
            verify(vault, key, False)
        del vault["records"][3]["tombstone"]
        vault["records"][3]["box64"] = vault["records"][0]["box64"]
        with self.assertRaisesRegex(Damaged, "was wiped, but contains its secret"):
            verify(vault, key, False)

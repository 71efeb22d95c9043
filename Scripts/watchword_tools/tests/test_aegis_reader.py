"""Tests of the second reader of Aegis' format."""
import copy
import json
import unittest

from watchword_tools import ROOT
from watchword_tools.aegis_reader.vault import Malformed, WrongPassword, entries, read_file

PASSWORD = b"seven wooden ducks"


def vector():
    return json.loads((ROOT / "Vectors/exports/written/aegis-encrypted.json").read_text())


class AegisReaderTests(unittest.TestCase):
    def setUp(self):
        self.content = json.loads(read_file(vector(), PASSWORD))

    def test_the_password_opens_what_the_program_wrote(self):
        found = list(entries(self.content))
        self.assertEqual([entry["type"] for entry in found], ["totp", "hotp", "steam", "totp"])
        self.assertEqual(found[1], {
            "type": "hotp", "issuer": "Bank", "account": "bob", "note": "", "favourite": False, "tags": [],
            "secret": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "algo": "SHA1", "digits": 8, "counter": 7})

    def test_a_wrong_password_is_refused(self):
        with self.assertRaises(WrongPassword):
            read_file(vector(), PASSWORD + b"!")

    def test_a_changed_ciphertext_is_refused(self):
        changed = vector()
        changed["db"] = changed["db"][:100] + ("A" if changed["db"][100] != "A" else "B") + changed["db"][101:]
        with self.assertRaises(WrongPassword):
            read_file(changed, PASSWORD)

    def test_an_invalid_or_unknown_part_is_refused(self):
        for change in (lambda file: file["header"]["slots"][0].update(uuid="1"),
                       lambda file: file["header"]["slots"][0].update(n=1024),
                       lambda file: file["header"]["params"].update(nonce="00"),
                       lambda file: file.update(version=2), lambda file: file.update(more=1)):
            changed = vector()
            change(changed)
            with self.assertRaises(Malformed):
                read_file(changed, PASSWORD)

    def test_an_invalid_entry_is_refused(self):
        for change in (lambda entry: entry.update(uuid="x"), lambda entry: entry["info"].update(secret="abc="),
                       lambda entry: entry["info"].update(algo="MD5"), lambda entry: entry["info"].update(digits=11),
                       lambda entry: entry["info"].update(period=0)):
            content = copy.deepcopy(self.content)
            change(content["entries"][0])
            with self.assertRaises(Malformed):
                list(entries(content))


if __name__ == "__main__":
    unittest.main()

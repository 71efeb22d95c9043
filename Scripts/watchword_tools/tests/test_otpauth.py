"""Tests of the codes and URIs in the pictures, against the examples of the standards."""
import base64
import struct
import unittest
from urllib.parse import parse_qs, quote, urlsplit

from watchword_tools.pictures.otpauth import code, entry, field, migration, uri, varint

KEY = b"1234567890" * 7


class CodeTests(unittest.TestCase):
    def test_hotp_codes_are_those_of_rfc_4226_appendix_d(self):
        expected = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"]
        self.assertEqual([code(KEY[:20], count, "SHA1", 6) for count in range(10)], expected)

    def test_totp_codes_are_those_of_rfc_6238_appendix_b(self):
        for algorithm, length, expected in [
                ("SHA1", 20, ["94287082", "07081804", "14050471", "89005924", "69279037", "65353130"]),
                ("SHA256", 32, ["46119246", "68084774", "67062674", "91819424", "90698825", "77737706"]),
                ("SHA512", 64, ["90693936", "25091201", "99943326", "93441116", "38618901", "47863826"])]:
            times = [59, 1111111109, 1111111111, 1234567890, 2000000000, 20000000000]
            self.assertEqual([code(KEY[:length], time // 30, algorithm, 8) for time in times], expected)

    def test_steam_codes_have_five_characters_of_its_alphabet(self):
        # 1284755224 is RFC 4226's first intermediate value; Steam Guard writes it in base 26, lowest first.
        self.assertEqual(code(KEY[:20], 0, "SHA1", 5, steam=True), "GG5F5")


class EntryTests(unittest.TestCase):
    def test_the_code_belongs_to_the_secret_and_the_time(self):
        made = entry("Mill", "alice", period=60, time=119, length=32)
        key = base64.b32decode(made["secret"] + "=" * (-len(made["secret"]) % 8))
        self.assertEqual((len(key), made["code"]), (32, code(key, 1, "SHA1", 6)))
        self.assertNotEqual(entry("Mill", "bob", time=0)["secret"], entry("Mill", "alice", time=0)["secret"])

    def test_a_counter_replaces_period_and_time(self):
        made = entry("Mill", "alice", type="hotp", counter=7)
        self.assertEqual((made["counter"], "period" in made, "time" in made), (7, False, False))


class URITests(unittest.TestCase):
    def test_default_values_are_left_out(self):
        made = entry("A & B", "é", time=0)
        self.assertEqual(uri(made), f"otpauth://totp/A%20%26%20B:%C3%A9?secret={made['secret']}&issuer=A%20%26%20B")
        self.assertTrue(uri(made, escape=str).startswith("otpauth://totp/A & B:é?"))

    def test_other_values_are_written(self):
        for made, expected in [
                (entry("A", "b", algorithm="SHA256", digits=8, period=60, time=0),
                 {"algorithm": ["SHA256"], "digits": ["8"], "period": ["60"]}),
                (entry("A", "b", type="hotp", counter=0), {"counter": ["0"]}),
                (entry("A", "b", type="steam", digits=5, time=0), {})]:
            parts = urlsplit(uri(made, escape=quote))
            self.assertEqual((parts.scheme, parts.netloc, parts.path), ("otpauth", made["type"], "/A:b"))
            self.assertEqual(parse_qs(parts.query), {"secret": [made["secret"]], "issuer": ["A"]} | expected)


class MigrationTests(unittest.TestCase):
    def test_numbers_have_seven_bits_a_byte(self):
        for number, expected in [(0, b"\0"), (127, b"\x7f"), (128, b"\x80\1"), (300, b"\xac\2")]:
            self.assertEqual(varint(number), expected)
        self.assertEqual(field(1, 150) + field(2, b"testing"), b"\x08\x96\x01\x12\x07testing")

    def test_the_message_is_that_of_google_authenticator(self):
        # Fields in order: the entry (key, account, issuer, SHA-1, six digits, TOTP), version, size, index, ID.
        account = b"\x0a\x03abc\x12\x05alice\x1a\x04Mill\x20\x01\x28\x01\x30\x02"
        expected = b"\x0a\x18" + account + b"\x10\x01\x18\x02\x20\x00\x28\x05"
        made = entry("Mill", "alice", time=0) | {"secret": base64.b32encode(b"abc").decode().rstrip("=")}
        parts = urlsplit(migration([made], 2, 0, 5))
        self.assertEqual((parts.scheme, parts.netloc), ("otpauth-migration", "offline"))
        self.assertEqual(base64.b64decode(parse_qs(parts.query)["data"][0]), expected)

    def test_hash_functions_and_digits_are_exported_as_numbers(self):
        for algorithm, digits, expected in [("SHA1", 6, (1, 1)), ("SHA256", 8, (2, 2)), ("SHA512", 8, (3, 2))]:
            made = entry("A", "b", algorithm=algorithm, digits=digits, time=0)
            data = parse_qs(urlsplit(migration([made], 1, 0, 5)).query)["data"][0]
            self.assertIn(field(4, expected[0]) + field(5, expected[1]) + field(6, 2), base64.b64decode(data))

    def test_a_counter_is_exported(self):
        made = entry("A", "b", type="hotp", counter=41)
        data = parse_qs(urlsplit(migration([made], 2, 1, 5)).query)["data"][0]
        self.assertIn(field(6, 1) + field(7, 41) + field(2, 1) + field(3, 2) + field(4, 1), base64.b64decode(data))

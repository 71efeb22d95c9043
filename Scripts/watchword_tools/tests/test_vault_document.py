"""Tests of the rules for the lines of a vault file. The last line is correct, so each rule acts alone."""
import base64
import unittest

from watchword_tools.tests.vault_files import changed, vault_bytes, with_end
from watchword_tools.vault_reader.document import envelope, parse
from watchword_tools.vault_reader.lines import Damaged

SLOTS = vault_bytes("slots")  # slots 1 to 3 on lines 4 to 6, and a record on line 7
WIPED = vault_bytes("listed-tombstone")  # a slot, records on lines 5 to 8, and a tombstone on line 13
LATER = vault_bytes("later-slot")


class EnvelopeTests(unittest.TestCase):
    def test_the_text_is_returned(self):
        self.assertEqual(envelope(SLOTS), SLOTS.decode("ascii"))

    def test_the_message_says_what_is_wrong_with_the_first_or_last_line(self):
        cases = [
            (b"", "truncated"),
            (b"watchword-va", "truncated"),
            (b"# notes\n", "not a vault"),
            (b"watchword-vault 5\n", "made by a newer version"),
            (b"watchword-vault 2\n", "truncated or damaged"),
            (b"watchword-vault 2", "truncated"),
            (b"watchword-vault 01\n", "line 1"),
            (b"watchword-vault x\n", "line 1"),
            (b"watchword-vault 1\n", "truncated or damaged"),
            (SLOTS[:-1], "truncated or damaged"),
            (SLOTS + b"\n", "truncated or damaged"),
            (with_end(b"watchword-vault 1\n\xe9\n"), "not ASCII"),
            (with_end(b"watchword-vault 1\n" + b"x" * (64 << 20) + b"\n"), "too large"),
        ]
        for data, message in cases:
            with self.subTest(data[:30], message=message), self.assertRaisesRegex(Damaged, f"^{message}$"):
                envelope(data)


class DocumentTests(unittest.TestCase):
    def refused(self, data, changes):
        """Checks that each change is refused in the line that it breaks."""
        parse(data)
        for old, new, where in changes:
            with self.subTest(old, new=new), self.assertRaisesRegex(Damaged, f"^{where}$"):
                parse(changed(data, old, new))

    def test_the_lines_are_parsed(self):
        vault = parse(WIPED)
        self.assertEqual((vault["generation"], vault["changes"]), (6, 0))
        self.assertEqual([record["revision"] for record in vault["records"]], [2, 3, 4, 5])
        self.assertEqual(vault["records"][3]["tombstone"], {"time": 1795000100, "reason": "failures"})
        self.assertEqual(vault["header"] + vault["mac_line"], WIPED[:WIPED.index(b"\nsealed ") + 1])

    def test_each_line_occurs_exactly_once_and_in_order(self):
        self.refused(SLOTS, [
            (b"generation 2\n", b"", "line 3"),
            (b"generation 2\n", b"generation 2\ngeneration 2\n", "line 4"),
            (b"\nmac ", b"\nMAC ", "line 8"),
            (b"\nsealed ", b"\nopen ", "line 9"),
            (b"\nmanifest ", b"\n\nmanifest ", "line 10"),
            (b"changes 0\n", b"", "line 11"),
            (b"changes 0\n", b"changes 0\nchanges 0\n", "line 12"),
            (b"changes 0\n", b"changes 0\nend \n", "line 12"),
            (b"changes 0\n", b"changes 0\nend x\n", "line 13"),
        ])

    def test_numbers_outside_their_limits_are_refused(self):
        self.refused(SLOTS, [
            (b"generation 2\n", b"generation 0\n", "line 3"),
            (b"generation 2\n", b"generation 4611686018427387905\n", "line 3"),
            (b"slot 1 ", b"slot 0 ", "line 4"),
            (b"slot 3 ", b"slot 10000 ", "line 6"),
            (b"slot 3 ", b"slot 2 ", "line 6"),
            (b"= 10 8 1 ", b"= 9 8 1 ", "line 4"),
            (b"= 10 8 1 ", b"= 64 8 1 ", "line 4"),
            (b"= 10 8 1 ", b"= 10 9 1 ", "line 4"),
            (b"= 10 8 1 ", b"= 10 8 2 ", "line 4"),
            (b"== 2 per-unlock", b"== 3 per-unlock", "line 7"),
            (b"== 2 per-unlock", b"== 0 per-unlock", "line 7"),
        ])

    def test_the_access_control_of_a_record_is_one_of_the_defined_words(self):
        for text in ["per-use lock-out", "per-use:passphrase wipe:1", "per-use:pam wipe:100"]:
            parse(changed(SLOTS, b"per-unlock lock-out", text.encode()))
        self.refused(SLOTS, [
            (b"per-unlock", b"per-lock", "line 7"),
            (b"per-unlock", b"per-use:", "line 7"),
            (b"lock-out", b"lock", "line 7"),
            (b"lock-out", b"wipe", "line 7"),
            (b"lock-out", b"wipe:0", "line 7"),
            (b"lock-out", b"wipe:01", "line 7"),
            (b"lock-out", b"wipe:101", "line 7"),
            (b"lock-out", b"lock-out x", "line 7"),
        ])

    def test_records_and_their_boxes_belong_together(self):
        first, second = b"qMQSEWF0Lv5vKEazgBEpog==", b"0v0nBSjoFr/V8VQ/5hWAiA=="
        self.refused(WIPED, [
            (b"record " + second, b"record " + first, "line 6"),
            (b"sealed " + first, b"sealed " + second, "line 10"),
            (b" 1795000100 failures", b" 1795000100 boredom", "line 13"),
            (b" 1795000100 failures", b" -1 failures", "line 13"),
            (b"tombstone UTCb", b"tombstone UTCc", "line 13"),
        ])

    def test_a_vault_has_one_to_sixteen_slots(self):
        line = SLOTS[SLOTS.index(b"slot 3"):SLOTS.index(b"record")]

        def more(count):
            return b"".join(line.replace(b"slot 3", b"slot %d" % (4 + at)) for at in range(count)) + b"record"

        self.assertEqual(len(parse(changed(SLOTS, b"record", more(13)))["slots"]), 16)
        self.refused(SLOTS, [(b"record", more(14), "line 21")])
        start = SLOTS[:SLOTS.index(b"slot 1")]
        with self.assertRaisesRegex(Damaged, "^line 4$"):
            parse(with_end(start + SLOTS[SLOTS.index(b"record"):SLOTS.rindex(b"end ")]))

    def test_a_slot_has_the_words_of_its_method(self):
        public, key = SLOTS.split(b"\n")[3].split(b" ")[4], SLOTS.split(b"\n")[3].split(b" ")[-1]
        self.refused(SLOTS, [
            (b"slot 1 1795000000 ", b"slot 1 2 word %s %s\n" % (public, key), "line 4"),
            (b" 10 8 1 ", b" 10 8 1 1 ", "line 4"),
            (b" 10 8 1 ", b" 8 1 ", "line 4"),
            (b"KCgScg5+Ds8rEAzAkxVqPA== ", b"KCgScg5+Ds8rEAzAkxVqPA== 1 ", "line 5"),
            (b"KCgScg5+Ds8rEAzAkxVqPA== ", b"", "line 5"),
        ])

    def test_a_vault_has_at_most_100_000_records(self):
        box = b"sealed %s AA==\n"
        names = [base64.b64encode(number.to_bytes(16, "big")) for number in range(100_001)]
        start, end = SLOTS[:SLOTS.index(b"record")], SLOTS[SLOTS.index(b"manifest"):SLOTS.rindex(b"end ")]

        def filled(count):
            records = b"".join(b"record %s 1 per-unlock lock-out\n" % name for name in names[:count])
            return with_end(start + records + SLOTS[SLOTS.index(b"mac "):SLOTS.index(b"sealed")]
                            + b"".join(box % name for name in names[:count]) + end)

        self.assertEqual(len(parse(filled(100_000))["records"]), 100_000)
        with self.assertRaisesRegex(Damaged, "^line 100008$"):
            parse(filled(100_001))

    def test_a_slot_of_a_later_version_has_printable_parameters(self):
        later = next(slot for slot in parse(LATER)["slots"] if slot["method"] not in ("passphrase", "recovery-key"))
        self.assertNotIn("secret", later)
        method = b" %s " % later["method"].encode()
        line = LATER[:LATER.index(method)].count(b"\n") + 1
        self.refused(LATER, [
            (method, b" a\x1fb ", f"line {line}"),
            (method, b" \x7f ", f"line {line}"),
            (LATER.split(b"\n")[line - 1].split(b" ")[4], b"AA= \x7f", f"line {line}"),
            (LATER.split(b"\n")[line - 1].split(b" ")[5], b"\x7f", f"line {line}"),
        ])

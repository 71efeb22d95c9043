"""Tests of the rules for the file of attempts."""
import os
import pathlib
import tempfile
import unittest

from watchword_tools import ROOT
from watchword_tools.tests.vault_files import with_end
from watchword_tools.vault_reader.attempts import (
    SLOT, attempts_path, read_attempts, read_slot_of_attempts, with_attempts)
from watchword_tools.vault_reader.lines import Damaged

ID, OTHER = "l+ROVkpu4YyshUhwUTr0iw==", "IO7iz5suaSm/nt0SGK+qJg=="
BOOT = "AAAAAAAAAAAAAAAAAAAAAA=="
LOW, HIGH = "A" * 43 + "=", "/" * 42 + "8="


def slot(*lines, vault=ID, sequence=1, version=1):
    text = "\n".join([f"watchword-attempts {version}", f"vault {vault}", f"sequence {sequence}", *lines]) + "\n"
    return with_end(text.encode()).ljust(SLOT, b"\0")


def failures(refused, undecided, wait):
    return f"vault-failures {refused} {undecided} {wait} 8 {BOOT} 9"


class SlotOfAttemptsTests(unittest.TestCase):
    def accepted(self, *lines, **more):
        return read_slot_of_attempts(slot(*lines, **more))[2]

    def refused(self, *lines, **more):
        with self.subTest(lines, **more), self.assertRaises(Damaged):
            read_slot_of_attempts(slot(*lines, **more))

    def test_the_counts_are_read(self):
        vault, record = self.accepted(failures(2, 1, 0), f"vault-refusals {LOW} 2", f"record-failures {ID} 7 0 1 0 8 {BOOT} 9")
        self.assertEqual(vault, {"subject": "vault", "refused": 2, "undecided": 1, "wait": 0, "seen": 8,
                                 "boot": "00" * 16, "uptime": 9, "refusals": {"00" * 32: 2}})
        self.assertEqual((record["subject"], record["revision"]), ("97e44e564a6ee18cac854870513af48b", 7))

    def test_the_wait_is_at_most_what_the_attempts_cost(self):
        for count, limit in [(1, 0), (4, 0), (5, 60), (6, 300), (7, 900), (8, 1800), (9, 3600), (50, 3600)]:
            self.accepted(failures(count - 1, 1, limit))
            self.refused(failures(count - 1, 1, limit + 1))
        self.refused(failures(0, 0, 0))

    def test_refusals_are_in_order_and_add_up(self):
        self.accepted(failures(3, 0, 0), f"vault-refusals {LOW} 1", f"vault-refusals {HIGH} 2")
        self.refused(failures(3, 0, 0), f"vault-refusals {HIGH} 1", f"vault-refusals {LOW} 1")
        self.refused(failures(3, 0, 0), f"vault-refusals {HIGH} 1", f"vault-refusals {HIGH} 1")
        self.refused(failures(2, 0, 0), f"vault-refusals {LOW} 1", f"vault-refusals {HIGH} 2")
        self.refused(failures(3, 0, 0), f"vault-refusals {HIGH} 0")
        self.refused(f"vault-refusals {LOW} 1")
        five = [f"vault-refusals {letter * 42}8= 1" for letter in "BCDEF"]
        self.accepted(failures(9, 0, 0), *five[:4])
        self.refused(failures(9, 0, 0), *five)

    def test_records_are_in_order_and_at_most_ninety(self):
        def record(name):
            return f"record-failures {name} 1 1 0 0 8 {BOOT} 9"

        names = [f"AA{first}{second}AAAAAAAAAAAAAAAAAA==" for first in "ABCDEFGHIJ" for second in "ABCDEFGHIJ"]
        self.accepted(record(OTHER), record(ID))
        self.refused(record(ID), record(OTHER))
        self.refused(record(ID), record(ID))
        self.assertEqual(len(self.accepted(failures(1, 0, 0), *map(record, names[:90]))), 91)
        self.refused(failures(1, 0, 0), *map(record, names[:91]))

    def test_other_lines_are_refused(self):
        self.accepted()
        self.refused(version=2)
        for damage in [lambda text: text.replace(b"sequence 1", b"sequence 2"), lambda text: text[1:],
                       lambda text: text.rstrip(b"\0")[:-1], lambda text: text.replace(b"\nend", b"\nEND")]:
            with self.assertRaises(Damaged):
                read_slot_of_attempts(damage(slot()))
        self.refused(sequence=0)
        self.refused("notes")
        self.refused(failures(1, 0, 0), failures(1, 0, 0))


class AttemptsTests(unittest.TestCase):
    def test_the_valid_slot_with_the_greater_sequence_number_counts(self):
        one, two = slot(failures(1, 0, 0), sequence=1), slot(failures(2, 0, 0), sequence=2)
        vault = read_slot_of_attempts(one)[0]
        for data, refused in [(one + two, 2), (two + one, 2), (one + b"x" + two[1:], 1), (one, 1)]:
            self.assertEqual([found["refused"] for found in read_attempts(data, vault)], [refused])
        self.assertEqual(read_attempts(one + slot(failures(2, 0, 0), sequence=2, vault=OTHER), vault)[0]["refused"], 1)
        self.assertEqual(read_attempts(b"", vault), [])

    def test_the_file_is_in_the_outermost_watchword_folder(self):
        root = os.path.realpath("/nonexistent")
        expected = f"{root}/.watchword/by-id/00ff/attempts"
        for path in ["v", ".watchword/v", ".watchword/a/.watchword/v"]:
            self.assertEqual(attempts_path(f"{root}/{path}", {"vault": "00ff"}), expected)

    def test_a_missing_file_counts_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            vault = {"vault": "00" * 16}
            self.assertEqual(with_attempts(pathlib.Path(folder) / "none", vault), vault | {"attempts": []})
        vault = {"vault": "97e44e564a6ee18cac854870513af48b"}
        path = ROOT / "Vectors/vault/attempts-v1.vault.attempts"
        self.assertEqual(len(with_attempts(path, vault)["attempts"]), 3)

"""Tests of the check of the auditor's page."""
import unittest

from watchword_tools.checks.audit import PAGE, missing_names, wrong_programs
from watchword_tools.checks.linked import LINKED
from watchword_tools.tests.tree import Tree

ROWS = "".join(
    f"| `{program}` | [`Lock.swift`](Vault/Lock.swift) `count`, `save` "
    f"| {'filter' if 'libseccomp' in linked else '—'} |\n"
    for program, linked in LINKED.items())
TEXT = f"| `other` | [`Lock.swift`](Vault/Lock.swift) `other` |\n<!-- named: rows -->\n{ROWS}<!-- end of named -->\n"


class AuditTests(unittest.TestCase):
    def setUp(self):
        self.tree = Tree({"Sources/Vault/Lock.swift": "func count() { save() }\n// Lock.swift\n", PAGE: TEXT})
        self.addCleanup(self.tree.close)

    def test_names_that_occur_are_accepted(self):
        self.assertEqual(list(missing_names(self.tree.root)), [])
        self.assertEqual(list(wrong_programs(self.tree.root)), [])

    def test_a_name_that_does_not_occur_is_reported(self):
        self.tree.put(PAGE, TEXT.replace("`save`", "`saved`", 1))
        self.assertEqual(
            list(missing_names(self.tree.root)), [f"{PAGE}: Vault/Lock.swift: does not contain saved"])

    def test_a_program_without_a_row_is_reported(self):
        self.tree.put(PAGE, TEXT.replace("| `watchword-token`", "| `token`"))
        self.assertEqual(list(wrong_programs(self.tree.root)), [f"{PAGE}: watchword-token: has no row"])

    def test_a_row_that_is_wrong_about_seccomp_is_reported(self):
        for old, new in (("| — |", "| filter |"), ("| filter |", "| — |")):
            with self.subTest(new):
                self.tree.put(PAGE, TEXT.replace(old, new, 1))
                self.assertEqual(len(list(wrong_programs(self.tree.root))), 1)

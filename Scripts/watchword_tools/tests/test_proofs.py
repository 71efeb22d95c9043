"""Tests of the check of the tests that the documents name."""
import unittest

from watchword_tools.checks.proofs import unproved_claims
from watchword_tools.tests.tree import Tree

TESTS = {
    "Tests/VaultTests/LockOutTests.swift":
        'struct LockOutTests {\n    @Test("waits")\n    func steps() throws {}\n    func helper() {}\n}\n',
    "Tests/VaultTests/AgentTests.swift": "@Suite(.serialized)\nfinal class AgentTests {\n}\n",
}
PAGE = ("`LockOutTests.steps`, `AgentTests` and `VaultTests`; `x.Tests`\n<!-- proved: rows -->\n"
        "| attack | answer | other |\n|---|---|---|\n| guess | slow (`LockOutTests.steps`) | not stopped |\n"
        "<!-- end of proved -->\n| other | table |\n")
# Each is a replacement in the page, and the complaint that must follow.
BROKEN = {
    ("`AgentTests`", "`AgentsTests`"): "a.md: AgentsTests: there is no such test suite",
    ("`LockOutTests.steps`,", "`LockOutTests.helper`,"): "a.md: LockOutTests.helper: there is no such test",
    ("not stopped", "stopped"): "a.md: guess: no test is named for “stopped”",
}


class ProofTests(unittest.TestCase):
    def setUp(self):
        self.tree = Tree({**TESTS, "a.md": PAGE})
        self.addCleanup(self.tree.close)

    def test_tests_that_exist_are_accepted(self):
        self.assertEqual(list(unproved_claims(self.tree.root)), [])

    def test_each_missing_test_is_reported(self):
        for (old, new), expected in BROKEN.items():
            with self.subTest(new):
                self.tree.put("a.md", PAGE.replace(old, new, 1))
                self.assertEqual(list(unproved_claims(self.tree.root)), [expected])

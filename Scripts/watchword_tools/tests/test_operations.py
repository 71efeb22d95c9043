"""Tests that Operations.md, the alert rules and the dashboard use the names in the server's code."""
import re
import unittest

from watchword_tools import ROOT
from watchword_tools.checks.tree import files_of, read

COMMANDS = "Sources/Programs/ServerCommands"


class NameTests(unittest.TestCase):
    def test_the_manual_explains_each_event_of_the_log(self):
        said = {name for path in files_of(ROOT, f"{COMMANDS}/*.swift")
                for name in re.findall(r'\bsay\(\s*"([a-z-]+)"', read(ROOT, path))}
        rows = re.findall(r"^\| (`.*?) \|", read(ROOT, f"{COMMANDS}/Operations.md").split("\n## Log\n")[1], re.M)
        self.assertGreater(len(said), 20)
        self.assertLessEqual(said, set(re.findall(r"`([a-z-]+)`", " ".join(rows))))

    def test_rules_and_panels_ask_for_events_that_exist(self):
        source = read(ROOT, "Sources/Server/Verification/Events/Event.swift")
        kinds = set(re.findall(r"^        case (\w+)$", source.split("enum Kind:")[1].split("\n    }\n")[0], re.M))
        for name in ("alerts.yaml", "alerts-test.yaml", "dashboard.json"):
            with self.subTest(name):
                used = re.findall(r'kind=~?\\?"([\w|]+)', read(ROOT, f"{COMMANDS}/Monitoring/{name}"))
                self.assertLessEqual({kind for words in used for kind in words.split("|")}, kinds)
                self.assertGreater(len(used), 0)

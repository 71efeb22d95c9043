"""Tests of README.md: its size, its list of import formats, and the commands that another script takes from it."""
import re
import subprocess
import unittest

from watchword_tools import ROOT
from watchword_tools.checks.tree import read

README = read(ROOT, "README.md")
LIMIT = 12_000
NAME = re.compile(r'^ +case \.\w+: "(.+)"$', re.M)


def missing(names, text):
    """Returns the names that are not in the text. FreeOTP, for example, is missing if only FreeOTP+ is there."""
    absent = []
    for name in sorted(names, key=len, reverse=True):
        pattern = rf"(?<!\w){re.escape(name)}(?![\w+])"
        if not re.search(pattern, text):
            absent.append(name)
        text = re.sub(pattern, "", text)
    return sorted(absent)


class ReadmeTests(unittest.TestCase):
    def test_each_import_format_is_listed_by_the_name_that_the_programs_print(self):
        source = read(ROOT, "Sources/Exchange/Exports/Entries/ExportFormat.swift")
        names = NAME.findall(source)
        declared = re.findall(r"^    case (.+)$", source.split("var name: String")[0], re.M)
        self.assertEqual(len(names), len(", ".join(declared).split(", ")))
        found = README.split("\n## Import formats\n")[1].split("\n## ")[0]
        self.assertEqual(missing(names, found), [])
        self.assertIn(f"recognises {len(names)} formats", found)

    def test_a_name_that_is_only_part_of_a_longer_one_is_missing(self):
        self.assertEqual(missing(["A", "A B", "A+"], "A, A B and A+."), [])
        self.assertEqual(missing(["A", "A B", "A+"], "A B, A+ and BA"), ["A"])
        self.assertEqual(missing(["A", "A B", "A+"], "A"), ["A B", "A+"])

    def test_the_page_is_short(self):
        self.assertLess(len(README.encode()), LIMIT)

    def test_the_script_that_tries_the_packages_finds_the_commands_that_enable_the_module(self):
        expression = re.search(r"sed -n '(.*)' /srv/watchword/README\.md", read(ROOT, "Scripts/server/try"))[1]
        found = subprocess.run(
            ["sed", "-n", expression], input=README, check=True, capture_output=True, text=True).stdout
        self.assertTrue(found.startswith("sh -ec 'watchword-server status\npam-auth-update"), found)
        self.assertTrue(found.endswith("systemctl reload ssh'\n"), found)
        self.assertNotIn("sudo", found)

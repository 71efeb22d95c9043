"""Tests that the documents quote the measurements of RESULTS.md."""
import os
import re
import unittest

from watchword_tools import ROOT
from watchword_tools.checks.tree import read

RESULTS = "Tests/Benchmarks/RESULTS.md"


def text(path):
    """A document's text, with each run of white space as one space."""
    return " ".join(read(ROOT, path).split())


class FigureTests(unittest.TestCase):
    def test_documents_quote_the_single_measurements(self):
        section = read(ROOT, RESULTS).split("\n## Single measurements\n")[1].split("\n## ")[0]
        rows = re.findall(r"^\| ([^|]*) \| \[[^]]*\]\(([^)]*)\) \|", section, re.M)
        self.assertGreater(len(rows), 10)
        for figure, link in rows:
            with self.subTest(figure):
                self.assertIn(figure, text(os.path.normpath(os.path.join(os.path.dirname(RESULTS), link))))

    def test_the_example_of_scaling_follows_from_the_tables(self):
        page = text("Sources/Programs/ServerCommands/Operations.md")
        results = read(ROOT, RESULTS)
        rate = re.search(r"^\| verifications, 32 callers; `pgbench`.*?\| ([0-9,]+)/s \|", results, re.M)[1]
        scale = results.split("\n### Up to a million credentials on PostgreSQL\n")[1]
        ratio = re.search(r"with 1,000,000 credentials; with 1,000 \(32 callers\) .*?\| ([0-9.]+)× \|", scale)[1]
        # Two logins a day, a tenth of them in the busiest hour, and 260 bytes for each event.
        people = int(rate.replace(",", "")) * 36_000 / 2
        for words in (f"made {rate} decisions", f"[{ratio} of that]", f"about {people / 1e6:.0f} million people",
                      f"about {people * 2 * 260 / 1e9:.0f} GB a day"):
            with self.subTest(words):
                self.assertIn(words, page)

"""Tests of the check of the Markdown links."""
import unittest

from watchword_tools.checks.links import anchors, broken_links
from watchword_tools.tests.tree import Tree

PAGES = {
    "a.md": "# One, `two` & three\n## Again\n## Again\n[x](b/c.md) [`y`](b/c.md#top) [z](#one-two--three)\n"
            "[n](#again-1) [w](https://example.org/none) ![p](b)\n```\n[code](none.md)\n```\n`[c](none)`\n",
    "b/c.md": "# Top\n[back](../a.md#again)\n",
}
# Each is a line that is appended to a.md, and the complaint that must follow.
BROKEN = {
    "[x](none.md)\n": "none.md: there is no such file",
    "[x](b/c.md#bottom)\n": "b/c.md#bottom: there is no such heading",
    "[x](#again-2)\n": "#again-2: there is no such heading",
    "[`x`](#nowhere)\n": "#nowhere: there is no such heading",
    "[x][y]\n\n[y]: none.md\n": "none.md: there is no such file",
}


class LinkTests(unittest.TestCase):
    def setUp(self):
        self.tree = Tree(PAGES)
        self.addCleanup(self.tree.close)

    def test_links_that_lead_somewhere_are_accepted(self):
        self.assertEqual(list(broken_links(self.tree.root)), [])

    def test_each_broken_link_is_reported(self):
        for line, expected in BROKEN.items():
            with self.subTest(line):
                self.tree.put("a.md", PAGES["a.md"] + line)
                self.assertEqual(list(broken_links(self.tree.root)), [f"a.md: {expected}"])


class AnchorTests(unittest.TestCase):
    def test_anchors_are_those_that_github_makes(self):
        text = "# One, `two` & three\n## Again\n## Again\n### [A link](b.md) #\n```\n# code\n```\n#no\n"
        self.assertEqual(anchors(text), {"one-two--three", "again", "again-1", "a-link"})

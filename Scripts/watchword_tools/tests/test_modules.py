"""Tests of the rules of the module map: each is broken once in a tree that follows all of them."""
import unittest

from watchword_tools.checks.levels import LEVELS, SHARED, WRAPPING
from watchword_tools.checks.modules import LONGEST_FILE, check, without_comments_and_texts
from watchword_tools.tests.tree import Tree

# Each breaks one rule: a file, its new content, and part of the complaint that must follow.
BROKEN = [
    ("notes.md", "", "notes.md: does not belong"),
    ("Sources/Raster/Broken.swift", "internal import Cryptography\n", "imports Cryptography upward"),
    ("Sources/POSIX/Broken.swift", "public import Raster\n", "imports Raster sideways"),
    ("Sources/SecretVault/Broken.swift", "import Verification\n", "imports Verification sideways"),
    ("Sources/Commands/Broken.swift", "import watchword_reader\n", "imports watchword_reader upward"),
    ("Sources/POSIX/Broken.swift", "import COpenSSL\n", "imports COpenSSL, which"),
    ("Sources/POSIX/Broken.swift", "import CSQLite\n", "imports CSQLite, which"),
    ("Sources/Commands/Broken.swift", "internal import CPNG\n", "imports CPNG, but"),
    ("Sources/Commands/Broken.swift", "import Glibc\n", "imports Glibc, but"),
    ("Sources/Commands/Broken.swift", "@preconcurrency import func Glibc.exit\n", "imports Glibc, but"),
    ("Sources/POSIX/Broken.swift", "import Foundation\n", "imports Foundation"),
    ("Sources/Commands/Broken.swift", "import Observation\n", "imports Observation, which has no"),
    ("Sources/Interchange/Broken.swift", "let a = unsafe b\n", "uses unsafe, but"),
    ("Sources/Interchange/Broken.swift", "nonisolated(unsafe) var a = 1\n", "uses unsafe, but"),
    ("Sources/Interchange/Broken.swift", "@unsafe struct A {}\n", "uses unsafe, but"),
    ("Sources/Raster/Broken.swift", "fatalError()\n", "try!, try? or fatalError"),
    ("Sources/Raster/Broken.swift", "let a = try! b()\n", "try!, try? or fatalError"),
    ("Sources/Raster/Broken.swift", "let a = try? b()\n", "try!, try? or fatalError"),
    ("Sources/Drawer/Broken.swift", "let a = 1\n", "module Drawer has no level"),
    ("Sources/Raster/Broken.swift", "// TO" + "DO: finish\n", "unfinished work"),
    ("README.md", "| 4 | `PictureReader` |\n", "the module map does not show PostgreSQLStore on level 4"),
    ("Sources/README.md", "| 3 | `Interchange` | |\n", "the module map does not show PostgreSQLStore"),
    ("Sources/README.md", "| 4 | `Interchange` | |\n", "Interchange belongs on level 3"),
    ("Sources/README.md", "| 1 | `ImageFile` | |\n", "has a C library: ImageFile"),
    ("Sources/README.md", "| 1 | `Drawer` | |\n", "there is no module Drawer"),
    ("Tests/RasterTests/Broken.swift", "\n" * (LONGEST_FILE + 1), "lines; at most"),
]
# Files that must not cause a complaint.
VALID = [
    ("Sources/Commands/Valid.swift", "// unsafe and import Glibc, in a comment\nlet a = \"unsafe\"\n"),
    ("Sources/Commands/Valid.swift", "internal import SecretVault\nimport Synchronization\n"),
    ("Sources/POSIX/Valid.swift", "internal import Glibc\nlet a = unsafe b\n"),
    ("Sources/watchword/Valid.swift", "internal import Commands\n"),
    ("Sources/Raster/Valid.swift", "let a = try b()\nlet unsafely = fatalErrors\n"),
    ("Tests/RasterTests/Valid.swift", "\n" * LONGEST_FILE),
    (".editorconfig", ""),
]


def valid_tree():
    """Returns a tree that has every module and follows every rule."""
    files = {"README.md": "", "Sources/README.md": ""}
    for level, targets in enumerate(LEVELS):
        files["README.md"] += f"| {level} | {', '.join(f'`{target}`' for target in targets)} |\n"
        for target in targets:
            library = "a library" if target in WRAPPING else ""
            files["Sources/README.md"] += f"| {level} | `{target}` | {library} | what it does |\n"
            files[f"Sources/{target}/A.swift"] = "let a = 1\n"
    files["Sources/Cryptography/A.swift"] = "internal import COpenSSL\n"
    for target in SHARED["CSQLite"]:
        files[f"Sources/{target}/A.swift"] = "internal import CSQLite\n"
    return Tree(files)


class ModuleMapTests(unittest.TestCase):
    def setUp(self):
        self.tree = valid_tree()
        self.addCleanup(self.tree.close)

    def complaints_with(self, path, text):
        self.tree.put(path, text)
        found = check(self.tree.root)
        self.tree.reset(path)
        return found

    def test_a_tree_that_follows_every_rule_is_accepted(self):
        self.assertEqual(check(self.tree.root), [])

    def test_each_broken_rule_is_reported(self):
        for path, text, expected in BROKEN:
            with self.subTest(path, expected=expected):
                found = self.complaints_with(path, text)
                self.assertTrue(any(expected in complaint for complaint in found), found)

    def test_one_broken_import_causes_one_complaint(self):
        for path, text, _ in BROKEN[1:5]:
            with self.subTest(path, text=text):
                self.assertEqual(len(self.complaints_with(path, text)), 1)

    def test_files_that_only_look_like_violations_are_accepted(self):
        for path, text in VALID:
            with self.subTest(path, text=text[:40]):
                self.assertEqual(self.complaints_with(path, text), [])

    def test_ignored_files_are_not_checked(self):
        self.tree.put(".gitignore", "notes.md\n")
        self.assertEqual(self.complaints_with("notes.md", ""), [])


class CodeTests(unittest.TestCase):
    def test_comments_and_texts_disappear_and_line_breaks_remain(self):
        cases = [
            ("a // b\nc\n", "a \nc\n"),
            ("a /* b\nc */ d\n", "a \n d\n"),
            ('a = "b // \\" c" + d\n', "a =  + d\n"),
            ('a = """\n  b " c\n  """ + d\n', "a = \n\n + d\n"),
            ("a / b\n", "a / b\n"),
        ]
        for source, expected in cases:
            with self.subTest(source):
                self.assertEqual(without_comments_and_texts(source), expected)

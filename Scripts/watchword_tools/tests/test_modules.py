"""Tests of the rules of the module map: each is broken once in a tree that follows all of them."""
import unittest
from unittest.mock import patch

from watchword_tools.checks.modules import LONGEST_FILE, SYSTEM, Map, check, without_comments_and_texts
from watchword_tools.checks.parts import ARROWS, FOLDERS, LEVELS, SHARED
from watchword_tools.checks.tree import files_of
from watchword_tools.tests.tree import Tree

# Modules of the tree, besides those in FOLDERS.
MODULES = ["Core/OneTimePassword", "Vault/SecretVault", "Exchange/Exports", "Programs/Commands", "Programs/watchword",
           "Programs/watchword-reader"]
# Each breaks one rule: a file, its new content, and part of the complaint that must follow.
BROKEN = [
    ("notes.md", "", "notes.md: does not belong"),
    ("Sources/Verification/Broken.swift", "", "Sources/Verification: does not belong"),
    ("Sources/notes.md", "", "Sources/notes.md: does not belong"),
    ("Sources/Core/OneTimePassword/Broken.swift", "internal import SecretVault\n",
     "OneTimePassword: is in Core, which must not import SecretVault from Vault"),
    ("Sources/Exchange/Exports/Broken.swift", "import SecretVault\n", "must not import SecretVault from Vault"),
    ("Sources/Vault/SecretVault/Broken.swift", "public import Commands\n", "must not import Commands from Programs"),
    ("Sources/Programs/Commands/Broken.swift", "import watchword_reader\n", "imports the program watchword-reader"),
    ("Sources/Core/WatchwordSystem/Broken.swift", "import COpenSSL\n", "imports COpenSSL, but"),
    ("Sources/Core/ProcessConfinement/libseccomp/Broken.swift", "import CLinux\n", "imports CLinux, but"),
    ("Sources/Programs/Commands/Broken.swift", "internal import CPNG\n", "imports CPNG, but"),
    ("Sources/Programs/Commands/Broken.swift", "import Glibc\n", "imports Glibc, but"),
    ("Sources/Programs/Commands/Broken.swift", "@preconcurrency import func Glibc.exit\n", "imports Glibc, but"),
    ("Sources/Core/WatchwordSystem/Broken.swift", "import Foundation\n", "imports Foundation"),
    ("Sources/Programs/Commands/Broken.swift", "import Observation\n", "imports Observation, which is not"),
    ("Sources/Exchange/Exports/Broken.swift", "let a = unsafe b\n", "uses unsafe, but"),
    ("Sources/Exchange/Exports/Broken.swift", "nonisolated(unsafe) var a = 1\n", "uses unsafe, but"),
    ("Sources/Exchange/Exports/Broken.swift", "@unsafe struct A {}\n", "uses unsafe, but"),
    ("Sources/Core/JSONReading/Jansson/A.swift", "", "Core/JSONReading/Jansson does not import CJansson"),
    ("Sources/Exchange/PictureReading/Images/GLib/A.swift", "let a = 1\n", "GLib does not use unsafe"),
    ("Sources/Core/OneTimePassword/Broken.swift", "fatalError()\n", "try!, try? or fatalError"),
    ("Sources/Core/OneTimePassword/Broken.swift", "let a = try! b()\n", "try!, try? or fatalError"),
    ("Sources/Core/OneTimePassword/Broken.swift", "let a = try? b()\n", "try!, try? or fatalError"),
    ("Sources/Core/OneTimePassword/Broken.swift", "// TO" + "DO: finish\n", "unfinished work"),
    ("Tests/ExportsTests/Broken.swift", "\n" * (LONGEST_FILE + 1), "lines; at most"),
    ("Sources/Core/Drawer/Broken.swift", "", "Core/README.md: has 0 rows for Drawer"),
    ("Sources/Exchange/README.md", "| `ExportReading` | x | job |\n" * 2, "has 2 rows for ExportReading"),
    ("Sources/Exchange/README.md", "| `SecretVault` | | job |\n", "there is no module SecretVault in Exchange"),
    ("Sources/Exchange/README.md", "| `Exports` | libpng | job |\n", "Exports wraps no C library, but"),
    ("Sources/Exchange/README.md", "| `PictureReading` | | job |\n", "PictureReading wraps a C library, but"),
]
# Files that must not cause a complaint.
VALID = [
    ("Sources/Programs/Commands/Valid.swift", "// unsafe and import Glibc, in a comment\nlet a = \"unsafe\"\n"),
    ("Sources/Programs/Commands/Valid.swift", "internal import SecretVault\nimport Exports\nimport Synchronization\n"),
    ("Sources/Vault/SecretVault/Valid.swift", "internal import OneTimePassword\n"),
    ("Sources/Core/WatchwordSystem/Valid/Valid.swift", "internal import Glibc\nlet a = unsafe b\n"),
    ("Sources/Programs/watchword/Valid.swift", "internal import Commands\n"),
    ("Sources/Core/OneTimePassword/Valid.swift", "let a = try b()\nlet unsafely = fatalErrors\n"),
    ("Tests/ExportsTests/Valid.swift", "\n" * LONGEST_FILE),
    (".editorconfig", ""),
]


def valid_tree():
    """Returns a tree that has every folder that may call a library, and follows every rule."""
    files = {"README.md": "", "Sources/README.md": ""}
    wrapping = {}
    for folder, libraries in FOLDERS.items():
        module = "/".join(folder.split("/")[:2])
        wrapping[module] = wrapping.get(module, False) or bool(libraries - SYSTEM)
        files[f"Sources/{folder}/A.swift"] = "".join(f"import {name}\n" for name in sorted(libraries)) + "unsafe a()\n"
        files |= {f"Sources/CLibraries/{name}/module.modulemap": "" for name in libraries - SYSTEM}
    for module in MODULES:
        files[f"Sources/{module}/A.swift"] = "let a = 1\n"
    for part in ARROWS:
        modules = {*MODULES, *wrapping}
        files[f"Sources/{part}/README.md"] = "| module | C library | job |\n|---|---|---|\n" + "".join(
            f"| `{module.split('/')[1]}` | {'a library ' if wrapping.get(module) else ''}| what it does |\n"
            for module in sorted(modules) if module.startswith(f"{part}/"))
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
        for path, text, _ in BROKEN[3:14]:
            with self.subTest(path, text=text):
                self.assertEqual(len(self.complaints_with(path, text)), 1)

    def test_files_that_only_look_like_violations_are_accepted(self):
        for path, text in VALID:
            with self.subTest(path, text=text[:40]):
                self.assertEqual(self.complaints_with(path, text), [])

    def test_ignored_files_are_not_checked(self):
        self.tree.put(".gitignore", "notes.md\n")
        self.assertEqual(self.complaints_with("notes.md", ""), [])

    def test_modules_that_import_each_other_are_reported(self):
        self.tree.put("Sources/Core/OneTimePassword/B.swift", "import WatchwordSystem\n")
        found = self.complaints_with("Sources/Core/WatchwordSystem/B.swift", "import OneTimePassword\n")
        self.assertEqual(len(found), 1)
        self.assertIn("OneTimePassword, WatchwordSystem: they import each other", found[0])

    def test_too_many_levels_are_reported(self):
        page = "Sources/Core/README.md"
        rows = "".join(f"| `M{number}` | | job |\n" for number in range(LEVELS + 1))
        self.tree.put(page, self.tree.files[page] + rows)
        for number in range(LEVELS):
            self.tree.put(f"Sources/Core/M{number}/A.swift", f"import M{number - 1}\n" if number else "")
        found = self.complaints_with(f"Sources/Core/M{LEVELS}/A.swift", f"import M{LEVELS - 1}\n")
        self.assertEqual(found, [f"M{LEVELS}: is on level {LEVELS + 1} of the imports; at most {LEVELS} are allowed"])
        tree = Map(self.tree.root, files_of(self.tree.root))
        self.assertEqual([tree.levels()[name] for name in ("M0", "M1", "M2")], [1, 2, 3])

    def test_a_library_in_more_folders_than_the_table_says_is_reported(self):
        folder = {"Core/OneTimePassword": {"CZBar"}}
        with patch.dict(FOLDERS, folder):
            found = self.complaints_with("Sources/Core/OneTimePassword/B.swift", "import CZBar\n")
        self.assertIn("parts.py: 2 folders wrap CZBar, instead of 1", found)
        with patch.dict(SHARED, {"CZBar": 2}):
            self.assertEqual(check(self.tree.root), ["parts.py: 1 folders wrap CZBar, instead of 2"])


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

"""Tests of the rule about the shared libraries that a program may link."""
import unittest

from watchword_tools.checks.linked import LINKED, complaints, libraries

SECTION = """
Dynamic section at offset 0xa3c4f8 contains 31 entries:
  Tag        Type                         Name/Value
 0x0000000000000001 (NEEDED)             Shared library: [libcrypto.so.3]
 0x0000000000000001 (NEEDED)             Shared library: [libtss2-esys.so.0]
 0x0000000000000001 (NEEDED)             Shared library: [libm.so.6]
 0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]
 0x0000000000000001 (NEEDED)             Shared library: [ld-linux-x86-64.so.2]
 0x000000000000000e (SONAME)             Library soname: [libother.so.1]
 0x0000000000000015 (DEBUG)              0x0
"""


class LinkedLibraryTests(unittest.TestCase):
    def test_libraries_have_no_versions_and_the_c_library_does_not_count(self):
        self.assertEqual(libraries(SECTION), {"libcrypto", "libtss2-esys"})
        self.assertEqual(libraries(SECTION.replace("libm.so.6", "libstdc++.so.6")),
                         {"libcrypto", "libstdc++", "libtss2-esys"})

    def test_a_program_with_its_libraries_is_accepted(self):
        for program, allowed in LINKED.items():
            with self.subTest(program):
                self.assertEqual(list(complaints(program, allowed)), [])

    def test_each_other_library_is_reported(self):
        for program, allowed in LINKED.items():
            with self.subTest(program):
                [found] = complaints(program, allowed | {"libother"})
                self.assertIn(f"{program}: links libother", found)

    def test_a_library_that_is_not_linked_is_reported(self):
        [found] = complaints("watchword-clipboard", set())
        self.assertIn("does not link libcrypto", found)

    def test_a_program_without_a_row_is_reported(self):
        [found] = complaints("watchword-other", set())
        self.assertIn("watchword-other: has no row", found)

    def test_processes_with_keys_link_no_parser(self):
        for program in ("watchword", "watchword-agent"):
            self.assertLessEqual(LINKED[program], {"libcrypto", "libseccomp"})

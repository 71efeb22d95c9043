"""Tests of the files that Scripts/package writes itself, and of the list of packages."""
import datetime
import re
import unittest

from watchword_tools import ROOT
from watchword_tools.checks.tree import files_of, read
from watchword_tools.packaging import documents, spdx

TABLE = """\
# A comment.
one 644 share/doc/one/A.md document Sources/A.md
two 644 share/doc/two/B.md document Sources/Deep/B.md
two 644 lib/two.service    Scripts/two.service
two 600 /etc/two.conf      Scripts/two.conf
two 755 bin/two            program
two 644 share/man/two.1    prints two manual
"""
# Links in Sources/A.md, and what they become.
LINKS = {
    "[b](Deep/B.md#top)": "[b](../two/B.md#top)",
    "[`b`](../Sources/Deep/B.md)": "[`b`](../two/B.md)",
    "[here](#top)": "[here](#top)",
    "[site](https://example.org/B.md)": "[site](https://example.org/B.md)",
    "[code](Deep/Code.swift) and [other](Other.md#x)": "code and other",
    "[a [b] c](Deep/B.md)": "[a [b] c](../two/B.md)",
    "![An image](Deep/image.png)": "An image",
    "![A unit](../Scripts/two.service)": "![A unit](../../../lib/two.service)",
    "[unit](../Scripts/two.service) and [settings](../Scripts/two.conf)":
        "[unit](../../../lib/two.service) and [settings](../../../../etc/two.conf)",
}
# The libraries that programs load themselves, which dpkg-shlibdeps cannot see, and the packages that bring them.
LOADED = {
    "libcairo.so.2": "librsvg2-2",
    "libgdk_pixbuf-2.0.so.0": "libgdk-pixbuf-2.0-0",
    "libgif.so.7": "libgif7",
    "libglib-2.0.so.0": "libgdk-pixbuf-2.0-0",
    "libgobject-2.0.so.0": "libgdk-pixbuf-2.0-0",
    "libheif.so.1": "libheif1",
    "libpng16.so.16": "libpng16-16",
    "libpoppler-glib.so.8": "libpoppler-glib8",
    "libqrencode.so.4": "libqrencode4",
    "librsvg-2.so.2": "librsvg2-2",
    "libsystemd.so.0": "libsystemd0",
    "libtiff.so.6": "libtiff6",
}


class DocumentTests(unittest.TestCase):
    def test_links_lead_to_installed_documents_or_become_text(self):
        installed = documents.places(TABLE)
        self.assertEqual(installed, {
            "Sources/A.md": "/usr/share/doc/one/A.md", "Sources/Deep/B.md": "/usr/share/doc/two/B.md",
            "Scripts/two.service": "/usr/lib/two.service", "Scripts/two.conf": "/etc/two.conf"})
        for link, expected in LINKS.items():
            with self.subTest(link):
                self.assertEqual(documents.relinked(f"x {link}.", "Sources/A.md", installed), f"x {expected}.")


class SPDXTests(unittest.TestCase):
    def test_a_document_describes_the_package_and_what_it_links(self):
        time = datetime.datetime(2026, 11, 29, 10, 0, 0, tzinfo=datetime.timezone.utc)
        found = spdx.document("one", "1~git2", {("libc6", "2.36-9+deb12u14", "DYNAMIC_LINK"),
                                                ("swift", "6.3.1", "STATIC_LINK")}, time, "bookworm")
        self.assertEqual(found["creationInfo"]["created"], "2026-11-29T10:00:00Z")
        self.assertEqual([package["name"] for package in found["packages"]], ["one", "libc6", "swift"])
        self.assertEqual(
            [(link["relationshipType"], link["relatedSpdxElement"]) for link in found["relationships"]],
            [("DESCRIBES", "SPDXRef-one"), ("DYNAMIC_LINK", "SPDXRef-libc6"), ("STATIC_LINK", "SPDXRef-swift")])
        [reference] = found["packages"][1]["externalRefs"]
        self.assertEqual(reference["referenceLocator"], "pkg:deb/debian/libc6@2.36-9%2Bdeb12u14?distro=bookworm")

    def test_only_programs_in_swift_contain_its_runtime(self):
        self.assertEqual(spdx.static(["a/pam_watchword.so"], "14"), (set(), False))
        self.assertEqual(spdx.static(["a/watchword-reader"], "14"),
                         ({"libgcc-14-dev", "libstdc++-14-dev", "libzbar-dev"}, True))


class ListTests(unittest.TestCase):
    def setUp(self):
        self.packages = re.findall(r"^Package: (.*)$", read(ROOT, "Scripts/debian/control"), re.M)
        self.rows = [line.split() for line in read(ROOT, "Scripts/files").splitlines() if line and line[0] != "#"]

    def test_each_library_that_a_program_loads_itself_is_in_a_package(self):
        found = set()
        for path in files_of(ROOT, "Sources/*.swift", "Sources/*.c"):
            found |= set(re.findall(r'"(lib[\w.+-]+\.so\.\d+)"', read(ROOT, path)))
        self.assertEqual(found, set(LOADED))
        named = set(re.findall(r"[\w.+-]+", read(ROOT, "Scripts/debian/control")))
        self.assertLessEqual(set(LOADED.values()), named)

    def test_each_package_has_files_and_each_file_a_package(self):
        self.assertEqual({row[0] for row in self.rows}, set(self.packages))
        self.assertEqual(len({row[2] for row in self.rows}), len(self.rows))

    def test_each_file_to_install_has_a_source(self):
        built = set(re.findall(r'\.executable\(name: "([\w-]+)"', read(ROOT, "Package.swift"))) | {"pam_watchword.so"}
        installed = {path.split("/")[-1] for _, _, path, *source in self.rows if source == ["program"]}
        self.assertEqual(installed, built)
        printing = {source[1] for _, _, _, *source in self.rows if source[0] == "prints"}
        self.assertLessEqual(printing, built)
        files = {source[-1] for _, _, _, *source in self.rows if source[0] not in ("program", "prints")}
        self.assertLessEqual(files, set(files_of(ROOT)))

    def test_each_unit_is_installed_and_stopped(self):
        for folder, package in (("server", "watchword-server"), ("system-agent", "watchword-system-agent")):
            paths = files_of(ROOT, f"Scripts/{folder}/*.service", f"Scripts/{folder}/*.socket")
            units = {path.split("/")[-1] for path in paths if "@" not in path}
            self.assertGreater(len(units), 1)
            for script in ("Scripts/package", f"Scripts/debian/{package}.prerm"):
                with self.subTest(script):
                    self.assertLessEqual(units, set(re.findall(r"[\w.-]+", read(ROOT, script))))

"""The files of the pages, as the server sends them."""
import re
import unittest

from support import MILL, BrowserTest

POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'")
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Permissions-Policy": "publickey-credentials-create=(self), publickey-credentials-get=(self)",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
FILES = {"/ui/enrol": "text/html", "/ui/sign-in": "text/html", "/ui/page.js": "text/javascript",
         "/ui/page.css": "text/css"}
# What a page must not contain: other hosts, and script or style beside its files.
INLINE = r"https?://|<style|\sstyle=|\son\w+=|<script(?! type=\"module\" src)|javascript:"


class PageFileTests(BrowserTest):
    def test_every_file_has_the_headers(self):
        for path, kind in FILES.items():
            status, headers, content = self.server.fetch("GET", path)
            self.assertEqual((status, headers["Content-Type"]), (200, kind + "; charset=utf-8"), path)
            for name, value in HEADERS.items():
                self.assertEqual(headers.get_all(name), [value], f"{path} {name}")
            self.assertTrue(content)

    def test_pages_have_no_inline_script_or_style_and_name_no_other_host(self):
        for path in FILES:
            content = self.server.fetch("GET", path)[2].decode()
            self.assertEqual(re.findall(INLINE, content), [], path)

    def test_the_page_can_create_neither_markup_nor_script_from_text(self):
        self.tab.open(MILL + "/ui/sign-in")
        self.assertEqual(self.tab.run("document.body.innerHTML = '<b>'")["error"], "TypeError")
        self.assertEqual(self.tab.run("document.body.setAttribute('onclick', 'ran()')")["error"], "TypeError")

    def test_related_origins_are_listed(self):
        status, headers, content = self.server.fetch("GET", "/.well-known/webauthn")
        self.assertEqual((status, headers["Content-Type"]), (200, "application/json"))
        self.assertEqual(content, b'{"origins":["https://mill-shop.example"]}')


if __name__ == "__main__":
    unittest.main()

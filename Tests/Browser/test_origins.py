"""Origins: related ones, and frames in other sites' pages."""
import unittest

from support import FOREIGN, MILL, RELATED, SHOP, BrowserTest


class OriginTests(BrowserTest):
    def setUp(self):
        super().setUp()
        self.tab.authenticator()
        self.tab.open(MILL + "/ui/enrol")

    def frame(self, top):
        """Opens the page of `top`, which has a frame of the relying party; returns the frame's session."""
        self.world.browser.events.clear()
        self.tab.open(top + "/")
        return self.tab.frame()

    def test_a_related_origin_is_accepted_and_another_is_not(self):
        self.tab.open(RELATED + "/ui/enrol")
        self.enrol()
        self.assertEqual(self.sign_in()["result"], "accepted")
        self.tab.open(FOREIGN + "/")
        options = self.server.api("POST", "/v1/ceremonies", {"type": "passkey"})["options"]
        self.assertEqual(self.tab.authenticate(options)["error"], "SecurityError")

    def test_a_frame_is_accepted_in_a_listed_page_only(self):
        self.enrol()
        answer = self.sign_in(session=self.frame(SHOP))
        self.assertEqual((answer["result"], answer.get("reason")), ("accepted", None))
        answer = self.sign_in(session=self.frame(FOREIGN))
        self.assertEqual((answer["result"], answer.get("reason")), ("denied", "top-origin"))

    def test_the_page_of_another_site_cannot_use_the_browsers_routes(self):
        self.tab.open(FOREIGN + "/")
        for kind in ("application/json", "text/plain"):
            result = self.tab.run(
                f"fetch('{MILL}/v1/browser/ceremonies', {{method: 'POST', body: '{{}}', "
                f"headers: {{'Content-Type': '{kind}'}}}}).then((response) => response.status)")
            self.assertEqual(result.get("error"), "TypeError", kind)

    def test_the_pages_cannot_be_framed(self):
        self.tab.open(SHOP + "/")
        self.tab.value("(() => { const frame = document.createElement('iframe'); frame.src = "
                       f"{MILL + '/ui/sign-in?return=0'!r}; document.body.append(frame);"
                       "return new Promise((done) => { frame.onload = () => done(); }); })()")
        self.tab.wait("true")
        self.assertTrue([text for text in self.tab.complaints() if "frame-ancestors" in text])


if __name__ == "__main__":
    unittest.main()

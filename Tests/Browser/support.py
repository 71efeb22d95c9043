"""What the tests in a real browser share: one server, one browser, and a new tab for each test."""
import itertools
import json
import tempfile
import unittest

from watchword_tools import ROOT
from watchword_tools.browser.chromium import Chromium
from watchword_tools.browser.server import Certificate, Server, Site, fixed
from watchword_tools.browser.tab import Tab

MILL, SHOP = "https://mill.example", "https://shop.example"
FRAME, RELATED, FOREIGN = "https://frame.mill.example", "https://mill-shop.example", "https://foreign.example"
SHOP_OF_MILL = "https://shop.mill.example"
BACK = SHOP + "/back"
OPTIONS = ["--rp-id", "mill.example", "--rp-name", "Mill", "--origin", f"{MILL},{FRAME}",
           "--related-origin", RELATED, "--top-origin", SHOP, "--return-to", BACK]
HOSTS = [origin.removeprefix("https://") for origin in (MILL, SHOP, FRAME, RELATED, FOREIGN, SHOP_OF_MILL)]
SIGN_IN = MILL + "/ui/sign-in?return=0&state=s1"
IFRAME = f'<iframe allow="publickey-credentials-get *" src="{FRAME}/"></iframe>'
# The browser's answer if it cannot suggest passkeys.
NO_SUGGESTIONS = "PublicKeyCredential.isConditionalMediationAvailable = async () => false"
# No request arrives while `offline` is true.
OFFLINE = """
    const fetch = globalThis.fetch;
    Object.assign(globalThis, {offline: true, requests: 0, fetch(...request) {
        requests++;
        return offline ? Promise.reject(new TypeError("Failed to fetch")) : fetch(...request);
    }});
"""
# The server decides, but its first response to a request with an Idempotency-Key is lost. The keys are kept.
LOST_RESPONSE = """
    const fetch = globalThis.fetch;
    globalThis.fetch = async (path, request) => {
        const response = await fetch(path, request);
        const key = request.headers["Idempotency-Key"];
        if (!key) return response;
        const keys = JSON.parse(localStorage.getItem("keys") ?? "[]");
        localStorage.setItem("keys", JSON.stringify([...keys, key]));
        if (keys.length) return response;
        throw new TypeError("Failed to fetch");
    };
"""
SENT_KEYS = "JSON.parse(localStorage.getItem('keys'))"
SCRIPT = ROOT / "Sources/Server/VerificationService/Pages/Files/page.js"

subjects = (f"person-{number}" for number in itertools.count(1))


class World:
    """The servers and the browser."""

    def __init__(self, start_shop, options):
        self.folder = tempfile.TemporaryDirectory()
        try:
            certificate = Certificate(self.folder.name, HOSTS)
            self.server = Server(self.folder.name, certificate, *options)
            self.sites = [
                start_shop(certificate, self.server),
                Site(certificate, fixed({"/": "<p>Inside.", "/ui/page.js": SCRIPT.read_text()})),
                Site(certificate, fixed({"/": IFRAME, "/ui/page.js": SCRIPT.read_text()})),
            ]
            mill, shop, frame, foreign = self.server.port, *(site.port for site in self.sites)
            self.browser = Chromium(self.folder.name, dict(zip(HOSTS, [mill, shop, frame, mill, foreign, shop])))
        except BaseException:
            self.folder.cleanup()
            raise

    def close(self):
        self.browser.close()
        for site in self.sites:
            site.close()
        self.server.close()
        self.folder.cleanup()


class BrowserTest(unittest.TestCase):
    """A test with a tab and a person of its own. Each class has a server and a browser."""

    options = OPTIONS

    @classmethod
    def setUpClass(cls):
        cls.world = World(cls.start_shop, cls.options)
        cls.addClassCleanup(cls.world.close)

    @classmethod
    def start_shop(cls, certificate, server):
        """The application's site."""
        return Site(certificate, fixed({"/back": "<title>Back</title><p>Back at the shop.", "/": IFRAME}))

    def setUp(self):
        self.server = self.world.server
        self.open_tab()
        self.subject = next(subjects)

    def open_tab(self):
        self.tab = Tab(self.world.browser)
        self.addCleanup(self.tab.close)

    # The application.

    def start_enrolment(self, **members):
        return self.server.api("POST", f"/v1/subjects/{self.subject}/credentials",
                               {"type": "passkey", "user_name": self.subject, **members})

    def enrol(self, policy=None, name=None, user_agent=None, **members):
        """Enrols a passkey through the application's routes, with the page's script. Returns the pending
        credential, the browser's response, and the server's."""
        pending = self.start_enrolment(**({"policy": policy} if policy else {}), **members)
        made = self.tab.register(pending["options"])
        self.assertIn("ok", made, made)
        more = {"name": name, "user_agent": user_agent}
        answer = self.server.api(
            "POST", f"/v1/credentials/{pending['credential']}/registration",
            {"response": made["ok"], **{key: value for key, value in more.items() if value}})
        return pending, made["ok"], answer

    def sign_in(self, policy=None, subject=None, device=None, session=None):
        """Signs in through the application's routes, with the page's script; returns the server's response."""
        ceremony = self.server.api("POST", "/v1/ceremonies", {
            "type": "passkey", **({"policy": policy} if policy else {}), **({"subject": subject} if subject else {})})
        made = self.tab.authenticate(ceremony["options"], session)
        self.assertIn("ok", made, made)
        return self.server.api("POST", "/v1/assertions", {
            "ceremony": ceremony["ceremony"], "response": made["ok"], **({"device": device} if device else {})})

    def credentials(self):
        return self.server.api("GET", f"/v1/subjects/{self.subject}/credentials")["credentials"]

    # The pages.

    def page_link(self, **members):
        return self.start_enrolment(via="page", **members)["link"]

    def open_enrolment(self, query="", **members):
        self.tab.open(self.page_link(**members).replace("/ui/enrol#", f"/ui/enrol{query}#"))
        self.tab.wait("!document.getElementById('form').hidden")

    def enrol_on_page(self, query="", **members):
        """Creates a passkey on the page."""
        self.open_enrolment(query, **members)
        self.tab.click("start")
        self.tab.wait("!document.getElementById('done').hidden")

    def open_sign_in(self):
        self.tab.open(SIGN_IN)
        self.tab.wait("!document.getElementById('form').hidden")

    def returned(self):
        """Waits until the browser is back at the application; returns the fragment's members."""
        self.tab.wait(f"location.href.startsWith({json.dumps(BACK)})")
        return dict(self.tab.value("[...new URLSearchParams(location.hash.slice(1))]"))

    def redeem(self, login):
        return self.server.api("POST", "/v1/logins/redeem", {"login": login})

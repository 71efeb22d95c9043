"""The example application: the loss of a device, from the first passkey to the sign-in with the next one."""
import ssl
import unittest

from support import MILL, NO_SUGGESTIONS, OPTIONS, SHOP, BrowserTest
from watchword_tools.browser.server import Site
from watchword_tools.browser.tab import Tab
from watchword_tools.example_application.application import Handler, Shop
from watchword_tools.example_application.verifier import Verifier


class ShopTest(BrowserTest):
    """A test with the example application in the place of the application's site."""

    @classmethod
    def start_shop(cls, certificate, server):
        context = ssl.create_default_context(cafile=certificate.file)
        shop = Shop(Verifier(f"https://127.0.0.1:{server.port}", server.key, context), MILL)
        return Site(certificate, type("ShopHandler", (Handler,), {"shop": shop}))

    def setUp(self):
        super().setUp()
        self.tab.before_pages(NO_SUGGESTIONS)

    def submit(self, button, **fields):
        for name, value in fields.items():
            self.tab.value(f"void (document.getElementById({name!r}).value = {value!r})")
        self.tab.click(button)

    def create_passkey(self, name):
        self.tab.wait_for_text("Name of the passkey")
        self.submit("start", name=name)
        self.tab.wait_for_text("Your passkey is ready")

    def create_account(self):
        """Creates an account with a passkey; returns its recovery codes."""
        self.tab.open(SHOP + "/")
        self.submit("accounts", name=self.subject)
        self.create_passkey("old laptop")
        self.tab.click("recovery-codes")
        self.tab.wait_for_text("Your passkeys")
        self.tab.click("codes")
        self.tab.wait_for_text("Print these codes")
        return self.tab.value("[...document.querySelectorAll('code')].map((code) => code.textContent)")

    def sign_out(self):
        self.tab.open(SHOP + "/")
        self.submit("sign-out")
        self.tab.wait_for_text("New here?")


class RecoveryTests(ShopTest):
    def test_a_person_who_lost_a_device_comes_back_with_a_recovery_code(self):
        lost = self.tab.authenticator()
        codes = self.create_account()
        [old] = self.tab.passkeys(lost)
        self.tab.call("WebAuthn.removeVirtualAuthenticator", authenticatorId=lost)
        self.tab.authenticator()
        self.sign_out()
        self.submit("sign-in")
        self.tab.wait_for_text("Sign in another way")
        self.tab.click("another-way")
        self.tab.wait_for_text("Recover your account")
        self.submit("recover", name=self.subject, code="AAAA-BBBB-CCCC-DDDD")
        self.tab.wait_for_text("The name or the code is wrong")
        self.submit("recover", name=self.subject, code=codes[0])
        self.tab.wait_for_text("Which passkey have you lost?")
        self.assertIn("old laptop", self.tab.text())
        self.tab.value("document.querySelector('input[type=radio]').click()")
        self.submit("lost")
        self.create_passkey("new laptop")
        self.tab.click("continue")
        self.tab.wait_for_text("New here?")
        self.submit("sign-in")
        self.tab.wait_for_text("Sign in with a passkey")
        self.tab.click("start")
        self.tab.wait_for_text("Hello, " + self.subject)
        self.assertIn("old laptop: removed", self.tab.text())
        self.assertIn("new laptop: on one device", self.tab.text())
        # The finder of the lost device, and a code that was used.
        other = Tab(self.world.browser)
        self.addCleanup(other.close)
        self.tab, owner = other, self.tab
        self.tab.before_pages(NO_SUGGESTIONS)
        found = self.tab.authenticator()
        self.tab.call("WebAuthn.addCredential", authenticatorId=found, credential=old)
        self.open_sign_in()
        self.tab.click("start")
        self.tab.wait_for_text("The server did not accept this passkey")
        self.tab.open(SHOP + "/recover")
        self.submit("recover", name=self.subject, code=codes[0])
        self.tab.wait_for_text("The name or the code is wrong")
        self.assertIn("Hello", owner.text())

    def test_a_ticket_from_another_visit_does_not_sign_in(self):
        self.tab.authenticator()
        self.create_account()
        self.sign_out()
        self.open_sign_in()
        self.tab.click("start")
        self.tab.wait_for_text("New here?")


class StepUpTests(ShopTest):
    """The server requires a second proof if a synced passkey is used in a browser for the first time."""

    options = [*OPTIONS, "--passkey-floor", "backup=step-up"]

    def sign_in_on_page(self):
        self.submit("sign-in")
        self.tab.wait_for_text("Sign in with a passkey")
        self.tab.click("start")

    def test_a_new_browser_needs_a_second_proof_once(self):
        authenticator = self.tab.authenticator(defaultBackupEligibility=True, defaultBackupState=True)
        codes = self.create_account()
        self.sign_out()
        self.sign_in_on_page()
        self.tab.wait_for_text("One more proof")
        self.tab.open(SHOP + "/")
        self.tab.wait_for_text("New here?")
        self.tab.open(SHOP + "/proof")
        self.submit("proof", code=codes[0])
        self.tab.wait_for_text("Hello, " + self.subject)
        self.sign_out()
        self.sign_in_on_page()
        self.tab.wait_for_text("Hello, " + self.subject)
        # The provider copies the passkey to another device.
        [passkey] = self.tab.passkeys(authenticator)
        self.tab = Tab(self.world.browser)
        self.addCleanup(self.tab.close)
        self.tab.before_pages(NO_SUGGESTIONS)
        self.tab.call("WebAuthn.addCredential", authenticatorId=self.tab.authenticator(), credential=passkey)
        self.tab.open(SHOP + "/")
        self.sign_in_on_page()
        self.tab.wait_for_text("One more proof")

    def test_without_the_second_proof_the_browser_stays_unknown(self):
        self.tab.authenticator(defaultBackupEligibility=True, defaultBackupState=True)
        self.create_account()
        self.sign_out()
        for _ in range(2):
            self.tab.open(SHOP + "/")
            self.sign_in_on_page()
            self.tab.wait_for_text("One more proof")


if __name__ == "__main__":
    unittest.main()

"""The example application: the loss of a device, from the first passkey to the sign-in with the next one."""
import ssl
import time
import unittest

from support import MILL, NO_SUGGESTIONS, OPTIONS, SHOP, SHOP_OF_MILL, BrowserTest
from watchword_tools.browser.chromium import DEADLINE
from watchword_tools.browser.server import Site
from watchword_tools.example_application.application import Handler, Shop
from watchword_tools.example_application.verifier import Verifier


class ShopTest(BrowserTest):
    """A test with the example application in the place of the application's site."""

    address = SHOP

    @classmethod
    def start_shop(cls, certificate, server):
        context = ssl.create_default_context(cafile=certificate.file)
        cls.shop = Shop(Verifier(f"https://127.0.0.1:{server.port}", server.key, context), MILL)
        return Site(certificate, type("ShopHandler", (Handler,), {"shop": cls.shop}))

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
        self.tab.open(self.address + "/")
        self.submit("accounts", name=self.subject)
        self.create_passkey("old laptop")
        return self.get_codes()

    def get_codes(self):
        """Gets the recovery codes that the server's page offers to a person who has signed in."""
        self.tab.click("recovery-codes")
        self.tab.wait_for_text("New codes replace")
        return self.print_codes()

    def print_codes(self):
        self.tab.click("codes")
        self.tab.wait_for_text("Print these codes")
        return self.tab.value("[...document.querySelectorAll('code')].map((code) => code.textContent)")

    def sign_out(self):
        self.tab.open(self.address + "/")
        self.submit("sign-out")
        self.tab.wait_for_text("New here?")

    def sign_in_on_page(self):
        self.submit("sign-in")
        self.tab.wait_for_text("Sign in with a passkey")
        self.tab.click("start")

    def recover(self, code):
        """Removes the old passkey, and creates a new one in its place."""
        self.submit("recover", name=self.subject, code=code)
        self.tab.wait_for_text("Which passkey have you lost?")
        self.assertIn("old laptop", self.tab.text())
        self.tab.value("document.querySelector('input[type=radio]').click()")
        self.submit("lost")
        self.create_passkey("new laptop")


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
        self.recover(codes[0])
        self.tab.click("continue")
        self.tab.wait_for_text("Your new passkey is ready. Sign in with it.")
        self.sign_in_on_page()
        self.tab.wait_for_text("Hello, " + self.subject)
        self.assertIn("old laptop: removed", self.tab.text())
        self.assertIn("new laptop: on one device", self.tab.text())
        # The finder of the lost device, and a code that was used.
        owner = self.tab
        self.open_tab()
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

    def test_what_a_person_asks_for_after_a_recovery_follows_the_next_sign_in(self):
        lost = self.tab.authenticator()
        codes = self.create_account()
        self.tab.call("WebAuthn.removeVirtualAuthenticator", authenticatorId=lost)
        self.tab.authenticator()
        self.tab.open(SHOP + "/recover")
        self.recover(codes[0])
        self.tab.click("recovery-codes")
        self.tab.wait_for_text("Your new passkey is ready. Sign in with it.")
        self.sign_in_on_page()
        self.tab.wait_for_text("New codes replace")
        self.assertNotIn(codes[1], self.print_codes())

    def test_a_person_who_signed_up_creates_a_second_passkey(self):
        self.tab.authenticator()
        self.tab.open(SHOP + "/")
        self.submit("accounts", name=self.subject)
        self.create_passkey("laptop")
        self.tab.click("second-passkey")
        self.tab.wait_for_text("Use another device or a security key")
        self.tab.authenticator(transport="usb")
        self.tab.click("passkeys")
        self.create_passkey("security key")
        self.tab.click("continue")
        self.tab.wait_for_text("Hello, " + self.subject)
        self.assertIn("laptop: on one device\nsecurity key: on one device", self.tab.text())

    def test_a_restarted_application_does_not_give_an_account_away(self):
        self.tab.authenticator()
        self.create_account()
        self.shop.accounts.clear()
        self.sign_out()
        self.submit("accounts", name=self.subject)
        self.tab.wait_for_text("This name is taken.")

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

    def test_a_new_browser_needs_a_second_proof_once(self):
        authenticator = self.tab.authenticator(defaultBackupEligibility=True, defaultBackupState=True)
        codes = self.create_account()
        self.sign_out()
        self.sign_in_on_page()
        self.tab.wait_for_text("in this browser for the first time")
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
        self.open_tab()
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

    def test_a_proof_for_a_removed_passkey_does_not_sign_in(self):
        self.tab.authenticator(defaultBackupEligibility=True, defaultBackupState=True)
        codes = self.create_account()
        self.sign_out()
        self.sign_in_on_page()
        self.tab.wait_for_text("One more proof")
        for credential in self.credentials():
            if credential["type"] == "passkey":
                self.server.api("DELETE", f"/v1/credentials/{credential['credential']}")
        self.submit("proof", code=codes[0])
        self.tab.wait_for_text("Sign in again")
        self.tab.open(SHOP + "/")
        self.tab.wait_for_text("New here?")


class RemovedPasskeyTests(ShopTest):
    """The application is in the passkeys' domain, so it can tell the browser which passkeys are left."""

    address = SHOP_OF_MILL
    options = [*OPTIONS[:-1], SHOP_OF_MILL + "/back"]

    def test_the_browser_forgets_a_passkey_that_was_removed(self):
        old = self.tab.authenticator()
        codes = self.create_account()
        self.tab.call("WebAuthn.setAutomaticPresenceSimulation", authenticatorId=old, enabled=False)
        new = self.tab.authenticator(transport="usb")
        self.tab.open(self.address + "/recover")
        self.recover(codes[0])
        self.assertEqual(len(self.tab.passkeys(old)), 1)
        self.tab.click("continue")
        self.tab.wait_for_text("Sign in with it")
        self.sign_in_on_page()
        self.tab.wait_for_text("Hello, " + self.subject)
        end = time.monotonic() + DEADLINE
        while self.tab.passkeys(old) and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual((len(self.tab.passkeys(old)), len(self.tab.passkeys(new))), (0, 1))


if __name__ == "__main__":
    unittest.main()

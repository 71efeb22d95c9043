"""The page /ui/enrol."""
import unittest

from support import BACK, LOST_RESPONSE, MILL, OFFLINE, SENT_KEYS, BrowserTest

# A passkey of another site, which the browser refuses.
OTHER_SITE = """
    const parse = PublicKeyCredential.parseCreationOptionsFromJSON;
    PublicKeyCredential.parseCreationOptionsFromJSON = (options) =>
        parse({...options, rp: {id: "other.example", name: "Other"}});
"""
# Errors that Chromium's virtual authenticators do not cause.
REFUSAL = 'navigator.credentials.create = () => Promise.reject(new DOMException("", "%s"))'

# What the browser says about the new passkey (`credProps`).
CREDENTIAL_PROPERTIES = """
    const toJSON = PublicKeyCredential.prototype.toJSON;
    PublicKeyCredential.prototype.toJSON = function () {
        return {...toJSON.call(this), clientExtensionResults: {credProps: %s}};
    };
"""
# The second passkey has the id of the first one, as with an authenticator that repeats its ids.
KNOWN = """
    globalThis.removed = 0;
    PublicKeyCredential.signalUnknownCredential = async () => { removed++; };
    const fetch = globalThis.fetch;
    globalThis.fetch = async (path, request) => {
        if (!path.endsWith("registrations")) return fetch(path, request);
        const first = localStorage.getItem("first");
        localStorage.setItem("first", request.body);
        if (!first) return fetch(path, request);
        const body = {result: "denied", retry: false};
        return new Response(JSON.stringify(body), {headers: {"Content-Type": "application/json"}});
    };
"""
# Another attempt with the same ticket begins before the first response is sent.
REPLACED_CHALLENGE = """
    const fetch = globalThis.fetch;
    let replaced = false;
    globalThis.fetch = async (path, request) => {
        if (path.endsWith("registrations") && !replaced) {
            replaced = true;
            const {ticket} = JSON.parse(request.body);
            const headers = {"Content-Type": "application/json"};
            await fetch("/v1/browser/ceremonies", {...request, headers, body: JSON.stringify({ticket})});
        }
        return fetch(path, request);
    };
"""


class EnrolmentPageTests(BrowserTest):
    def test_a_person_creates_a_passkey_and_the_ticket_is_spent(self):
        authenticator = self.tab.authenticator()
        link = self.page_link(user_display_name="Ada Lovelace")
        self.tab.open(link)
        self.tab.wait_for_text("Account: Ada Lovelace")
        self.tab.value("document.getElementById('name').value = ' work laptop '")
        self.tab.click("start")
        self.tab.wait_for_text("Your passkey is ready")
        self.assertEqual(self.tab.value("location.href"), MILL + "/ui/enrol")
        self.assertEqual(self.tab.value("document.activeElement.id"), "ready")
        [passkey] = self.credentials()
        self.assertEqual((passkey["name"], passkey["state"], passkey["type"]), ("work laptop", "active", "passkey"))
        self.assertIn("Chrome", passkey["user_agent"])
        self.assertEqual(len(self.tab.passkeys(authenticator)), 1)
        self.assertEqual(self.tab.complaints(), [])
        self.tab.open(link)
        self.tab.wait_for_text("This link has already been used")
        self.assertTrue(self.tab.value("document.getElementById('form').hidden"))

    def test_a_link_that_ended_or_is_incomplete_is_explained(self):
        pending = self.start_enrolment(via="page")
        self.server.api("DELETE", f"/v1/credentials/{pending['credential']}")
        self.tab.open(pending["link"])
        self.tab.wait_for_text("Ask the application for a new one")
        self.tab.open(MILL + "/ui/enrol")
        self.tab.wait_for_text("Open the whole link")

    def test_a_link_that_ends_while_the_page_is_open_is_explained(self):
        self.tab.authenticator()
        pending = self.start_enrolment(via="page")
        self.tab.open(pending["link"])
        self.tab.wait("!document.getElementById('form').hidden")
        self.server.api("DELETE", f"/v1/credentials/{pending['credential']}")
        self.tab.click("start")
        self.tab.wait_for_text("This link has already been used")

    def test_another_link_in_the_same_tab_replaces_the_page(self):
        self.open_enrolment(user_display_name="Ada")
        link = self.page_link(user_display_name="Grace")
        self.tab.value(f"void (location.href = {link!r})")
        self.tab.wait_for_text("Account: Grace")

    def test_the_first_passkey_offers_recovery_and_the_second_does_not(self):
        self.tab.authenticator()
        self.enrol_on_page("?return=0&state=s2")
        self.assertIn("This is your only passkey", self.tab.text())
        links = {identifier: self.tab.value(f"document.getElementById('{identifier}').href")
                 for identifier in ("recovery-codes", "second-passkey", "continue")}
        self.assertEqual(links, {
            "recovery-codes": BACK + "#enrolled=1&next=recovery-codes&state=s2",
            "second-passkey": BACK + "#enrolled=1&next=passkey&state=s2",
            "continue": BACK + "#enrolled=1&state=s2"})
        self.tab.click("recovery-codes")
        self.assertEqual(self.returned(), {"enrolled": "1", "next": "recovery-codes", "state": "s2"})
        self.tab.authenticator(transport="usb")
        self.open_enrolment("?return=0")
        self.tab.click("start")
        self.tab.wait_for_text("Your passkey is ready")
        self.assertNotIn("only passkey", self.tab.text())

    def test_without_an_address_to_return_to_the_page_gives_advice(self):
        self.tab.authenticator()
        self.enrol_on_page()
        self.assertIn("Get recovery codes there", self.tab.text())
        self.assertIn("You can close this page", self.tab.text())
        self.assertNotIn("Continue to the application", self.tab.text())

    def test_a_second_passkey_on_the_same_device_is_excluded(self):
        self.tab.authenticator()
        self.enrol_on_page()
        self.open_enrolment()
        self.tab.click("start")
        self.tab.wait_for_text("This device already has a passkey")

    def test_a_failed_attempt_can_be_repeated_with_a_new_challenge(self):
        authenticator = self.tab.authenticator(isUserVerified=False)
        self.open_enrolment()
        challenges = "(performance.getEntriesByType('resource').filter((e) => e.name.endsWith('ceremonies')).length)"
        before = self.tab.value(challenges)
        self.tab.click("start")
        self.tab.wait_for_text("cancelled, or it took too long")
        self.tab.call("WebAuthn.setUserVerified", authenticatorId=authenticator, isUserVerified=True)
        self.tab.click("start")
        self.tab.wait_for_text("Your passkey is ready")
        self.assertEqual(self.tab.value(challenges), before + 2)

    def test_backup_flags_are_explained(self):
        for eligible, backed_up, expected in [
                (False, False, "stays on the device"), (True, False, "has not done so yet"),
                (True, True, "keeps a copy")]:
            with self.subTest(eligible=eligible, backed_up=backed_up):
                authenticator = self.tab.authenticator(
                    defaultBackupEligibility=eligible, defaultBackupState=backed_up)
                self.subject += "x"
                self.enrol_on_page()
                self.assertIn(expected, self.tab.text())
                [passkey] = self.credentials()
                self.assertEqual((passkey["device_bound"], passkey["backed_up"]), (not eligible, backed_up))
                self.tab.call("WebAuthn.removeVirtualAuthenticator", authenticatorId=authenticator)

    def test_a_passkey_that_the_policy_forbids_is_denied_and_removed(self):
        authenticator = self.tab.authenticator(defaultBackupEligibility=True)
        self.open_enrolment(policy={"backup": "device-bound"})
        self.tab.click("start")
        self.tab.wait_for_text("it will not accept another one from the same device or passkey provider")
        self.assertNotIn("ry again", self.tab.text())
        self.assertNotIn("delete it there", self.tab.text())
        self.assertEqual(self.tab.passkeys(authenticator), [])
        self.assertEqual([passkey["state"] for passkey in self.credentials()], ["pending"])

    def test_a_browser_that_cannot_remove_a_denied_passkey_leaves_that_to_the_person(self):
        self.tab.before_pages("delete PublicKeyCredential.signalUnknownCredential")
        authenticator = self.tab.authenticator(defaultBackupEligibility=True)
        self.open_enrolment(policy={"backup": "device-bound"})
        self.tab.click("start")
        self.tab.wait_for_text("still lists the new passkey, delete it there")
        self.assertEqual(len(self.tab.passkeys(authenticator)), 1)

    def test_a_known_passkey_is_denied_but_not_removed(self):
        self.tab.before_pages(KNOWN)
        authenticator = self.tab.authenticator()
        self.enrol_on_page()
        self.subject += "x"
        self.open_enrolment()
        self.tab.click("start")
        self.tab.wait_for_text("it will not accept another one")
        self.assertNotIn("delete it there", self.tab.text())
        self.assertEqual(self.tab.value("removed"), 0)
        self.assertEqual(len(self.tab.passkeys(authenticator)), 2)

    def test_an_attempt_whose_challenge_was_replaced_can_be_repeated(self):
        self.tab.authenticator()
        self.tab.before_pages(REPLACED_CHALLENGE)
        self.open_enrolment()
        self.tab.click("start")
        self.tab.wait_for_text("Try again, or use another passkey")
        self.tab.click("start")
        self.tab.wait_for_text("Your passkey is ready")

    def test_a_device_without_user_verification_is_explained(self):
        self.tab.authenticator(hasUserVerification=False, isUserVerified=False)
        self.enrol_on_page(policy={"user_verification": "discouraged"})
        self.assertIn("did not check who used it", self.tab.text())
        self.assertIn("The sign-in page of this server does not accept such a passkey", self.tab.text())
        self.assertNotIn("Your passkey is ready", self.tab.text())
        self.assertFalse(self.credentials()[0]["user_verified"])

    def test_a_passkey_that_the_sign_in_page_cannot_find_is_not_called_ready(self):
        # The authenticator cannot store passkeys, the browser does not say whether it did, or it breaks its word.
        for authenticator, script, policy, sentence in [
                ({"hasResidentKey": False}, "", {"discoverable": "preferred"}, "can be used only after"),
                ({}, CREDENTIAL_PROPERTIES % "{}", {"discoverable": "preferred"}, "may be usable only after"),
                ({}, CREDENTIAL_PROPERTIES % "{rk: false}", {}, "can be used only after")]:
            with self.subTest(sentence):
                self.open_tab()
                self.subject += "x"
                self.tab.before_pages(script)
                self.tab.authenticator(**authenticator)
                self.enrol_on_page(policy=policy)
                self.assertIn(sentence, self.tab.text())
                self.assertIn("The sign-in page of this server does not accept such a passkey", self.tab.text())
                self.assertNotIn("Your passkey is ready", self.tab.text())

    def test_a_passkey_that_is_stored_although_that_was_not_required_is_ready(self):
        self.tab.authenticator()
        self.enrol_on_page(policy={"discoverable": "preferred"})
        self.assertIn("Your passkey is ready", self.tab.text())
        self.assertNotIn("does not accept such a passkey", self.tab.text())

    def test_an_unreachable_server_is_explained(self):
        self.tab.authenticator()
        self.open_enrolment()
        self.tab.call("Network.enable")
        self.tab.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1,
                      uploadThroughput=-1)
        self.tab.click("start")
        self.tab.wait_for_text("The server cannot be reached")

    def test_a_first_request_that_fails_can_be_repeated(self):
        self.tab.authenticator()
        self.tab.before_pages(OFFLINE)
        self.tab.open(self.page_link(user_display_name="Ada"))
        self.tab.wait_for_text("Check your connection, then try again")
        self.assertTrue(self.tab.value("document.getElementById('form').hidden"))
        self.tab.tab_to("again")
        self.tab.press("Enter")
        self.tab.wait("requests === 4")
        self.tab.wait_for_text("Check your connection, then try again")
        self.tab.value("void (offline = false)")
        self.tab.press("Enter")
        self.tab.wait_for_text("Account: Ada")
        self.assertEqual(self.tab.value("document.activeElement.id"), "name")
        self.assertNotIn("ry again", self.tab.text())
        self.tab.click("start")
        self.tab.wait_for_text("Your passkey is ready")

    def test_a_link_that_ended_meanwhile_offers_no_other_attempt(self):
        self.tab.before_pages(OFFLINE)
        pending = self.start_enrolment(via="page")
        self.tab.open(pending["link"])
        self.tab.wait_for_text("Check your connection, then try again")
        self.server.api("DELETE", f"/v1/credentials/{pending['credential']}")
        self.tab.value("void (offline = false)")
        self.tab.click("again")
        self.tab.wait_for_text("This link has already been used")
        self.assertTrue(self.tab.value("document.getElementById('retry').hidden"))

    def test_a_lost_response_is_asked_for_again(self):
        self.tab.authenticator()
        self.tab.before_pages(LOST_RESPONSE)
        self.enrol_on_page()
        [first, second] = self.tab.value(SENT_KEYS)
        self.assertEqual(first, second)
        self.assertEqual([passkey["state"] for passkey in self.credentials()], ["active"])

    def test_the_browsers_errors_are_explained(self):
        for script, sentence in [
                (OTHER_SITE, "This site is not set up for passkeys at this address."),
                (REFUSAL % "NotSupportedError", "This device cannot create the kind of passkey"),
                (REFUSAL % "ConstraintError", "This device has no PIN, fingerprint or face set up.")]:
            with self.subTest(sentence):
                self.open_tab()
                self.tab.before_pages(script)
                self.open_enrolment()
                self.tab.click("start")
                self.tab.wait("document.getElementById('error').textContent")
                self.assertIn(sentence, self.tab.text())

    def test_a_browser_without_passkeys_is_told_so(self):
        self.tab.before_pages("delete globalThis.PublicKeyCredential")
        self.tab.open(self.page_link())
        self.tab.wait_for_text("This browser does not support passkeys")


if __name__ == "__main__":
    unittest.main()

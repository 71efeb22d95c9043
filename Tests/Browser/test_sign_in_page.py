"""The page /ui/sign-in."""
import base64
import unittest

from support import (
    BACK, LOST_RESPONSE, MILL, NO_SUGGESTIONS, OFFLINE, OPTIONS, RELATED, SENT_KEYS, SIGN_IN, BrowserTest)

CEREMONIES = "performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/v1/browser/ceremonies')).length"
LIFETIME = """fetch("/v1/browser/ceremonies", {
    method: "POST", headers: {"Content-Type": "application/json"}, body: "{}"})
    .then((response) => response.json()).then((answer) => answer.options.timeout)"""
SHORT_TIMEOUT = """
    const parse = PublicKeyCredential.parseRequestOptionsFromJSON;
    PublicKeyCredential.parseRequestOptionsFromJSON = (options) => parse({...options, timeout: 500});
"""
# `tick` is the function that looks at the clock each second, and `moved` is how far the test moved the clock. The
# requests for a challenge are recorded with that.
CLOCK = """
    const fetch = globalThis.fetch;
    const now = Date.now;
    Object.assign(globalThis, {moved: 0, asked: [], setInterval(check) { globalThis.tick = check; },
        fetch(...request) { asked.push(moved); return fetch(...request); }});
    Date.now = () => now() + moved;
    PublicKeyCredential.isConditionalMediationAvailable = async () => true;
"""
# Waits are recorded, and end at once.
WAITS = """
    const wait = globalThis.setTimeout;
    Object.assign(globalThis, {waits: [], setTimeout(work, time) {
        waits.push(time);
        return wait(work, 0);
    }});
"""


class SignInPageTests(BrowserTest):
    def without_suggestions(self):
        self.tab.before_pages(NO_SUGGESTIONS)

    def test_a_discoverable_passkey_signs_in(self):
        self.without_suggestions()
        self.tab.authenticator()
        self.enrol_on_page()
        self.open_sign_in()
        self.tab.click("start")
        returned = self.returned()
        self.assertEqual(returned["state"], "s1")
        answer = self.redeem(returned["login"])
        self.assertEqual((answer["result"], answer["subject"], answer["type"]), ("accepted", self.subject, "passkey"))
        self.assertTrue(answer["user_verified"])
        self.assertEqual(self.redeem(returned["login"])["result"], "denied")

    def test_the_browser_suggests_a_passkey_in_the_field(self):
        self.tab.authenticator()
        self.enrol_on_page()
        self.tab.open(SIGN_IN)
        returned = self.returned()
        self.assertEqual(self.redeem(returned["login"])["subject"], self.subject)

    def test_no_name_can_be_typed_because_the_server_would_ignore_it(self):
        self.tab.authenticator(automaticPresenceSimulation=False)
        self.open_sign_in()
        self.tab.wait("!document.getElementById('suggestions').hidden")
        self.tab.tab_to("passkey")
        self.tab.type("alice")
        self.assertEqual(self.tab.value("document.getElementById('passkey').value"), "")
        self.assertNotIn("ser name", self.tab.text())

    def test_suggestions_get_a_new_challenge_before_the_old_one_ends(self):
        self.tab.authenticator(automaticPresenceSimulation=False)
        self.tab.before_pages(CLOCK)
        self.tab.open(SIGN_IN)
        self.tab.wait("!!globalThis.tick")
        self.assertEqual(self.tab.value("asked"), [0])
        lifetime = self.tab.value(LIFETIME)
        early, late = lifetime * 3 // 4 - 10_000, lifetime * 3 // 4
        self.tab.value(f"void (asked = [], moved = {early}, tick())")
        self.tab.value(f"void (moved = {late}, tick())")
        self.tab.wait("asked.length")
        self.assertEqual(self.tab.value("asked"), [late])

    def test_suggestions_end_before_another_request(self):
        self.tab.before_pages(SHORT_TIMEOUT)
        self.tab.authenticator(automaticPresenceSimulation=False)
        self.tab.open(SIGN_IN)
        self.tab.wait("!document.getElementById('suggestions').hidden")
        self.assertEqual(self.tab.value(CEREMONIES), 1)
        self.tab.click("start")
        self.tab.wait_for_text("cancelled, or it took too long")
        self.tab.wait(CEREMONIES + " === 3")
        self.assertEqual(self.tab.complaints(), [])

    def test_suggestions_return_after_the_network_failed(self):
        authenticator = self.tab.authenticator()
        self.enrol_on_page()
        self.tab.call("WebAuthn.setAutomaticPresenceSimulation", authenticatorId=authenticator, enabled=False)
        self.tab.before_pages(CLOCK)
        self.tab.before_pages(OFFLINE.replace("offline: true", "offline: false"))
        self.tab.before_pages(WAITS)
        self.tab.open(SIGN_IN)
        self.tab.wait("!!globalThis.tick")
        # The computer slept, and its network is not up yet.
        self.tab.value("void (offline = true, moved = 1_000_000, tick())")
        self.tab.wait("waits.length > 8")
        self.assertEqual(self.tab.value("waits.slice(0, 8)"),
                         [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
        self.tab.call("WebAuthn.setAutomaticPresenceSimulation", authenticatorId=authenticator, enabled=True)
        self.tab.value("void (offline = false)")
        self.assertEqual(self.redeem(self.returned()["login"])["subject"], self.subject)

    def test_the_button_ends_the_wait_for_the_network(self):
        self.tab.before_pages(OFFLINE)
        self.tab.before_pages("setTimeout = (work) => { globalThis.later = work; return 1; }; "
                              "clearTimeout = (timer) => { globalThis.cleared = timer; }; "
                              "PublicKeyCredential.isConditionalMediationAvailable = async () => true;")
        self.tab.open(SIGN_IN)
        self.tab.wait("!!globalThis.later")
        self.tab.click("start")
        self.tab.wait("globalThis.cleared === 1")

    def test_a_lost_response_is_asked_for_again(self):
        self.without_suggestions()
        self.tab.authenticator()
        self.enrol_on_page()
        self.tab.before_pages(LOST_RESPONSE)
        self.open_sign_in()
        self.tab.click("start")
        self.assertEqual(self.redeem(self.returned()["login"])["subject"], self.subject)
        self.open_sign_in()
        [first, second] = self.tab.value(SENT_KEYS)
        self.assertEqual(first, second)

    def test_a_request_that_takes_too_long_is_explained(self):
        self.without_suggestions()
        self.tab.before_pages(SHORT_TIMEOUT)
        self.tab.authenticator(automaticPresenceSimulation=False)
        self.open_sign_in()
        self.tab.click("start")
        self.tab.wait_for_text("cancelled, or it took too long")
        self.assertEqual(self.tab.value("document.getElementById('start').ariaDisabled"), None)

    def test_a_cancelled_request_offers_a_retry_and_another_way(self):
        self.without_suggestions()
        authenticator = self.tab.authenticator()
        self.enrol_on_page()
        self.tab.call("WebAuthn.setUserVerified", authenticatorId=authenticator, isUserVerified=False)
        self.open_sign_in()
        self.tab.click("start")
        self.tab.wait_for_text("cancelled, or it took too long")
        self.assertIn("another way", self.tab.text())
        self.tab.call("WebAuthn.setUserVerified", authenticatorId=authenticator, isUserVerified=True)
        self.tab.click("start")
        self.assertIn("login", self.returned())

    def test_another_way_returns_to_the_application(self):
        self.open_sign_in()
        self.tab.click("another-way")
        self.assertEqual(self.returned(), {"another_way": "1", "state": "s1"})

    def test_a_deleted_passkey_is_denied_and_disappears_from_the_authenticator(self):
        self.without_suggestions()
        authenticator = self.tab.authenticator()
        self.enrol_on_page()
        self.server.api("DELETE", f"/v1/credentials/{self.credentials()[0]['credential']}")
        self.open_sign_in()
        self.tab.click("start")
        self.tab.wait_for_text("The server did not accept this passkey")
        self.assertEqual(self.tab.passkeys(authenticator), [])
        self.assertTrue([event for event in self.world.browser.events
                         if event["method"] == "WebAuthn.credentialDeleted"])

    def test_a_step_up_returns_to_the_application_which_learns_of_it(self):
        self.without_suggestions()
        weak = self.tab.authenticator(hasUserVerification=False, isUserVerified=False)
        self.enrol_on_page(policy={"user_verification": "discouraged"})
        [passkey] = self.tab.passkeys(weak)
        self.tab.call("WebAuthn.removeVirtualAuthenticator", authenticatorId=weak)
        self.tab.call("WebAuthn.addCredential", authenticatorId=self.tab.authenticator(), credential=passkey)
        self.open_sign_in()
        self.tab.click("start")
        answer = self.redeem(self.returned()["login"])
        self.assertEqual((answer["result"], answer["step_up"], answer["subject"]),
                         ("step-up", ["first-verification"], self.subject))

    def test_a_damaged_token_of_this_browser_is_dropped(self):
        self.without_suggestions()
        authenticator = self.tab.authenticator()
        self.enrol_on_page()
        [passkey] = self.tab.passkeys(authenticator)
        name = "device " + base64.urlsafe_b64encode(base64.b64decode(passkey["credentialId"])).decode().rstrip("=")
        self.open_sign_in()
        self.tab.value(f"localStorage.setItem({name!r}, 'wwd_damaged')")
        self.tab.click("start")
        self.assertEqual(self.redeem(self.returned()["login"])["result"], "accepted")
        self.open_sign_in()
        self.assertEqual(self.tab.value(f"localStorage.getItem({name!r})"), None)

    def test_a_listed_related_origin_signs_in(self):
        self.without_suggestions()
        self.tab.authenticator()
        self.enrol_on_page()
        self.tab.open(SIGN_IN.replace(MILL, RELATED))
        self.tab.wait("!document.getElementById('form').hidden")
        self.tab.click("start")
        self.assertEqual(self.redeem(self.returned()["login"])["subject"], self.subject)

    def test_return_is_an_index_into_the_list(self):
        for query in ("?return=1", "?return=-1", f"?return={BACK}", "?return=0x0"):
            status, _, _ = self.server.fetch("GET", "/ui/sign-in" + query)
            self.assertEqual(status, 400, query)
        self.tab.open(MILL + "/ui/sign-in")
        self.tab.wait_for_text("Go back to the application, and start there again")
        self.assertTrue(self.tab.value("document.getElementById('form').hidden"))

    def test_a_plus_sign_in_the_state_is_returned(self):
        for sent, state in [("a+b==", "a+b=="), ("a%2Bb", "a+b"), ("a%20b", "a b")]:
            self.tab.open(MILL + "/ui/sign-in?return=0&state=" + sent)
            self.tab.wait("!document.getElementById('form').hidden")
            self.tab.click("another-way")
            self.assertEqual(self.returned()["state"], state)

    def test_a_hostile_state_stays_in_the_fragment(self):
        state = "\"><script>alert(1)</script>&login=wwl_forged#"
        self.tab.open(MILL + "/ui/sign-in?return=0&state=" + "".join(f"%{byte:02x}" for byte in state.encode()))
        self.tab.wait("!document.getElementById('form').hidden")
        self.tab.click("another-way")
        self.assertEqual(self.returned(), {"another_way": "1", "state": state})
        self.assertEqual(self.tab.complaints(), [])


# Requests pages until the server refuses one, then clicks; the page may still get in between.
EXHAUST = """(async () => {
    for (let attempt = 0; attempt < 20; attempt++) {
        for (let sent = 0; sent < 50 && (await fetch("/ui/page.css", {cache: "no-store"})).status !== 429; sent++);
        document.getElementById("start").click();
        await new Promise((done) => setTimeout(done, 100));
        if (document.getElementById("error").textContent.includes("too many requests")) return true;
    }
})()"""


class RateTests(BrowserTest):
    """The server permits few requests."""

    options = [*OPTIONS, "--address-rate", "1,20"]

    def test_too_many_requests_are_explained(self):
        self.tab.before_pages(NO_SUGGESTIONS)
        self.tab.authenticator(isUserVerified=False)
        self.open_sign_in()
        self.assertTrue(self.tab.value(EXHAUST), self.tab.text())


if __name__ == "__main__":
    unittest.main()

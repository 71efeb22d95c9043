"""Passkeys under each policy, with options from the application's routes."""
import unittest

from support import MILL, BrowserTest


class PolicyTests(BrowserTest):
    def setUp(self):
        super().setUp()
        self.tab.open(MILL + "/ui/enrol")

    def reset(self, **options):
        """A fresh person with a fresh authenticator; returns the authenticator."""
        self.subject += "x"
        if hasattr(self, "authenticator"):
            self.tab.call("WebAuthn.removeVirtualAuthenticator", authenticatorId=self.authenticator)
        self.authenticator = self.tab.authenticator(**options)
        return self.authenticator

    def change(self, **properties):
        """Changes the only passkey of the authenticator."""
        [passkey] = self.tab.passkeys(self.authenticator)
        if "signCount" in properties:
            self.tab.call("WebAuthn.removeCredential", authenticatorId=self.authenticator,
                          credentialId=passkey["credentialId"])
            self.tab.call("WebAuthn.addCredential", authenticatorId=self.authenticator,
                          credential=passkey | properties)
        else:
            self.tab.call("WebAuthn.setCredentialProperties", authenticatorId=self.authenticator,
                          credentialId=passkey["credentialId"], **properties)

    def events(self):
        """The kinds of this person's events."""
        return {event["kind"] for event in self.server.api("GET", "/v1/events?limit=1000")["events"]
                if event.get("subject") == self.subject}

    def results(self, **policy):
        answer = self.sign_in(policy)
        return answer["result"], answer.get("step_up", answer.get("reason", []))

    def test_with_a_name_only_that_persons_passkeys_are_asked_for(self):
        self.reset()
        self.enrol(policy={"discoverable": "preferred"})
        answer = self.sign_in(subject=self.subject)
        self.assertEqual((answer["result"], answer["subject"]), ("accepted", self.subject))
        unknown = self.server.api("POST", "/v1/ceremonies", {"type": "passkey", "subject": "nobody"})["options"]
        again = self.server.api("POST", "/v1/ceremonies", {"type": "passkey", "subject": "nobody"})["options"]
        self.assertEqual(unknown["allowCredentials"], again["allowCredentials"])
        self.assertNotEqual(unknown["challenge"], again["challenge"])
        self.assertEqual(self.tab.authenticate(unknown)["error"], "NotAllowedError")

    def test_several_passkeys_have_names_and_user_agents(self):
        first = self.reset()
        self.enrol(name="laptop", user_agent="Chrome on Linux")
        self.tab.call("WebAuthn.setAutomaticPresenceSimulation", authenticatorId=first, enabled=False)
        second = self.tab.authenticator(transport="usb")
        self.enrol(name="key", user_agent="Firefox on Linux")
        self.assertEqual([(one["name"], one["user_agent"], one["transports"]) for one in self.credentials()],
                         [("laptop", "Chrome on Linux", ["internal"]), ("key", "Firefox on Linux", ["usb"])])
        self.assertEqual(self.sign_in()["credential"], self.credentials()[1]["credential"])
        self.tab.call("WebAuthn.setAutomaticPresenceSimulation", authenticatorId=first, enabled=True)
        self.tab.call("WebAuthn.removeVirtualAuthenticator", authenticatorId=second)
        self.assertEqual(self.sign_in()["credential"], self.credentials()[0]["credential"])

    def test_excluded_credentials_stop_a_second_registration(self):
        self.reset()
        self.enrol()
        self.assertEqual(self.tab.register(self.start_enrolment()["options"])["error"], "InvalidStateError")

    def test_a_passkey_that_is_replaced_is_revoked(self):
        first = self.reset()
        pending, _, _ = self.enrol()
        self.tab.call("WebAuthn.removeVirtualAuthenticator", authenticatorId=first)
        self.authenticator = self.tab.authenticator()
        self.enrol(replaces=pending["credential"])
        self.assertEqual([one["state"] for one in self.credentials()], ["active", "revoked"])

    def test_a_synced_passkey_under_each_policy(self):
        synced = {"defaultBackupEligibility": True, "defaultBackupState": True}
        self.reset(**synced)
        _, _, answer = self.enrol()
        self.assertEqual((answer["device_bound"], answer["backed_up"]), (False, True))
        self.assertEqual(self.results(backup="any"), ("accepted", []))
        self.assertEqual(self.results(backup="step-up"), ("step-up", ["new-device"]))
        self.assertEqual(self.results(backup="device-bound"), ("denied", "not-device-bound"))
        self.reset(**synced)
        _, _, answer = self.enrol(policy={"backup": "device-bound"})
        self.assertEqual((answer["result"], answer.get("reason")), ("denied", "not-device-bound"))

    def test_a_synced_passkey_on_a_known_device_needs_no_step_up(self):
        self.reset(defaultBackupEligibility=True, defaultBackupState=True)
        pending, _, _ = self.enrol()
        answer = self.sign_in({"backup": "step-up"})
        done = {"verification": answer["verification"]}
        path = f"/v1/credentials/{pending['credential']}/step-up"
        self.assertEqual(self.server.api("POST", path, done)["result"], "accepted")
        self.assertEqual(self.server.api("POST", path, done)["result"], "denied")
        again = self.sign_in({"backup": "step-up"}, device=answer["device"])
        self.assertEqual(again["result"], "accepted")
        self.assertEqual(self.results(backup="step-up"), ("step-up", ["new-device"]))

    def test_a_passkey_that_becomes_syncable_under_each_policy(self):
        for policy, expected in [("any", ("accepted", [])), ("step-up", ("step-up", ["became-syncable"])),
                                 ("device-bound", ("denied", "backup-eligibility-changed"))]:
            with self.subTest(policy):
                self.reset()
                self.enrol()
                self.assertEqual(self.results(backup=policy), ("accepted", []))
                self.change(backupEligibility=True)
                self.assertEqual(self.results(backup=policy), expected)
                if expected[0] == "accepted":
                    self.assertIn("backupChanged", self.events())

    def test_a_passkey_that_is_no_longer_syncable_under_each_policy(self):
        for policy, expected in [("any", ("accepted", [])), ("step-up", ("step-up", ["backup-flags"])),
                                 ("device-bound", ("denied", "backup-eligibility-changed"))]:
            with self.subTest(policy):
                self.reset(defaultBackupEligibility=True)
                self.enrol()
                self.change(backupEligibility=False)
                self.assertEqual(self.results(backup=policy), expected)

    def test_a_counter_that_was_rolled_back_under_each_policy(self):
        for policy, expected in [("signal", ("accepted", [])), ("step-up", ("step-up", ["counter"])),
                                 ("deny", ("denied", "counter"))]:
            with self.subTest(policy):
                self.reset()
                self.enrol()
                self.sign_in()
                self.assertEqual(self.sign_in({"counter": policy})["sign_count"], "ok")
                self.change(signCount=1)
                self.assertEqual(self.results(counter=policy), expected)
                if expected[0] == "accepted":
                    self.assertIn("counterRolledBack", self.events())
        self.change(signCount=50)
        self.assertEqual(self.sign_in({"counter": "deny"})["sign_count"], "ok")

    def test_a_device_that_does_not_verify_its_user(self):
        self.reset(hasUserVerification=False, isUserVerified=False)
        _, _, answer = self.enrol(policy={"user_verification": "discouraged"})
        self.assertEqual((answer["result"], answer["user_verified"]), ("accepted", False))
        for policy in ("preferred", "discouraged"):
            answer = self.sign_in({"user_verification": policy}, subject=self.subject)
            self.assertEqual((answer["result"], answer["user_verified"]), ("accepted", False))
        ceremony = self.server.api("POST", "/v1/ceremonies", {
            "type": "passkey", "subject": self.subject, "policy": {"user_verification": "required"}})
        response = self.tab.authenticate(ceremony["options"] | {"userVerification": "discouraged"})["ok"]
        answer = self.server.api("POST", "/v1/assertions", {"ceremony": ceremony["ceremony"], "response": response})
        self.assertEqual((answer["result"], answer["reason"]), ("denied", "user-verification"))

    def test_attestation_under_each_policy(self):
        for policy, expected in [("none", ("accepted", "none")), ("any", ("accepted", "unverified")),
                                 ("trusted", ("denied", "attestation-untrusted"))]:
            with self.subTest(policy):
                self.reset()
                _, _, answer = self.enrol(policy={"attestation": policy})
                self.assertEqual((answer["result"], answer.get("attestation", answer.get("reason"))), expected)

    def test_the_list_for_the_signal_names_the_active_passkeys(self):
        self.reset()
        pending, response, _ = self.enrol()
        path = f"/v1/subjects/{self.subject}/passkeys/signal"
        found = self.server.api("GET", path)
        self.assertEqual((found["rpId"], found["allAcceptedCredentialIds"]), ("mill.example", [response["id"]]))
        self.server.api("DELETE", f"/v1/credentials/{pending['credential']}")
        found = self.server.api("GET", path)
        self.assertEqual(found["allAcceptedCredentialIds"], [])
        self.tab.run(f"PublicKeyCredential.signalAllAcceptedCredentials({found})")
        self.tab.wait("true")
        self.assertEqual(self.tab.passkeys(self.authenticator), [])


if __name__ == "__main__":
    unittest.main()

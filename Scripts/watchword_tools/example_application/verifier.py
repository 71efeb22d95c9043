"""The application's requests to watchword-server."""
import json
import urllib.error
import urllib.request
from urllib.parse import quote

DEADLINE = 20


class Verifier:
    """A client of the server's API. The key needs the scopes verify, enrol and manage."""

    def __init__(self, address, key, context=None):
        self.address, self.key, self.context = address, key, context

    def _send(self, method, path, body=None):
        request = urllib.request.Request(self.address + path, method=method)
        request.add_header("Authorization", "Bearer " + self.key)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, context=self.context, timeout=DEADLINE) as response:
            content = response.read()
        return json.loads(content) if content else None

    def redeem_login(self, login):
        """Redeems a login ticket. Returns who signed in, with which credential, and whether the server requires a
        second proof (the result is then "step-up"); or `None`."""
        answer = self._send("POST", "/v1/logins/redeem", {"login": login})
        return answer if answer["result"] != "denied" else None

    def completes_step_up(self, credential, verification):
        """Reports the second proof. The server refuses it after ten minutes, after a later sign-in with the passkey,
        and if the passkey has been revoked; the person is then not signed in."""
        try:
            answer = self._send(
                "POST", f"/v1/credentials/{quote(credential, '')}/step-up", {"verification": verification})
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return False
            raise
        return answer["result"] == "accepted"

    def accepts_recovery_code(self, subject, code):
        """Verifies a recovery code and spends it. The type is checked: other codes do not prove a recovery."""
        try:
            answer = self._send("POST", "/v1/verifications", {"subject": subject, "code": code})
        except urllib.error.HTTPError as error:
            if error.code == 400:  # Not a recovery code's form.
                return False
            raise
        return answer["result"] == "accepted" and answer["type"] == "recovery"

    def _credentials(self, subject):
        return self._send("GET", f"/v1/subjects/{quote(subject, '')}/credentials")["credentials"]

    def has_credentials(self, subject):
        """Whether the server has credentials of this person. Revoked and pending ones count, because the name is taken."""
        return bool(self._credentials(subject))

    def passkeys(self, subject):
        """The person's passkeys, revoked ones included."""
        return [credential for credential in self._credentials(subject)
                if credential["type"] == "passkey" and credential["state"] != "pending"]

    def accepted_passkeys(self, subject):
        """The argument for `signalAllAcceptedCredentials`; `None` while the person creates a passkey."""
        try:
            return self._send("GET", f"/v1/subjects/{quote(subject, '')}/passkeys/signal")
        except urllib.error.HTTPError as error:
            if error.code == 409:
                return None
            raise

    def revoke(self, credential):
        self._send("DELETE", f"/v1/credentials/{quote(credential, '')}")

    def enrolment_link(self, subject):
        """A link with a ticket: whoever opens it can create a passkey for this person, once."""
        return self._send("POST", f"/v1/subjects/{quote(subject, '')}/credentials", {
            "type": "passkey", "via": "page", "user_name": subject})["link"]

    def recovery_codes(self, subject):
        return self._send("POST", f"/v1/subjects/{quote(subject, '')}/credentials", {"type": "recovery"})["codes"]

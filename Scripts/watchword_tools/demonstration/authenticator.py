"""An authenticator in software: it keeps passkeys, as a laptop or a security key does."""
import base64
import hashlib
import json
import secrets

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

# The flags of the authenticator data (Web Authentication Level 3, section 6.1).
USER_PRESENT, USER_VERIFIED, ATTESTED = 0x01, 0x04, 0x40


def text(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Authenticator:
    """Has at most one passkey, for ES256 and without attestation. It always reports that the user is present and verified."""

    def create(self, options, origin):
        """The result of `navigator.credentials.create`, as JSON."""
        self.identifier, self.key = secrets.token_bytes(32), ec.generate_private_key(ec.SECP256R1())
        self.user = options["user"]["id"]
        point = self.key.public_key().public_numbers()
        data = (
            self._data(options["rp"]["id"], ATTESTED) + bytes(16) + len(self.identifier).to_bytes(2, "big")
            + self.identifier
            # The key as a CBOR map: 1 (type): 2 (EC2), 3 (algorithm): -7 (ES256), -1 (curve): 1 (P-256), x and y.
            + b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20" + point.x.to_bytes(32, "big")
            + b"\x22\x58\x20" + point.y.to_bytes(32, "big"))
        statement = b"\xa3cfmtdnonegattStmt\xa0hauthData\x58" + bytes([len(data)]) + data
        return self._response(
            clientDataJSON=text(self._client_data("webauthn.create", options, origin)),
            attestationObject=text(statement))

    def sign(self, options, origin):
        """The result of `navigator.credentials.get`, as JSON."""
        client_data, data = self._client_data("webauthn.get", options, origin), self._data(options["rpId"])
        signature = self.key.sign(data + hashlib.sha256(client_data).digest(), ec.ECDSA(hashes.SHA256()))
        return self._response(
            clientDataJSON=text(client_data), authenticatorData=text(data), signature=text(signature),
            userHandle=self.user)

    def _data(self, domain, flags=0):
        """The authenticator data, with the counter 0."""
        return hashlib.sha256(domain.encode()).digest() + bytes([USER_PRESENT | USER_VERIFIED | flags]) + bytes(4)

    def _client_data(self, kind, options, origin):
        return json.dumps({"type": kind, "challenge": options["challenge"], "origin": origin}).encode()

    def _response(self, **members):
        identifier = text(self.identifier)
        return {"id": identifier, "rawId": identifier, "type": "public-key", "response": members}

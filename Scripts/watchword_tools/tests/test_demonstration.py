import base64
import contextlib
import hashlib
import io
import json
import unittest

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from watchword_tools.demonstration.authenticator import Authenticator
from watchword_tools.demonstration.recovery import Story
from watchword_tools.demonstration.visitor import Page, Unexpected
from watchword_tools.example_application import views

ORIGIN = "https://mill.example"
CREATION = {"rp": {"id": "mill.example"}, "user": {"id": "dXNlcg"}, "challenge": "Zmlyc3Q"}
REQUEST = {"rpId": "mill.example", "challenge": "c2Vjb25k"}


def data(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class AuthenticatorTests(unittest.TestCase):
    def setUp(self):
        self.authenticator = Authenticator()
        self.made = self.authenticator.create(CREATION, ORIGIN)

    def test_a_registration_contains_the_public_key(self):
        client_data = json.loads(data(self.made["response"]["clientDataJSON"]))
        self.assertEqual(client_data, {"type": "webauthn.create", "challenge": "Zmlyc3Q", "origin": ORIGIN})
        start, authenticator_data = data(self.made["response"]["attestationObject"]).split(b"hauthData\x58\xa4")
        self.assertEqual(start, b"\xa3cfmtdnonegattStmt\xa0")
        self.assertEqual(len(authenticator_data), 164)
        self.assertEqual(authenticator_data[:32], hashlib.sha256(b"mill.example").digest())
        self.assertEqual(authenticator_data[32:55], b"\x45" + bytes(20) + b"\0\x20")
        self.assertEqual(authenticator_data[55:87], data(self.made["id"]))

    def test_the_key_of_the_registration_verifies_a_signature(self):
        object_ = data(self.made["response"]["attestationObject"])
        key = ec.EllipticCurvePublicNumbers(
            int.from_bytes(object_[-67:-35], "big"), int.from_bytes(object_[-32:], "big"), ec.SECP256R1()).public_key()
        signed = self.authenticator.sign(REQUEST, ORIGIN)
        response = {name: data(value) for name, value in signed["response"].items()}
        self.assertEqual((signed["id"], response["userHandle"]), (self.made["id"], b"user"))
        self.assertEqual(json.loads(response["clientDataJSON"])["type"], "webauthn.get")
        self.assertEqual(response["authenticatorData"][32:], b"\x05" + bytes(4))
        message = response["authenticatorData"] + hashlib.sha256(response["clientDataJSON"]).digest()
        key.verify(response["signature"], message, ec.ECDSA(hashes.SHA256()))
        with self.assertRaises(InvalidSignature):
            key.verify(response["signature"], message + b"\0", ec.ECDSA(hashes.SHA256()))


class PageTests(unittest.TestCase):
    def test_a_page_of_the_application_is_read(self):
        page = Page(200, None, views.lost([{"credential": "cr_1", "name": "<old>"}], "Choose & go."))
        self.assertEqual((page.title, page.alert, page.choices),
                         ("Which passkey have you lost?", "Choose & go.", {"cr_1": "<old>"}))
        self.assertEqual(Page(200, None, views.codes(["A", "B"])).items, ["A", "B"])


class StoryTests(unittest.TestCase):
    def test_a_step_with_another_result_ends_the_story(self):
        story = Story("http://localhost:1", "http://localhost:2")
        for page in (Page(200, None, views.welcome()), Page(403, None, views.recover("Wrong."))):
            with self.assertRaises(Unexpected), contextlib.redirect_stdout(io.StringIO()):
                story.show_page(page, "Your recovery codes")


if __name__ == "__main__":
    unittest.main()

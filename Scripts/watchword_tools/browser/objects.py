"""Registrations and assertions of a real browser, as known answers for the tests.

What is expected comes from the authenticator (DevTools), not from the objects themselves.
"""
import base64
import hashlib
import json
import tempfile

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_private_key

from watchword_tools import ROOT

from .chromium import Chromium
from .server import Certificate, Site, fixed
from .tab import AUTHENTICATOR, Tab

RP = "mill.example"
MILL, SHOP, FRAME, RELATED = (
    "https://mill.example", "https://shop.example", "https://frame.mill.example", "https://mill-shop.example")
HOSTS = [origin.removeprefix("https://") for origin in (MILL, SHOP, FRAME, RELATED)]
FRAMING = ('<iframe allow="publickey-credentials-get *; publickey-credentials-create *" '
           f'src="{FRAME}/"></iframe>')
U2F = {"protocol": "u2f", "transport": "usb", "hasResidentKey": False, "hasUserVerification": False,
       "isUserVerified": False}
NOT_DISCOVERABLE = {"residentKey": "discouraged", "userVerification": "discouraged"}
EXTENDED = {"transport": "usb", "hasMinPinLength": True, "hasCredBlob": True}
# Name, page, options of the authenticator, options of the registration, and the assertions that follow: their
# name, page, changes of the passkey, and options.
CASES = [
    ("none", MILL, {}, {}, [
        ("first", MILL, {}, {}),
        ("second", MILL, {}, {}),
        ("with a list of allowed credentials", MILL, {}, {"listed": True}),
        ("from a related origin", RELATED, {}, {}),
        ("from a subdomain", FRAME, {}, {}),
        ("in a frame of another site", SHOP, {}, {}),
        ("counter rolled back", MILL, {"signCount": 1}, {}),
        ("without user verification", MILL, {}, {"listed": True, "userVerification": "discouraged"}),
    ]),
    ("none, RSA", MILL, {}, {"algorithms": [-257]}, [("first", MILL, {}, {})]),
    ("none, Ed25519", MILL, {}, {"algorithms": [-8]}, [("first", MILL, {}, {})]),
    ("none, from a related origin", RELATED, {}, {}, []),
    ("none, in a frame of another site", SHOP, {}, {}, []),
    ("packed with a certificate", MILL, {}, {"attestation": "direct"}, [("first", MILL, {}, {})]),
    ("packed with a certificate, synced", MILL,
     {"defaultBackupEligibility": True, "defaultBackupState": True}, {"attestation": "direct"}, []),
    ("fido-u2f", MILL, U2F, {"attestation": "direct", **NOT_DISCOVERABLE},
     [("first", MILL, {}, {"listed": True, "userVerification": "discouraged"})]),
    ("u2f key, attestation none", MILL, U2F, NOT_DISCOVERABLE, []),
    ("synced", MILL, {"defaultBackupEligibility": True, "defaultBackupState": True}, {}, [
        ("backed up", MILL, {}, {}),
        ("no longer backed up", MILL, {"backupState": False}, {}),
        ("no longer eligible", MILL, {"backupEligibility": False}, {}),
    ]),
    ("eligible for backup, not backed up", MILL, {"defaultBackupEligibility": True}, {}, [
        ("backed up later", MILL, {"backupState": True}, {}),
    ]),
    ("device-bound, later eligible", MILL, {}, {}, [("eligible", MILL, {"backupEligibility": True}, {})]),
    ("no user verification", MILL, {"hasUserVerification": False, "isUserVerified": False},
     {"userVerification": "discouraged"}, [
         ("without user verification", MILL, {}, {"listed": True, "userVerification": "discouraged"})]),
    ("not discoverable", MILL, {"transport": "usb", "hasResidentKey": False}, {"residentKey": "discouraged"},
     [("without a user handle", MILL, {}, {"listed": True})]),
    ("extension data", MILL, EXTENDED, {"extensions": {"minPinLength": True, "credBlob": "YmxvYg"}}, [
        ("extension data", MILL, {}, {"extensions": {"getCredBlob": True}})]),
    ("extension data, packed", MILL, EXTENDED, {"attestation": "direct", "extensions": {"minPinLength": True}}, []),
]


def text(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def standard(value):
    """DevTools writes Base64 with padding and the usual alphabet; everything else here is base64url."""
    return value.replace("+", "-").replace("/", "_").rstrip("=")


def challenge(*names):
    return text(hashlib.sha256(": ".join(names).encode()).digest())


def public_key(private_key):
    """The public half of the key that the authenticator holds, as COSE's parameters."""
    key = load_der_private_key(base64.b64decode(private_key), None).public_key()
    if isinstance(key, ec.EllipticCurvePublicKey):
        numbers = key.public_numbers()
        return {"alg": -7, "x": numbers.x.to_bytes(32, "big").hex(), "y": numbers.y.to_bytes(32, "big").hex()}
    if isinstance(key, rsa.RSAPublicKey):
        numbers = key.public_numbers()
        size = (key.key_size + 7) // 8
        return {"alg": -257, "n": numbers.n.to_bytes(size, "big").hex(), "e": "%06x" % numbers.e}
    assert isinstance(key, ed25519.Ed25519PublicKey)
    return {"alg": -8, "x": key.public_bytes(Encoding.Raw, PublicFormat.Raw).hex()}


def creation_options(name, special):
    special = dict(special)
    algorithms = special.pop("algorithms", [-7, -257])
    selection = {"residentKey": special.pop("residentKey", "required"),
                 "userVerification": special.pop("userVerification", "required")}
    return {
        "rp": {"id": RP, "name": "Mill"},
        "user": {"id": text(hashlib.sha256(b"user " + name.encode()).digest()), "name": name, "displayName": name},
        "challenge": challenge(name), "timeout": 60000, "attestation": "none", "excludeCredentials": [],
        "pubKeyCredParams": [{"type": "public-key", "alg": algorithm} for algorithm in algorithms],
        "authenticatorSelection": selection, **special}


def request_options(registration, name, special, passkey):
    listed = [{"type": "public-key", "id": passkey}] if special.get("listed") else []
    return {"challenge": challenge(registration, name), "timeout": 60000, "rpId": RP, "allowCredentials": listed,
            "userVerification": special.get("userVerification", "required"),
            **{key: value for key, value in special.items() if key == "extensions"}}


def ceremony(origin, page, session, options, response):
    """The input and the result of a ceremony; the options and the response as JSON texts."""
    return {"origin": origin, **({"top_origin": page} if session else {}), "challenge": options["challenge"],
            "options": json.dumps(options), "response": json.dumps(response)}


class Recorder:
    """Runs the cases in one browser."""

    def __init__(self, browser):
        self.browser = browser
        self.cases = []

    def go(self, tab, page):
        """Opens the page. Returns the session and the origin of the ceremony: in the shop's page, those of its
        frame."""
        self.browser.events.clear()
        tab.open(page + "/")
        return (tab.frame(), FRAME) if page == SHOP else (None, page)

    def passkey(self, tab, authenticator):
        [passkey] = tab.passkeys(authenticator)
        return passkey

    def facts(self, passkey):
        return {"count": passkey["signCount"], "backup_eligible": passkey.get("backupEligibility", False),
                "backed_up": passkey.get("backupState", False)}

    def change(self, tab, authenticator, passkey, changes):
        if "signCount" in changes:
            tab.call("WebAuthn.removeCredential", authenticatorId=authenticator,
                     credentialId=passkey["credentialId"])
            tab.call("WebAuthn.addCredential", authenticatorId=authenticator, credential=passkey | changes)
        elif changes:
            tab.call("WebAuthn.setCredentialProperties", authenticatorId=authenticator,
                     credentialId=passkey["credentialId"], **changes)

    def record(self, name, page, device, special, assertions):
        tab = Tab(self.browser)
        if device.get("protocol") == "u2f":
            authenticator = tab.call("WebAuthn.addVirtualAuthenticator", options={
                key: value for key, value in (AUTHENTICATOR | device).items() if key != "ctap2Version"
            })["authenticatorId"]
        else:
            authenticator = tab.authenticator(**device)
        session, origin = self.go(tab, page)
        options = creation_options(name, special)
        made = tab.register(options, session)
        if "ok" not in made:
            raise RuntimeError(f"{name}: {made}")
        passkey = self.passkey(tab, authenticator)
        case = {
            "name": name, **ceremony(origin, page, session, options, made["ok"]),
            "expected": {"credential_id": standard(passkey["credentialId"]), **public_key(passkey["privateKey"]),
                         **self.facts(passkey), **({"count": 0} if device == U2F else {})},
            "assertions": []}
        self.cases.append(case)
        for assertion, page, changes, special in assertions:
            self.change(tab, authenticator, self.passkey(tab, authenticator), changes)
            session, origin = self.go(tab, page)
            options = request_options(name, assertion, special, standard(passkey["credentialId"]))
            made = tab.authenticate(options, session)
            if "ok" not in made:
                raise RuntimeError(f"{name}: {assertion}: {made}")
            case["assertions"].append({
                "name": assertion, **ceremony(origin, page, session, options, made["ok"]),
                "expected": self.facts(self.passkey(tab, authenticator))})
        tab.close()


def record():
    """Returns the known answers."""
    script = {"/ui/page.js": (ROOT / "Sources/Server/VerificationService/Pages/Files/page.js").read_text(), "/": "<p>Page."}
    related = {"/.well-known/webauthn": json.dumps({"origins": [RELATED]})}
    with tempfile.TemporaryDirectory() as folder:
        certificate = Certificate(folder, HOSTS)
        sites = [Site(certificate, fixed(script | related)), Site(certificate, fixed({"/": FRAMING})),
                 Site(certificate, fixed(script)), Site(certificate, fixed(script))]
        browser = Chromium(folder, {host: site.port for host, site in zip(HOSTS, sites)})
        try:
            version = browser.call("Browser.getVersion")["product"]
            recorder = Recorder(browser)
            for case in CASES:
                recorder.record(*case)
        finally:
            browser.close()
            for site in sites:
                site.close()
    return {
        "source": f"{version}, headless, with the virtual authenticators of its DevTools protocol; recorded by "
                  f"Scripts/make-passkey-vectors. The relying party {RP} has the origins {MILL}, {FRAME} and "
                  f"{RELATED}, and the top origin {SHOP}.",
        "cases": recorder.cases}

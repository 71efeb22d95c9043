"""The file: its slots, its encryption and its entries."""
import base64
import re

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
PASSWORD_SLOT = 1
ALGORITHMS = {"totp": {"SHA1", "SHA256", "SHA512"}, "hotp": {"SHA1", "SHA256", "SHA512"}, "steam": {"SHA1"},
              "yandex": {"SHA256"}, "motp": {"MD5"}}


class Malformed(Exception):
    """The file does not conform to the description."""


class WrongPassword(Exception):
    """No slot opens with the password."""


def read_file(document, password):
    """Returns the content of a file, plain or encrypted, as it stands."""
    expect(document.keys() == {"version", "header", "db"} and document["version"] == 1, "the members of the file")
    header = document["header"]
    expect(header.keys() == {"slots", "params"}, "the members of the header")
    if header["slots"] is None:
        expect(header["params"] is None, "the parameters of a plain file")
        return document["db"]
    key = master_key(header["slots"], password)
    ciphertext = base64.b64decode(document["db"], validate=True)
    return decrypt(key, header["params"], ciphertext)


def master_key(slots, password):
    """The key in the first slot that the password opens."""
    for slot in slots:
        if slot["type"] != PASSWORD_SLOT:
            continue
        expect(UUID.fullmatch(slot["uuid"]), "the slot's UUID")
        salt = from_hex(slot["salt"], 32, "the salt")
        expect((slot["n"], slot["r"], slot["p"]) == (2 ** 15, 8, 1), "the cost of scrypt")
        derived = Scrypt(salt, 32, slot["n"], slot["r"], slot["p"]).derive(password)
        try:
            return decrypt(derived, slot["key_params"], from_hex(slot["key"], 32, "the slot's key"))
        except WrongPassword:
            continue
    raise WrongPassword


def decrypt(key, parameters, ciphertext):
    nonce = from_hex(parameters["nonce"], 12, "a nonce")
    tag = from_hex(parameters["tag"], 16, "a tag")
    try:
        return AESGCM(key).decrypt(nonce, ciphertext + tag, None)
    except InvalidTag:
        raise WrongPassword from None


def entries(content):
    """Checks the entries and yields them, with their groups' names."""
    expect(content["version"] == 3, "the version of the content")
    groups = {group["uuid"]: group["name"] for group in content["groups"]}
    expect(all(UUID.fullmatch(uuid) for uuid in groups), "a group's UUID")
    known = set()
    for entry in content["entries"]:
        expect(UUID.fullmatch(entry["uuid"]) and entry["uuid"] not in known, "an entry's UUID")
        known.add(entry["uuid"])
        info = entry["info"]
        expect(info["algo"] in ALGORITHMS[entry["type"]], "an algorithm")
        expect(re.fullmatch("[A-Z2-7]+", info["secret"]), "a secret in Base32 without padding")
        expect(1 <= info["digits"] <= 10, "a number of digits")
        factor = "counter" if entry["type"] == "hotp" else "period"
        expect(isinstance(info[factor], int) and info[factor] >= (factor == "period"), f"a {factor}")
        yield {"type": entry["type"], "issuer": entry["issuer"], "account": entry["name"], "note": entry["note"],
               "favourite": entry["favorite"], "tags": [groups[group] for group in entry["groups"]], **info}


def from_hex(text, count, what):
    expect(re.fullmatch("([0-9a-f]{2})*", text) and len(text) == 2 * count, what)
    return bytes.fromhex(text)


def expect(condition, what):
    if not condition:
        raise Malformed(what)

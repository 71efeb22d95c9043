"""The slots of a vault: their lines, and how a passphrase or a recovery key opens one."""
import base64
import hashlib
import re

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from .boxes import LABEL, hkdf, open_box
from .lines import Damaged, expect, from_base64, number

LIMIT_LOG_N = 24
# The methods that need a device, with the labels of their keys. This reader talks to no device.
DEVICES = {"tpm2-sealed": b"tpm2-slot", "fido2-hmac-secret": b"fido2-slot"}


class Wrong(Exception):
    """The passphrase or recovery key opens no slot."""


def read_slot(lines, vault_line, slots):
    where = lines.where()
    line = lines.lines[lines.at]
    words = lines.take("slot", None)[0].split(" ")
    expect(len(words) >= 6, where)
    slot = {"number": number(words[0], where, 1, 9999), "created": number(words[1], where), "method": words[2]}
    expect(not slots or slots[-1]["number"] < slot["number"], where)
    slot["public"] = from_base64(words[3], 32, where)
    sealed = from_base64(words[-1], 92, where)
    slot["ephemeral"], slot["vault_key"] = sealed[:32], sealed[32:]
    slot["vault_key_associated"] = vault_line + line[:-len(words[-1])].encode()
    if words[2] == "passphrase":
        expect(len(words) == 10 and words[5:7] == ["8", "1"], where)
        slot["log_n"] = number(words[4], where, 10, 63)
    elif words[2] == "recovery-key":
        expect(len(words) == 7, where)
    elif words[2] in DEVICES:
        read_device(slot, words, where)
        expect(words[4] in ("pin", "no-pin"), where)
        slot["pin"] = words[4] == "pin"
    else:
        expect(re.fullmatch("[!-~]+", words[2]) and re.fullmatch("[ -~]+", " ".join(words[4:-1])), where)
        return slot
    salt = words[6] if words[2] in DEVICES else words[-3]
    slot["salt"] = from_base64(salt, 16, where)
    slot["secret"] = from_base64(words[-2], 92, where)
    slot["secret_associated"] = vault_line + line[:-len(words[-2] + " " + words[-1])].encode()
    return slot


def read_device(slot, words, where):
    """Reads the words that only a device's slot has."""
    expect(len(words) == 11, where)
    first, second = (from_base64(word, None, where) for word in words[7:9])
    if slot["method"] == "tpm2-sealed":
        expect(words[5] in ("pcr7", "no-pcr"), where)
        slot["pcr7"] = words[5] == "pcr7"
        expect(1 <= len(first) <= 1024 and 1 <= len(second) <= 1024, where)
    else:
        expect(re.fullmatch("[!-~]{1,64}", words[5]) and 1 <= len(first) <= 1023 and len(second) == 32, where)


def recovery_key(text):
    letters = re.sub(r"[\s-]", "", text).upper()
    try:
        data = base64.b32decode(letters)
    except ValueError:
        raise Wrong from None
    key, check = data[:32], data[32:]
    if len(data) != 35 or hashlib.sha256(b"watchword recovery key" + key).digest()[:3] != check:
        raise Wrong
    return key


def vault_key(vault, passphrase, recovery, device=None):
    for slot in vault["slots"]:
        if slot["method"] == "passphrase" and passphrase is not None:
            expect(slot["log_n"] <= LIMIT_LOG_N, "cost over the ceiling")
            key = Scrypt(LABEL + b"passphrase" + slot["salt"], 32, 2 ** slot["log_n"], 8, 1).derive(passphrase)
        elif slot["method"] == "recovery-key" and recovery is not None:
            key = hkdf(recovery, slot["salt"], LABEL + b"recovery-slot")
        elif slot["method"] in DEVICES and device is not None:
            key = hkdf(device, slot["salt"], LABEL + DEVICES[slot["method"]])
        else:
            continue
        try:
            secret = open_box(key, slot["secret"], slot["secret_associated"], "slot")
        except Damaged:
            continue
        return open_vault_key(slot, secret)
    raise Wrong


def open_vault_key(slot, secret):
    """Opens the vault key, which is sealed to the slot's public key."""
    where = f"slot {slot['number']}"
    private, authentication_key = X25519PrivateKey.from_private_bytes(secret[:32]), secret[32:]
    try:
        agreed = private.exchange(X25519PublicKey.from_public_bytes(slot["ephemeral"]))
    except ValueError:
        raise Damaged(where) from None
    key = hkdf(agreed + authentication_key, slot["ephemeral"] + slot["public"], LABEL + b"slot")
    return open_box(key, slot["vault_key"], slot["vault_key_associated"], where)

"""The keys and boxes of a vault: HKDF-SHA-256 and AES-256-GCM."""
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from .lines import Damaged, expect

LABEL = b"watchword-vault 1 "
DEVICE_LABEL = b"watchword-device 1 "


def hkdf(secret, salt, info):
    return HKDF(SHA256(), 32, salt, info).derive(secret)


def open_box(key, box, associated, where):
    expect(len(box) >= 28, where)
    try:
        return AESGCM(key).decrypt(box[:12], box[12:], associated)
    except InvalidTag:
        raise Damaged(where) from None

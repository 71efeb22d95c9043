"""The manifest: the encrypted list of entries."""
import struct

from .boxes import LABEL, hkdf, open_box
from .fields import Fields
from .lines import expect

REASONS = ["failures", "revoked", "reuse-detected", "too-many-failures", "account-closed"]
KINDS = {1: "totp", 2: "hotp", 3: "secret", 4: "enrolled"}
ALGORITHMS = {1: "SHA1", 2: "SHA256", 3: "SHA512"}


def read_manifest(vault, key):
    plaintext = open_box(hkdf(key, vault["id"], LABEL + b"manifest"), vault["manifest"], vault["mac_line"], "manifest")
    fields = Fields(plaintext, "manifest")
    expect(fields.number(4) == len(vault["slots"]), "manifest")
    for slot in vault["slots"]:
        expect(fields.number(4) == slot["number"], "manifest")
        fields.take(32)
    expect(fields.number(4) == len(vault["records"]), "manifest")
    entries = [read_listed(fields) for _ in vault["records"]]
    fields.end()
    return entries


def read_listed(fields):
    entry = {"id": fields.take(16), "revision": fields.number(8), "digest": None, "fingerprint": None, "wiped": None}
    state = fields.number(1)
    expect(state in (1, 2), "manifest")
    if state == 1:
        entry.update(digest=fields.take(32), fingerprint=fields.take(16))
    else:
        time, reason = fields.number(8), fields.number(1)
        expect(1 <= reason <= len(REASONS), "manifest")
        entry["wiped"] = {"time": time, "reason": REASONS[reason - 1]}
    entry.update(created=fields.number(8), issuer=fields.text(4096), account=fields.text(4096))
    kind = fields.number(1)
    expect(kind in KINDS, "manifest")
    entry["kind"] = KINDS[kind]
    if kind <= 2:
        algorithm, digits = fields.number(1), fields.number(1)
        expect(algorithm in ALGORITHMS and digits <= 10, "manifest")
        entry.update(algorithm=ALGORITHMS[algorithm], digits=digits)
    if kind == 1:
        entry["period"], entry["start"] = struct.unpack(">qq", fields.take(16))
        expect(entry["period"] >= 1, "manifest")
    return entry

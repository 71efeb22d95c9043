"""The manifest: the encrypted list of entries."""
import struct
import unicodedata

from .boxes import LABEL, hkdf, open_box
from .fields import Fields
from .lines import expect

REASONS = ["failures", "revoked", "reuse-detected", "too-many-failures", "account-closed"]
KINDS = {1: "totp", 2: "hotp", 3: "secret", 4: "enrolled", 5: "motp", 6: "yandex"}
KINDS_OF_FORMAT_1 = 4
BINDINGS = {1: "tpm", 2: "agent", 3: "file"}
ALGORITHMS = {1: "SHA1", 2: "SHA256", 3: "SHA512"}


def read_manifest(vault, key):
    """Returns the entries, and the history, which is None in format 1."""
    plaintext = open_box(hkdf(key, vault["id"], LABEL + b"manifest"), vault["manifest"], vault["mac_line"], "manifest")
    fields = Fields(plaintext, "manifest")
    expect(fields.number(4) == len(vault["slots"]), "manifest")
    for slot in vault["slots"]:
        expect(fields.number(4) == slot["number"], "manifest")
        fields.take(32)
    expect(fields.number(4) == len(vault["records"]), "manifest")
    entries = [read_listed(fields, vault["version"]) for _ in vault["records"]]
    expect((vault["version"] == 4) == any("device" in entry for entry in entries), "line 1")
    history = read_history(fields, vault["generation"]) if vault["version"] > 1 else None
    fields.end()
    return entries, history


def read_history(fields, generation):
    """Reads the saves of the file; the newest save has this generation."""
    count = fields.number(4)
    expect(1 <= count <= 512, "manifest")
    saves = [{"generation": fields.number(8), "id": fields.take(8).hex()} for _ in range(count)]
    expect(saves[0]["generation"] == generation, "manifest")
    expect(all(1 <= save["generation"] < generation for save in saves[1:]), "manifest")
    expect(len({(save["generation"], save["id"]) for save in saves}) == count, "manifest")
    return saves


def read_details(fields):
    edit = {"edited": fields.number(8), "edited_in": fields.take(8).hex()}
    count = fields.number(4)
    expect(count <= 64, "manifest")
    tags = [fields.text(256) for _ in range(count)]
    expect(len(set(tags)) == count and all(map(is_tag, tags)), "manifest")
    details = {"tags": tags, "note": fields.text(16384), "icon": fields.text(256)}
    favourite = fields.number(1)
    expect(favourite <= 1, "manifest")
    return edit | details | {"favourite": favourite == 1}


def is_tag(text):
    return text != "" and has_no_space_around(text)


def has_no_space_around(text):
    return not any(unicodedata.category(letter) == "Zs" for letter in text[:1] + text[-1:])


def read_device(fields):
    """Reads the device to which a record is bound."""
    device = {"id": fields.take(16).hex(), "binding": BINDINGS.get(fields.number(1)), "name": fields.text(64),
              "state": fields.number(8)}
    expect(device["binding"] and device["name"], "manifest")
    expect(all(unicodedata.category(letter) != "Cc" for letter in device["name"]), "manifest")
    return device


def read_listed(fields, version):
    entry = {"id": fields.take(16), "revision": fields.number(8), "digest": None, "fingerprint": None, "wiped": None}
    state = fields.number(1)
    expect(state in (1, 2, 3), "manifest")
    if state != 2:
        entry.update(digest=fields.take(32), fingerprint=fields.take(16))
        entry |= {"device": read_device(fields)} if state == 3 else {}
    else:
        time, reason = fields.number(8), fields.number(1)
        expect(1 <= reason <= len(REASONS), "manifest")
        entry["wiped"] = {"time": time, "reason": REASONS[reason - 1]}
    entry.update(created=fields.number(8), issuer=fields.text(4096), account=fields.text(4096))
    expect(has_no_space_around(entry["issuer"]) and has_no_space_around(entry["account"]), "manifest")
    start = fields.at
    kind = fields.number(1)
    expect(kind in KINDS and (version > 1 or kind <= KINDS_OF_FORMAT_1), "manifest")
    entry["kind"] = KINDS[kind]
    if kind <= 2:
        algorithm, digits = fields.number(1), fields.number(1)
        expect(algorithm in ALGORITHMS and digits <= 10, "manifest")
        entry.update(algorithm=ALGORITHMS[algorithm], digits=digits)
    if kind == 1:
        entry["period"], entry["start"] = struct.unpack(">qq", fields.take(16))
        expect(entry["period"] >= 1, "manifest")
    entry["code"] = fields.data[start:fields.at]
    return entry | read_details(fields) if version > 1 else entry

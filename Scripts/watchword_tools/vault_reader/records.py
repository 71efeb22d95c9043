"""The records of a vault: their lines, and the content of their boxes."""
import base64
import hashlib
import hmac
import re

from .boxes import DEVICE_LABEL, LABEL, hkdf, open_box
from .fields import Fields
from .lines import Damaged, expect, from_base64, number
from .manifest import REASONS


def read_record(lines, known, generation):
    where = lines.where()
    line = lines.lines[lines.at]
    record_id, revision, presence, failure = lines.take("record", 4)
    words = re.fullmatch("(per-unlock|(?:per-use(?::passphrase|:pam)?)(?:,reuse:([1-9][0-9]{0,2}))?)", presence)
    expect(words and int(words[2] or 0) <= 300, where)
    reuse = {"reuse": int(words[2])} if words[2] else {}
    wipe = re.fullmatch("wipe:([1-9][0-9]{0,2})", failure)
    expect(failure == "lock-out" or wipe and int(wipe[1]) <= 100, where)
    expect(record_id not in known, where)
    known.add(record_id)
    return {"id64": record_id, "id": from_base64(record_id, 16, where), "presence": presence.split(",")[0], "on_failure": failure,
            "revision": number(revision, where, 1, generation), "line": line.encode() + b"\n",
            "access": f"{presence} {failure}", **reuse}


def read_body(lines, record):
    where = lines.where()
    if lines.next_is("tombstone"):
        record_id, time, reason = lines.take("tombstone", 3)
        expect(reason in REASONS, where)
        record["tombstone"] = {"time": number(time, where), "reason": reason}
    else:
        record_id, record["box64"] = lines.take("sealed", 2)
    expect(record_id == record["id64"], where)


def unpadded(plaintext, where, limit=65536):
    """Returns the content of a box, without the length before it and the zeros after it."""
    outer = Fields(plaintext, where)
    content = outer.string(limit)
    padding = plaintext[outer.at:]
    expect(len(plaintext) % 64 == 0 and len(padding) < 64 and not any(padding), where)
    return content


def read_content(plaintext, kind, where):
    """Reads the content of a record's box: the secret and its parameters."""
    content = unpadded(plaintext, where)
    if kind in ("secret", "enrolled"):
        return {"secret": content}
    fields = Fields(content, where)
    if kind in ("motp", "yandex"):
        found = {"secret": fields.string()}
        pin = fields.string()
        fields.end()
        return found | {"pin": pin} if pin else found
    found = {"counter": fields.number(8)} if kind == "hotp" else {}
    found["secret"] = fields.string()
    count = fields.number(4)
    expect(count <= 64, where)
    found["parameters"] = [{"name": fields.text(), "value": fields.text()} for _ in range(count)]
    fields.end()
    return found


def enrolled_state(form):
    """How far an enrolled secret has advanced; 0 if its form cannot be read."""
    fields = Fields(form, "form")
    try:
        version = fields.number(1)
        fields.string(2**32), fields.string(2**32)
        credential = fields.string(2**32)
        if version != 1:
            return 2**63 + bool(credential) if version == 2 else 0
        fields.number(8)
        generation = fields.number(8)
        _, nonce, successor, successor_nonce = (fields.string(2**32) for _ in range(4))
    except Damaged:
        return 0
    if generation >= 2**62 - 1:
        return 0
    return 2 * (generation + bool(successor)) + bool(successor_nonce if successor else nonce)


def open_inner_box(vault, box, record, listed, secret, where):
    """Opens the inner box of a bound record with the key of its device, and returns the content."""
    device = listed["device"]
    words = ["bound", record["id64"], base64.b64encode(bytes.fromhex(device["id"])).decode(), device["binding"],
             base64.b64encode(listed["code"]).decode(), record["access"], str(device["state"])]
    associated = vault["line"] + " ".join(words).encode() + b"\n"
    box_key = hkdf(secret, vault["id"], DEVICE_LABEL + b"record" + record["id"])
    content = read_content(open_box(box_key, box, associated, where), listed["kind"], where)
    state = enrolled_state(content["secret"]) if listed["kind"] == "enrolled" else content.get("counter", 0)
    expect(state == device["state"], where)
    return content


def read_entry(vault, key, record, listed, reveal, device_keys=None):
    where = f"record {record['id'].hex()}"
    expect(listed["id"] == record["id"] and listed["revision"] == record["revision"], where)
    entry = {"id": record["id"].hex(), "presence": record["presence"], "on_failure": record["on_failure"],
             "revision": record["revision"]}
    entry |= {"reuse": record["reuse"]} if "reuse" in record else {}
    hidden = ("id", "digest", "fingerprint", "wiped", "revision", "code")
    entry |= {name: value for name, value in listed.items() if name not in hidden}
    if "tombstone" in record:
        expect(listed["wiped"] in (None, record["tombstone"]), where)
        return entry | {"tombstone": record["tombstone"]}
    expect(listed["wiped"] is None, where + " was wiped, but contains its secret")
    expect(hashlib.sha256(record["box64"].encode()).digest() == listed["digest"], where)
    box_key = hkdf(key, vault["id"], LABEL + b"record" + record["id"])
    plaintext = open_box(box_key, from_base64(record["box64"], None, where), vault["line"] + record["line"], where)
    label = LABEL
    if "device" in listed:
        box = unpadded(plaintext, where, 28 + 65600)
        expect(len(box) > 28 and (len(box) - 28) % 64 == 0, where)
        key, label = (device_keys or {}).get(listed["device"]["id"]), DEVICE_LABEL
        if key is None:
            return entry
        content = open_inner_box(vault, box, record, listed, key, where)
    else:
        content = read_content(plaintext, entry["kind"], where)
    fingerprint = hmac.digest(hkdf(key, vault["id"], label + b"fingerprint"), content["secret"], "sha256")
    expect(fingerprint[:16] == listed["fingerprint"], where)
    if not reveal:
        return entry
    return entry | content | {name: content[name].hex() for name in ("secret", "pin") if name in content}

"""The records of a vault: their lines, and the content of their boxes."""
import hashlib
import hmac
import re

from .boxes import LABEL, hkdf, open_box
from .fields import Fields
from .lines import expect, from_base64, number
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
            "revision": number(revision, where, 1, generation), "line": line.encode() + b"\n", **reuse}


def read_body(lines, record):
    where = lines.where()
    if lines.next_is("tombstone"):
        record_id, time, reason = lines.take("tombstone", 3)
        expect(reason in REASONS, where)
        record["tombstone"] = {"time": number(time, where), "reason": reason}
    else:
        record_id, record["box64"] = lines.take("sealed", 2)
    expect(record_id == record["id64"], where)


def read_content(plaintext, kind, where):
    """Reads the content of a record's box: the secret and its parameters."""
    outer = Fields(plaintext, where)
    content = outer.string()
    padding = plaintext[outer.at:]
    expect(len(plaintext) % 64 == 0 and len(padding) < 64 and not any(padding), where)
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


def read_entry(vault, key, record, listed, reveal):
    where = f"record {record['id'].hex()}"
    expect(listed["id"] == record["id"] and listed["revision"] == record["revision"], where)
    entry = {"id": record["id"].hex(), "presence": record["presence"], "on_failure": record["on_failure"],
             "revision": record["revision"]}
    entry |= {"reuse": record["reuse"]} if "reuse" in record else {}
    sealed = ("id", "digest", "fingerprint", "wiped", "revision")
    entry |= {name: value for name, value in listed.items() if name not in sealed}
    if "tombstone" in record:
        expect(listed["wiped"] in (None, record["tombstone"]), where)
        return entry | {"tombstone": record["tombstone"]}
    expect(listed["wiped"] is None, where + " was wiped, but contains its secret")
    expect(hashlib.sha256(record["box64"].encode()).digest() == listed["digest"], where)
    box_key = hkdf(key, vault["id"], LABEL + b"record" + record["id"])
    plaintext = open_box(box_key, from_base64(record["box64"], None, where), vault["line"] + record["line"], where)
    content = read_content(plaintext, entry["kind"], where)
    fingerprint = hmac.digest(hkdf(key, vault["id"], LABEL + b"fingerprint"), content["secret"], "sha256")
    expect(fingerprint[:16] == listed["fingerprint"], where)
    if not reveal:
        return entry
    return entry | content | {name: content[name].hex() for name in ("secret", "pin") if name in content}

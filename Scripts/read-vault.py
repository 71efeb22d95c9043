#!/usr/bin/env python3
"""Reads a Watchword vault without Watchword: the second reader of Sources/SecretVault/VaultFile.md.

    Scripts/read-vault.py VAULT --passphrase-file FILE [--reveal]
    Scripts/read-vault.py VAULT --recovery-key-file FILE [--reveal]
    Scripts/read-vault.py --self-test

Verifies everything that the document describes, opens every record, and prints the content as JSON; prints secrets only with --reveal.
`--self-test` reads all of Vectors/vault, and truncates, flips and forges the files. Needs the package `cryptography` (PyPI, or Debian's python3-cryptography).
Exit status: 0 success, 1 wrong passphrase or recovery key, 3 not a vault, or damaged.
"""
import argparse
import base64
import hashlib
import hmac
import json
import os
import re
import struct
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

LABEL = b"watchword-vault 1 "
REASONS = ["failures", "revoked", "reuse-detected", "too-many-failures", "account-closed"]
KINDS = {1: "totp", 2: "hotp", 3: "secret", 4: "enrolled"}
ALGORITHMS = {1: "SHA1", 2: "SHA256", 3: "SHA512"}
LIMIT_LOG_N = 24
SLOT = 16384


class Damaged(Exception):
    """The file does not match the format; the text says where."""


class Wrong(Exception):
    """The passphrase or recovery key opens no slot."""


def expect(condition, where):
    if not condition:
        raise Damaged(where)


def from_base64(text, count=None, where="base64"):
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        raise Damaged(where) from None
    expect(base64.b64encode(data).decode() == text, where)
    expect(count is None or len(data) == count, where)
    return data


def number(text, where, least=0, most=2**63 - 1):
    expect(re.fullmatch("0|[1-9][0-9]{0,18}", text), where)
    expect(least <= int(text) <= most, where)
    return int(text)


def hkdf(secret, salt, info):
    return HKDF(SHA256(), 32, salt, info).derive(secret)


def open_box(key, box, associated, where):
    expect(len(box) >= 28, where)
    try:
        return AESGCM(key).decrypt(box[:12], box[12:], associated)
    except InvalidTag:
        raise Damaged(where) from None


class Lines:
    """Reads the lines of the file in order."""

    def __init__(self, text):
        self.lines = text[:-1].split("\n")
        self.at = 0

    def next_is(self, word):
        return self.at < len(self.lines) and self.lines[self.at].startswith(word + " ")

    def where(self):
        return f"line {self.at + 1}"

    def take(self, word, count):
        """Reads a line `word …` and returns its `count` further words; if None, returns the rest unsplit."""
        expect(self.next_is(word), self.where())
        rest = self.lines[self.at][len(word) + 1:]
        words = rest.split(" ") if count is not None else [rest]
        expect(all(words) and (count is None or len(words) == count), self.where())
        self.at += 1
        return words


class Fields:
    """Reads binary fields: big-endian numbers, and strings with a 32-bit length in front."""

    def __init__(self, data, where):
        self.data, self.at, self.where = data, 0, where

    def take(self, count):
        expect(self.at + count <= len(self.data), self.where)
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, count):
        return int.from_bytes(self.take(count), "big")

    def string(self, limit=65536):
        count = self.number(4)
        expect(count <= limit, self.where)
        return self.take(count)

    def text(self, limit=65536):
        try:
            return self.string(limit).decode("utf-8")
        except UnicodeDecodeError:
            raise Damaged(self.where) from None

    def end(self):
        expect(self.at == len(self.data), self.where)


def envelope(data):
    """Checks the first and the last line, and returns the text."""
    first = b"watchword-vault 1\n"
    if not data.startswith(first):
        newer = re.match(rb"watchword-vault ([1-9][0-9]{0,8})\n", data)
        expect(not newer or int(newer[1]) == 1, "made by a newer version")
        expect(not first.startswith(data), "truncated")
        raise Damaged("line 1" if data.startswith(b"watchword-vault ") else "not a vault")
    expect(len(data) <= 64 << 20, "too large")
    end = data.rfind(b"\nend ") + 1
    last = b"end " + base64.b64encode(hashlib.sha256(data[:end]).digest()) + b"\n"
    expect(end and data[end:] == last, "truncated or damaged")
    try:
        return data.decode("ascii")
    except UnicodeDecodeError:
        raise Damaged("not ASCII") from None


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
    else:
        expect(re.fullmatch("[!-~]+", words[2]) and re.fullmatch("[ -~]+", " ".join(words[4:-1])), where)
        return slot
    slot["salt"] = from_base64(words[-3], 16, where)
    slot["secret"] = from_base64(words[-2], 92, where)
    slot["secret_associated"] = vault_line + line[:-len(words[-2] + " " + words[-1])].encode()
    return slot


def read_record(lines, known, generation):
    where = lines.where()
    line = lines.lines[lines.at]
    record_id, revision, presence, failure = lines.take("record", 4)
    expect(presence in ("per-unlock", "per-use", "per-use:passphrase", "per-use:pam"), where)
    wipe = re.fullmatch("wipe:([1-9][0-9]{0,2})", failure)
    expect(failure == "lock-out" or wipe and int(wipe[1]) <= 100, where)
    expect(record_id not in known, where)
    known.add(record_id)
    return {"id64": record_id, "id": from_base64(record_id, 16, where), "presence": presence, "on_failure": failure,
            "revision": number(revision, where, 1, generation), "line": line.encode() + b"\n"}


def read_body(lines, record):
    where = lines.where()
    if lines.next_is("tombstone"):
        record_id, time, reason = lines.take("tombstone", 3)
        expect(reason in REASONS, where)
        record["tombstone"] = {"time": number(time, where), "reason": reason}
    else:
        record_id, record["box64"] = lines.take("sealed", 2)
    expect(record_id == record["id64"], where)


def read_failures(words, where):
    refused, undecided, wait, seen, boot, uptime = words
    failures = {"refused": number(refused, where), "undecided": number(undecided, where), "wait": number(wait, where),
                "seen": number(seen, where), "boot": from_base64(boot, 16, where).hex(), "uptime": number(uptime, where)}
    count = failures["refused"] + failures["undecided"]
    minutes = 0 if count < 5 else [1, 5, 15, 30, 60][min(count - 5, 4)]
    expect(count >= 1 and failures["wait"] <= 60 * minutes, where)
    return failures


def read_refusals(lines, refused):
    """How many of the refused attempts count towards wipes, by the digest of the slots that refused them."""
    refusals, last = {}, b""
    while lines.next_is("vault-refusals"):
        where = "attempts: " + lines.where()
        slots, count = lines.take("vault-refusals", 2)
        digest = from_base64(slots, 32, where)
        expect(last < digest, where)
        refusals[digest.hex()], last = number(count, where, 1), digest
    expect(len(refusals) <= 4 and sum(refusals.values()) <= refused, "attempts: vault-refusals")
    return refusals


def read_slot_of_attempts(data):
    """Reads one slot of the file of attempts: the vault's ID, the sequence number and the attempts."""
    end = data.find(b"\nend ") + 1
    body, rest = data[:end], data[end:]
    last = b"end " + base64.b64encode(hashlib.sha256(body).digest()) + b"\n"
    expect(body and rest.startswith(last), "attempts: end")
    lines = Lines((body + last).decode("ascii", "replace"))
    expect(lines.take("watchword-attempts", 1) == ["1"], "attempts: version")
    of = from_base64(lines.take("vault", 1)[0], 16, "attempts: vault")
    sequence = number(lines.take("sequence", 1)[0], "attempts: sequence", 1)
    attempts, last = [], b""
    if lines.next_is("vault-failures"):
        attempts.append({"subject": "vault", **read_failures(lines.take("vault-failures", 6), "attempts: vault-failures")})
        attempts[0]["refusals"] = read_refusals(lines, attempts[0]["refused"])
    while lines.next_is("record-failures"):
        where = "attempts: " + lines.where()
        name, revision, *words = lines.take("record-failures", 8)
        record_id = from_base64(name, 16, where)
        expect(last < record_id, where)
        last = record_id
        attempts.append({"subject": record_id.hex(), "revision": number(revision, where, 1, 2**62),
                         **read_failures(words, where)})
    lines.take("end", 1)
    expect(lines.at == len(lines.lines) and len(attempts) <= 91, "attempts: " + lines.where())
    return of, sequence, attempts


def read_attempts(data, vault_id):
    """Reads the newest valid slot of the file of attempts that belongs to this vault."""
    newest = (0, [])
    for slot in (data[:SLOT], data[SLOT:2 * SLOT]):
        try:
            of, sequence, attempts = read_slot_of_attempts(slot)
        except Damaged:
            continue
        if of == vault_id:
            newest = max(newest, (sequence, attempts), key=lambda found: found[0])
    return newest[1]


def parse(data):
    """Parses the file. This needs no key."""
    lines = Lines(envelope(data))
    lines.take("watchword-vault", 1)
    vault = {"id": from_base64(lines.take("vault", 1)[0], 16, "line 2")}
    vault["line"] = data.split(b"\n", 2)[1] + b"\n"
    vault["generation"] = number(lines.take("generation", 1)[0], "line 3", 1, 2**62)
    slots, records, known = [], [], set()
    while lines.next_is("slot"):
        slots.append(read_slot(lines, vault["line"], slots))
    expect(1 <= len(slots) <= 16, lines.where())
    while lines.next_is("record"):
        records.append(read_record(lines, known, vault["generation"]))
    expect(len(records) <= 100_000, lines.where())
    vault["header"] = ("\n".join(lines.lines[:lines.at]) + "\n").encode()
    vault["mac_line"] = lines.lines[lines.at].encode() + b"\n"
    vault["mac"] = from_base64(lines.take("mac", 1)[0], 32, "mac")
    for record in records:
        read_body(lines, record)
    vault["manifest"] = from_base64(lines.take("manifest", 1)[0], None, "manifest")
    vault["changes"] = number(lines.take("changes", 1)[0], lines.where())
    lines.take("end", 1)
    expect(lines.at == len(lines.lines), lines.where())
    return {**vault, "slots": slots, "records": records}


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


def vault_key(vault, passphrase, recovery):
    for slot in vault["slots"]:
        if slot["method"] == "passphrase" and passphrase is not None:
            expect(slot["log_n"] <= LIMIT_LOG_N, "cost over the ceiling")
            key = Scrypt(LABEL + b"passphrase" + slot["salt"], 32, 2 ** slot["log_n"], 8, 1).derive(passphrase)
        elif slot["method"] == "recovery-key" and recovery is not None:
            key = hkdf(recovery, slot["salt"], LABEL + b"recovery-slot")
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


def read_content(plaintext, kind, where):
    """Reads the content of a record's box: the secret and its parameters."""
    outer = Fields(plaintext, where)
    content = outer.string()
    padding = plaintext[outer.at:]
    expect(len(plaintext) % 64 == 0 and len(padding) < 64 and not any(padding), where)
    if kind in ("secret", "enrolled"):
        return {"secret": content}
    fields = Fields(content, where)
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
    return entry | content | {"secret": content["secret"].hex()}


def read_vault(data, passphrase, recovery, reveal):
    vault = parse(data)
    return verify(vault, vault_key(vault, passphrase, recovery), reveal)


def verify(vault, key, reveal):
    """Verifies everything with the vault key, and returns the content."""
    mac = hmac.digest(hkdf(key, vault["id"], LABEL + b"header"), vault["header"], "sha256")
    expect(hmac.compare_digest(mac, vault["mac"]), "header")
    listed = read_manifest(vault, key)
    entries = [read_entry(vault, key, record, entry, reveal) for record, entry in zip(vault["records"], listed)]
    unlisted = sum("tombstone" in record and entry["wiped"] is None for record, entry in zip(vault["records"], listed))
    expect(vault["changes"] == unlisted, "changes")
    slots = [{name: slot[name] for name in ("number", "created", "method", "log_n") if name in slot}
             for slot in vault["slots"]]
    return {"vault": vault["id"].hex(), "generation": vault["generation"], "changes": vault["changes"], "slots": slots,
            "entries": entries}


def attempts_path(path, vault):
    """Finds the file of attempts: in the outermost .watchword folder that contains the vault, or beside the vault."""
    folder = os.path.dirname(os.path.realpath(path))
    parts = folder.split("/")
    if ".watchword" in parts:
        folder = "/".join(parts[:parts.index(".watchword")])
    return os.path.join(folder, ".watchword", "by-id", vault["vault"], "attempts")


def with_attempts(path, vault):
    """Adds the attempts from the file at this path, if it exists."""
    try:
        with open(path, "rb") as file:
            return {**vault, "attempts": read_attempts(file.read(), bytes.fromhex(vault["vault"]))}
    except FileNotFoundError:
        return {**vault, "attempts": []}


def first_line(path):
    with open(path, "rb") as file:
        return file.readline().rstrip(b"\n")


def refuses(reader, *arguments):
    """Returns whether the reader reports damage."""
    try:
        reader(*arguments)
    except Damaged:
        return True
    return False


def self_test_case(folder, case):
    path = os.path.join(folder, case["file"])
    with open(path, "rb") as file:
        data = file.read()
    passphrase = case["passphrase"].encode()
    opened = read_vault(data, passphrase, None, True)
    assert with_attempts(path + ".attempts", opened) == case["holds"], case["file"]
    if "recoveryKey" in case:
        opened = read_vault(data, None, recovery_key(case["recoveryKey"]), True)
        assert with_attempts(path + ".attempts", opened) == case["holds"], case["file"]
    try:
        read_vault(data, passphrase + b" ", None, False)
        raise AssertionError(f"{case['file']} opens with a wrong passphrase")
    except Wrong:
        pass
    assert all(refuses(parse, data[:cut]) for cut in range(len(data))), case["file"]
    vault = parse(data)
    key = vault_key(vault, passphrase, None)
    end = data.rfind(b"\nend ") + 1
    # An attacker would also replace the last line. Then only a tombstone that the manifest does not list may change.
    for at in range(end):
        flipped = data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]
        assert refuses(parse, flipped), (case["file"], at)
        body = flipped[:end]
        forged = body + b"end " + base64.b64encode(hashlib.sha256(body).digest()) + b"\n"
        in_tombstone = data.rfind(b"\n", 0, at) == data.rfind(b"\ntombstone ", 0, at)
        is_free = in_tombstone and vault["changes"] > 0
        assert is_free or refuses(lambda: verify(parse(forged), key, True)), (case["file"], at)


def self_test_attempts(folder):
    """Checks that every truncation and every flipped byte of a slot is detected, and that the older slot is read then."""
    names = [name for name in os.listdir(folder) if name.endswith(".attempts")]
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read()
        assert len(data) == 2 * SLOT, name
        slots = [data[:SLOT], data[SLOT:]]
        read = [read_slot_of_attempts(slot) for slot in slots]
        newer = 1 if read[1][1] > read[0][1] else 0
        vault_id = read[newer][0]
        assert read_attempts(data, vault_id) == read[newer][2] != read[1 - newer][2], name
        text = slots[newer].rstrip(b"\0")
        assert all(refuses(read_slot_of_attempts, text[:cut]) for cut in range(len(text))), name
        for at in range(len(text)):
            flipped = text[:at] + bytes([text[at] ^ 1]) + text[at + 1:]
            assert refuses(read_slot_of_attempts, flipped), (name, at)
            slots[newer] = flipped.ljust(SLOT, b"\0")
            assert read_attempts(b"".join(slots), vault_id) == read[1 - newer][2], (name, at)
    assert names


def self_test():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Vectors", "vault")
    with open(os.path.join(folder, "vaults.json"), encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    for case in cases:
        self_test_case(folder, case)
    self_test_attempts(folder)
    print(f"{len(cases)} vaults read; every truncation, every flipped byte and every forged byte detected")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vault", nargs="?")
    parser.add_argument("--self-test", action="store_true")
    opener = parser.add_mutually_exclusive_group()
    opener.add_argument("--passphrase-file")
    opener.add_argument("--recovery-key-file")
    parser.add_argument("--attempts", help="the file of attempts; default: the file that belongs to the vault")
    parser.add_argument("--reveal", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return 0
    if not options.vault or not (options.passphrase_file or options.recovery_key_file):
        parser.error("name a vault, and a passphrase file or a recovery key file")
    with open(options.vault, "rb") as file:
        data = file.read()
    try:
        passphrase = first_line(options.passphrase_file) if options.passphrase_file else None
        recovery = (recovery_key(first_line(options.recovery_key_file).decode("ascii", "replace"))
                    if options.recovery_key_file else None)
        vault = read_vault(data, passphrase, recovery, options.reveal)
        vault = with_attempts(options.attempts or attempts_path(options.vault, vault), vault)
        print(json.dumps(vault, ensure_ascii=False, indent=1))
    except Wrong:
        print("wrong passphrase or recovery key", file=sys.stderr)
        return 1
    except Damaged as error:
        print(f"not a vault, or damaged: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())

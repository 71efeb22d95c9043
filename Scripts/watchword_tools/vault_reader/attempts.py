"""The file of attempts, which is kept beside the vault."""
import os

from .lines import Damaged, Lines, end_line, expect, from_base64, number

SLOT = 16384
# The longest waits in seconds that version 1 permits after 1, 2 and more attempts; the last one is for all further ones.
LONGEST_STORED_WAITS = [0, 0, 0, 0, 60, 300, 900, 1800, 3600]


def read_failures(words, where):
    refused, undecided, wait, seen, boot, uptime = words
    failures = {"refused": number(refused, where), "undecided": number(undecided, where), "wait": number(wait, where),
                "seen": number(seen, where), "boot": from_base64(boot, 16, where).hex(), "uptime": number(uptime, where)}
    count = failures["refused"] + failures["undecided"]
    expect(count >= 1 and failures["wait"] <= LONGEST_STORED_WAITS[min(count, len(LONGEST_STORED_WAITS)) - 1], where)
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
    last = end_line(body)
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

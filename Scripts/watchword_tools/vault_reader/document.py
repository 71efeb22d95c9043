"""The document: its lines in order. Reading them needs no key."""
import re

from .lines import Damaged, Lines, end_line, expect, from_base64, number
from .records import read_body, read_record
from .slots import read_slot


VERSIONS = (1, 2, 3, 4)


def envelope(data):
    """Checks the first and the last line, and returns the text."""
    lines = [b"watchword-vault %d\n" % version for version in VERSIONS]
    if not data.startswith(tuple(lines)):
        newer = re.match(rb"watchword-vault ([1-9][0-9]{0,8})\n", data)
        expect(not newer, "made by a newer version")
        expect(not any(line.startswith(data) for line in lines), "truncated")
        raise Damaged("line 1" if data.startswith(b"watchword-vault ") else "not a vault")
    expect(len(data) <= 64 << 20, "too large")
    end = data.rfind(b"\nend ") + 1
    expect(end and data[end:] == end_line(data[:end]), "truncated or damaged")
    try:
        return data.decode("ascii")
    except UnicodeDecodeError:
        raise Damaged("not ASCII") from None


def parse(data):
    """Parses the file. This needs no key."""
    lines = Lines(envelope(data))
    vault = {"version": int(lines.take("watchword-vault", 1)[0])}
    vault["id"] = from_base64(lines.take("vault", 1)[0], 16, "line 2")
    vault["line"] = data.split(b"\n", 2)[1] + b"\n"
    vault["generation"] = number(lines.take("generation", 1)[0], "line 3", 1, 2**62)
    slots, records, known = [], [], set()
    while lines.next_is("slot"):
        slots.append(read_slot(lines, vault["line"], slots))
    expect(1 <= len(slots) <= 16, lines.where())
    while lines.next_is("record"):
        records.append(read_record(lines, known, vault["generation"]))
    expect(len(records) <= 100_000, lines.where())
    # Only the manifest shows whether this is format 4.
    expect(vault["version"] == 4 or (vault["version"] == 3) == any("reuse" in record for record in records), "line 1")
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

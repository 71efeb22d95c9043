"""The report of Scripts/enrol-folder."""
import json
import os
import sys


def report(folder, vault, created, items):
    """The report as an object."""
    counts = {result: 0 for result in ("added", "skipped", "refused", "unread")}
    for item in items:
        counts[item["result"]] = counts.get(item["result"], 0) + 1
    return {"folder": folder, "vault": vault, "created": created, "counts": counts, "items": items}


def write(path, *facts):
    """Writes the report to `path`, or to standard output; returns the number of items that were refused or not read."""
    made = report(*facts)
    text = json.dumps(made, ensure_ascii=False, indent=1) + "\n"
    if path is None:
        sys.stdout.write(text)
    else:
        # The report names accounts, so only its owner may read it.
        draft = path + ".new"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, path)
    return made["counts"]["refused"] + made["counts"]["unread"]

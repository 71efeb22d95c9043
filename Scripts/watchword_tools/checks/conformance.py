"""The requirements of the standards, and the tests that prove them."""
import json
import re

from watchword_tools import ROOT

from .tree import section

TEST_NAME = re.compile(r'@Test\(\s*"((?:[A-Z]-\d\d[ ,]*(?:and )?)+)([^"]*)"([^@]*?)\n\s*(?:@|.*\bfunc )')
ROW_ID = re.compile(r"[A-Z]-\d\d")
# The summary in the document.
SUMMARY = section("conformance")
DOCUMENT = ROOT / "Vectors" / "CONFORMANCE.md"


def proofs(texts):
    """Maps each id to the names of the tests that begin with it."""
    found = {}
    for text in texts:
        for match in TEST_NAME.finditer(text):
            if ".disabled(" in match[3]:
                continue
            for name in ROW_ID.findall(match[1]):
                found.setdefault(name, []).append(match[2].strip())
    return found


def table(rows, found):
    """Assigns a state to each row: proved, out of scope, missing, contradiction or unknown."""
    states = []
    for row in rows:
        tests = found.get(row["id"], [])
        if tests and "out" in row:
            state = "contradiction"
        elif tests:
            state = "proved"
        else:
            state = "out of scope" if row.get("out", "").strip() else "missing"
        states.append((row, state, tests))
    known = {row["id"] for row in rows}
    for name in sorted(set(found) - known):
        states.append(({"id": name, "source": "", "what": "there is no such row"}, "unknown", found[name]))
    return states


def count_text(states):
    """Returns the number of rows in each state, as text."""
    counts = {}
    for _, state, _ in states:
        counts[state] = counts.get(state, 0) + 1
    return ", ".join(f"{count} {state}" for state, count in sorted(counts.items()))


def summary(states):
    """Returns the number of rows in each state, and a table of those out of scope."""
    lines = [f"{len(states)} requirements: {count_text(states)}. Out of scope:", "",
             "| id | requirement | reason |", "|---|---|---|"]
    lines += [f"| {row['id']} ({row['source']}) | {row['what']} | {row['out']} |"
              for row, state, _ in states if state == "out of scope"]
    return "\n".join(lines) + "\n"


def is_current(document, states):
    """Returns whether the document contains the current summary exactly once."""
    return [found[2] for found in SUMMARY.finditer(document)] == [summary(states)]


def states_of_tree():
    """Returns the state of each row in Vectors/conformance.json."""
    rows = json.loads((ROOT / "Vectors" / "conformance.json").read_text())["rows"]
    files = sorted((ROOT / "Tests").rglob("*.swift"))
    return table(rows, proofs(path.read_text() for path in files))


def update():
    """Writes the current summary to the document."""
    text = summary(states_of_tree())
    DOCUMENT.write_text(SUMMARY.sub(lambda found: found[1] + text + found[3], DOCUMENT.read_text()))


def report():
    """Prints every row; returns the exit status."""
    states = states_of_tree()
    for row, state, tests in states:
        why = row.get("out", "") if state == "out of scope" else ""
        more = f" (and {len(tests) - 1} more)" if len(tests) > 1 else ""
        print(f"{row['id']}  {state:13}  {row['what']}")
        print(f"{'':21}{why or (tests[0] + more if tests else '-')}")
    print(f"\n{len(states)} requirements: {count_text(states)}")
    current = is_current(DOCUMENT.read_text(), states)
    if not current:
        print("Vectors/CONFORMANCE.md is out of date: run Scripts/conformance --write")
    wrong = {state for _, state, _ in states} - {"proved", "out of scope"}
    return 1 if wrong or not current else 0

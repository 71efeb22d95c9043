"""The size and the shape of the code, in numbers that must not grow."""
import re

from .modules import TEXT_OR_COMMENT, Map, without_comments_and_texts
from .parts import LEVELS
from .tree import files_of, read

MANY_PARAMETERS = 6
# What each count may be at most: today's number, lines of code rounded up to 250. Lower a ceiling when its count
# falls. Each comment says what to do instead of raising the ceiling, after the target if that is not met.
CEILINGS = {
    "lines of Swift code in Sources": 83_500,  # 69,600: write each thing once
    "lines of Swift code in Tests": 85_250,  # 66,900: make similar tests rows of a table
    "modules without programs": 32,  # 28: a few hundred lines are a folder in a module
    "Swift files in Sources": 663,  # an extension with two functions belongs in the file of its type
    "folders in Sources": 6,  # 6: five parts and the C libraries
    "error types": 37,  # 24: one for each library product and each part
    "catch clauses in Sources": 423,  # let errors pass, and turn them into text in one place
    "branches on .own or .held in Commands": 0,  # 0: send a request to the VaultService
    f"functions with {MANY_PARAMETERS} or more parameters": 16,  # pass a context
    "levels": LEVELS,  # 6: see Scripts/watchword_tools/checks/parts.py
}

TYPE = re.compile(r"\b(struct|enum|class|actor|extension|protocol)\s+([\w.]+)\s*(?:<[^{>]*>)?\s*:\s*([^{]*?)\{")
CATCH = re.compile(r"\bcatch\b")
OWN_OR_HELD = re.compile(r"\bcase\s+(?:let\s+)?\.(?:own|held)\b")
# The start of a parameter list, of a declaration and not of a call.
FUNCTION = re.compile(r"(?:\bfunc\s+(?:[\w`]+|[^\w\s(]+)|(?<![.\w])init[?!]?)\s*(?:<[^(]*>\s*)?\(")


def code_lines(source):
    """Counts the lines that have more than a comment."""
    code = TEXT_OR_COMMENT.sub(
        lambda found: found[0] if found[0].startswith('"') else "\n" * found[0].count("\n"), source)
    return sum(1 for line in code.split("\n") if line.strip())


def parameter_count(code, start):
    """Counts the parameters in a list whose opening parenthesis is before `start`."""
    depth, count, is_empty = 1, 0, True
    for match in re.compile(r"->|[()\[\]{}<>,]|[^\s()\[\]{}<>,-]+").finditer(code, start):
        token = match[0]
        if token in list(")]}>"):
            depth -= 1
        if depth == 0:
            break
        if token in list("([{<"):
            depth += 1
        if depth == 1 and token == ",":
            count, is_empty = count + (not is_empty), True
        else:
            is_empty = False
    return count + (not is_empty)


def error_types(codes):
    """Returns the declarations that conform to `Error`, or to a protocol that refines it."""
    found = [(kind, name, set(re.findall(r"[\w.]+", inherited.split(" where ")[0])))
             for code in codes for kind, name, inherited in TYPE.findall(code)]
    errors = {"Error"} | {name for kind, name, inherited in found if kind == "protocol" and "Error" in inherited}
    conforming = [(kind, name) for kind, name, inherited in found if kind != "protocol" and inherited & errors]
    declared = [name for kind, name in conforming if kind != "extension"]
    # An extension can repeat the conformance of the declaration.
    return declared + sorted({name for kind, name in conforming if kind == "extension"} - {"Never", *declared})


def counts(root):
    """Returns each count by its name."""
    files = files_of(root)
    tree = Map(root, files)
    lines = dict.fromkeys(("Sources", "Tests"), 0)
    for path in files:
        if path.endswith(".swift") and (folder := path.split("/")[0]) in lines:
            lines[folder] += code_lines(read(root, path))
    return {
        "lines of Swift code in Sources": lines["Sources"],
        "lines of Swift code in Tests": lines["Tests"],
        "modules without programs": sum("watchword" not in module for module in tree.part),
        "Swift files in Sources": len(tree.code),
        "folders in Sources": len({path.split("/")[1] for path in files if path.count("/") > 1
                                   and path.startswith("Sources/")}),
        "error types": len(error_types(tree.code.values())),
        "catch clauses in Sources": sum(len(CATCH.findall(code)) for code in tree.code.values()),
        "branches on .own or .held in Commands": sum(
            len(OWN_OR_HELD.findall(code)) for path, code in tree.code.items() if "/Commands/" in path),
        f"functions with {MANY_PARAMETERS} or more parameters": sum(
            parameter_count(code, found.end()) >= MANY_PARAMETERS
            for code in tree.code.values() for found in FUNCTION.finditer(code)),
        "levels": max(tree.levels().values(), default=0),
    }


def table(root):
    """Returns the counts and their ceilings as text."""
    return "\n".join(f"{number:>9,}  of at most {CEILINGS[name]:>9,}  {name}" for name, number in counts(root).items())


def check(root):
    """Returns a complaint for each count over its ceiling."""
    return [f"{name}: {number:,}, at most {CEILINGS[name]:,} are allowed; make the code smaller, "
            f"as the comment at the ceiling in shape.py says"
            for name, number in counts(root).items() if number > CEILINGS[name]]

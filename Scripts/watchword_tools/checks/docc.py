"""The DocC catalogues of the modules: each symbol link and each link to an article leads somewhere.

A catalogue is the folder MODULE.docc in the folder of its module. Its articles link public declarations of the
module as DocC does, for example ``KeyRing/init(at:)``, and other articles as <doc:Article>.
"""
import os
import re

from .links import CODE, FENCE
from .modules import without_comments_and_texts
from .tree import files_of, read

SYMBOL = re.compile(r"(?<!`)``([^`\s]+)``(?!`)")
ARTICLE = re.compile(r"<doc:([^>]+)>")
CATALOGUE = re.compile(r"(.*/([\w-]+))/([\w-]+)\.docc/[^/]+\.md")

TYPES = {"struct", "class", "enum", "actor", "protocol", "extension"}
# A declaration with its modifiers, or a brace.
TOKEN = re.compile(
    r"(?P<brace>[{}])|(?P<words>(?:(?:public|package|internal|fileprivate|private|open|static|final|indirect|mutating"
    r"|consuming|borrowing|nonisolated|convenience|required|override|lazy|weak|unowned|class(?=\s+(?:func|var)\b))"
    r"(?:\(set\))?\s+)*)\b(?<![.`])(?P<keyword>struct|class|enum|actor|protocol|extension|func|init|var|let|case"
    r"|typealias|associatedtype|subscript)\b[?!]?\s*(?P<name>[\w.`]+|[^\s\w(){}<]+)?")


def closing(code, start):
    """Returns the position after the parenthesis or bracket that closes the one at `start`."""
    depth = 0
    for position in range(start, len(code)):
        depth += (code[position] in "([{") - (code[position] in ")]}")
        if depth == 0:
            return position + 1
    return len(code)


def pieces(text):
    """Splits a list of parameters at its own commas."""
    start = depth = 0
    for position, character in enumerate(text):
        # The > of an arrow closes no bracket.
        depth += (character in "([{<") - (character in ")]}" or character == ">" and text[position - 1] != "-")
        if character == "," and depth == 0:
            yield text[start:position]
            start = position + 1
    if text[start:].strip():
        yield text[start:]


def labels(parameters, is_case=False):
    """Returns the labels of a parameter list as DocC writes them: `(at:limit:)`."""
    found = []
    for piece in pieces(parameters):
        named = re.match(r"\s*(?:@\w+\s+)*(\w+)(?:\s+\w+)?\s*:", piece)
        found.append(named[1] if named else "_")
    return "(" + "".join(label + ":" for label in found) + ")" if found or not is_case else ""


def parameters_at(code, position):
    """Returns the parameter list that begins at `position`, after generic parameters, and the position after it."""
    match = re.compile(r"\s*(?:<[^(]*>)?\s*\(").match(code, position)
    if not match:
        return None, position
    end = closing(code, match.end() - 1)
    return code[match.end():end - 1], end


def cases(code, position):
    """Returns the cases of an enum's line `case a, b(Int)`, and the position after them."""
    found = []
    while match := re.compile(r"\s*`?(\w+)`?").match(code, position):
        parameters, position = parameters_at(code, match.end())
        found.append(match[1] + (labels(parameters, is_case=True) if parameters is not None else ""))
        value = re.compile(r"[ \t]*=[^,\n]*").match(code, position)
        position = value.end() if value else position
        comma = re.compile(r"\s*,").match(code, position)
        if not comma:
            break
        position = comma.end()
    return found, position


def public_declarations(source):
    """Returns the paths of the public declarations in a Swift file, as DocC writes them."""
    code = without_comments_and_texts(source)
    found = set()
    # The open scopes: the path of a type, whether all its members are public, and whether it is an enum; or None.
    scopes, pending, position = [], None, 0
    while match := TOKEN.search(code, position):
        position = match.end()
        if match["brace"] == "{":
            scopes.append(pending)
            pending = None
        elif match["brace"]:
            scopes.pop()
        elif not scopes or scopes[-1] is not None:
            path, are_public, is_enum = scopes[-1] if scopes else ((), False, False)
            keyword, name = match["keyword"], (match["name"] or "").strip("`")
            is_public = bool(re.search(r"\b(public|open)\s", match["words"])) or are_public and not re.search(
                r"\b(package|internal|fileprivate|private)\s", match["words"])
            if keyword == "extension":
                pending = (tuple(name.split(".")), is_public, False)
            elif keyword in TYPES:
                inner = path + (name,)
                if is_public:
                    found.add("/".join(inner))
                pending = (inner, keyword == "protocol" and is_public, keyword == "enum" and is_public)
            elif keyword == "case":
                names, position = cases(code, match.start("name")) if match["name"] else ([], position)
                if is_enum:
                    found |= {"/".join(path + (case,)) for case in names}
            elif keyword in ("func", "init", "subscript"):
                start = match.end() if keyword == "func" else match.end("keyword")
                start += keyword != "func" and code[start:start + 1] in ("?", "!")
                parameters, position = parameters_at(code, start)
                if is_public and parameters is not None:
                    found.add("/".join(path + ((name if keyword == "func" else keyword) + labels(parameters),)))
            elif is_public:
                found.add("/".join(path + (name,)))
    return found


def symbols_of(root, folder, files):
    """Returns the public declarations of the module in `folder`, without members of types that are not public."""
    found = set()
    for path in files:
        if path.startswith(folder + "/"):
            found |= public_declarations(read(root, path))
    return {path for path in found if path.split("/")[0] in found}


def broken_symbols(root):
    """Yields a complaint for each link in a catalogue that leads nowhere, and for each misplaced catalogue."""
    sources = files_of(root, "Sources/*.swift")
    known = {}
    for path in files_of(root, "*.docc/*"):
        place = CATALOGUE.fullmatch(path)
        if not place or place[2] != place[3]:
            yield f"{path}: a catalogue is the folder MODULE.docc, with Markdown files, in the folder of its module"
            continue
        folder, module = place[1], place[2]
        if module not in known:
            known[module] = symbols_of(root, folder, sources)
        prose = FENCE.sub("", read(root, path))
        for symbol in SYMBOL.findall(prose):
            if symbol not in known[module] and symbol != module:
                yield f"{path}: ``{symbol}``: {module} has no such public declaration"
        for article in ARTICLE.findall(CODE.sub("", prose)):
            if not os.path.isfile(os.path.join(root, os.path.dirname(path), article + ".md")):
                yield f"{path}: <doc:{article}>: there is no such article"

"""The rules of the module map, of which Scripts/check-modules reports the violations."""
import re

from .parts import ARROWS, FOLDERS, LEVELS, SHARED
from .tree import files_of, read

# Modules of the toolchain: any module may import those in ANYWHERE; only folders in FOLDERS those in SYSTEM.
ANYWHERE = {"Swift", "Synchronization"}
SYSTEM = {"Glibc", "Musl", "Dispatch"}
TOP = {"Package.swift", "Sources", "Tests", "Vectors", "Scripts", "README.md"}
LONGEST_FILE = 400

IMPORT = re.compile(r"^\s*(?:@\w+\s+)*(?:public |package |internal |fileprivate |private )?import\s+"
                    r"(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w+)", re.M)
# These patterns begin with a letter, not with \b, which would make the search several times slower.
UNFINISHED = re.compile(r"[TFX](?:ODO|IXME|XX)\b")
UNSAFE = re.compile(r"unsafe(?<!\wunsafe)\b")
CRASHING = re.compile(r"(?:try(?<!\wtry)[!?]|fatalError(?<!\wfatalError)\b)")
TEXT_OR_COMMENT = re.compile(r'"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*(?:.|\n)*?\*/')
# A row in the README of a part: a module, its C libraries, and its job.
ROW = re.compile(r"^\| `([\w-]+)` \|([^|]*)\|.*\|$", re.M)


def without_comments_and_texts(source):
    """Removes comments and string literals but keeps line breaks, so that only code is checked."""
    return TEXT_OR_COMMENT.sub(lambda found: "\n" * found.group().count("\n"), source)


class Map:
    """The modules in Sources with their parts, imports and code (without comments), and the names of the C modules."""

    def __init__(self, root, files):
        places = [path.split("/")[1:] for path in files if path.startswith("Sources/")]
        self.part = {place[1]: place[0] for place in places if place[0] in ARROWS and len(place) > 2}
        self.libraries = {place[1] for place in places if place[0] == "CLibraries"} | SYSTEM
        self.code = {path: without_comments_and_texts(read(root, path)) for path in files
                     if path.startswith("Sources/") and path.endswith(".swift")}
        self.imports = {module: set() for module in self.part}
        for path, code in self.code.items():
            if (module := module_of(path)) in self.part:
                # A program's module has underscores where its target has hyphens.
                found = {name if name in self.part else name.replace("_", "-") for name in IMPORT.findall(code)}
                self.imports[module] |= found & set(self.part) - {module}

    def levels(self):
        """Returns the level of each module, above all that it imports; modules in a cycle have none."""
        level = {}
        while ready := [module for module, lower in self.imports.items()
                        if module not in level and lower <= set(level)]:
            level |= {module: 1 + max((level[lower] for lower in self.imports[module]), default=0)
                      for module in ready}
        return level


def module_of(path):
    return (path.split("/") + ["", ""])[2]


def folder_of(path):
    """Returns the folder in FOLDERS to which a file in Sources belongs; `None` if it belongs to none."""
    held = [folder for folder in FOLDERS if path.startswith(f"Sources/{folder}/")]
    return max(held, key=len, default=None)


def check_top_levels(files):
    inside = {"Audit.md", "Changes.md", "README.md", "CLibraries", *ARROWS}
    for name in sorted({path.split("/")[0] for path in files}):
        if name not in TOP and not name.startswith("."):
            yield f"{name}: does not belong at the top level"
    for name in sorted({path.split("/")[1] for path in files if path.startswith("Sources/")} - inside):
        yield f"Sources/{name}: does not belong there; modules are in the folders of the parts"


def check_arrows(tree):
    for module, lower in sorted(tree.imports.items()):
        for other in sorted(lower):
            if other.startswith("watchword"):
                yield f"{module}: imports the program {other}"
            elif tree.part[other] not in ARROWS[tree.part[module]]:
                yield f"{module}: is in {tree.part[module]}, which must not import {other} from {tree.part[other]}"
    level = tree.levels()
    if cycle := sorted(set(tree.part) - set(level)):
        yield f"{', '.join(cycle)}: they import each other, or a module of such a cycle"
    for module in sorted(module for module in level if level[module] > LEVELS):
        yield f"{module}: is on level {level[module]} of the imports; at most {LEVELS} are allowed"


def check_code(tree):
    used = {folder: set() for folder in FOLDERS}
    unsafe = set()
    for path, code in tree.code.items():
        folder = folder_of(path)
        for name in IMPORT.findall(code):
            if name.startswith("Foundation"):
                yield f"{path}: imports {name}, which slows down every start"
            elif name in tree.libraries:
                if name not in FOLDERS.get(folder, ()):
                    yield f"{path}: imports {name}, but is not in a folder that wraps it (see FOLDERS in parts.py)"
                used.get(folder, set()).add(name)
            elif name not in ANYWHERE and not {name, name.replace("_", "-")} & set(tree.part):
                yield f"{path}: imports {name}, which is not a module in Sources"
        if UNSAFE.search(code):
            unsafe.add(folder)
            if folder is None:
                yield f"{path}: uses unsafe, but is not in a folder that wraps a C library"
        if CRASHING.search(code):
            yield f"{path}: uses try!, try? or fatalError"
    for folder, allowed in FOLDERS.items():
        for name in sorted(allowed - used[folder]):
            yield f"parts.py: {folder} does not import {name}"
        if not allowed and folder not in unsafe:
            yield f"parts.py: {folder} does not use unsafe"
    for name in sorted(set().union(*FOLDERS.values()) - SYSTEM):
        if (count := sum(name in allowed for allowed in FOLDERS.values())) != SHARED.get(name, 1):
            yield f"parts.py: {count} folders wrap {name}, instead of {SHARED.get(name, 1)}"


def check_files(root, files):
    for path in files:
        if not path.startswith(("Sources/", "Tests/")) or not path.endswith(".swift"):
            continue
        source = read(root, path)
        if UNFINISHED.search(source):
            yield f"{path}: unfinished work belongs in an issue"
        lines = source.count("\n")
        if lines > LONGEST_FILE:
            yield f"{path}: {lines} lines; at most {LONGEST_FILE} are allowed"


def check_pages(root, files, tree):
    """The README of each part has one row for each of its modules, which shows whether it wraps a C library."""
    for part in ARROWS:
        page = f"Sources/{part}/README.md"
        rows = ROW.findall(read(root, page)) if page in files else []
        names = [name for name, _ in rows]
        modules = {module for module in tree.part if tree.part[module] == part}
        for module in sorted(modules):
            if names.count(module) != 1:
                yield f"{page}: has {names.count(module)} rows for {module}, instead of one"
        for name, libraries in rows:
            wraps = any(folder.split("/")[1] == name and allowed - SYSTEM for folder, allowed in FOLDERS.items())
            if name not in modules:
                yield f"{page}: there is no module {name} in {part}"
            elif wraps != bool(libraries.strip()):
                yield f"{page}: {name} wraps {'a' if wraps else 'no'} C library, but its row shows otherwise"


def check(root):
    """Returns a complaint for each violation in the tree."""
    files = files_of(root)
    tree = Map(root, files)
    return [*check_top_levels(files), *check_arrows(tree), *check_code(tree), *check_files(root, files),
            *check_pages(root, files, tree)]

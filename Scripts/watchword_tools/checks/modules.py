"""The rules of the module map, of which Scripts/check-modules reports the violations."""
import re

from .levels import LEVEL, SHARED, WRAPPING
from .tree import files_of, read

# Modules of the toolchain that any module may import.
ANYWHERE = {"Swift", "Synchronization"}
TOP = {"Package.swift", "Sources", "Tests", "Vectors", "Scripts", "README.md"}
LONGEST_FILE = 400

IMPORT = re.compile(r"^\s*(?:@\w+\s+)*(?:public |package |internal |fileprivate |private )?import\s+"
                    r"(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w+)", re.M)
# These begin with a letter, not with \b, which would make the search several times slower.
UNFINISHED = re.compile(r"[TFX](?:ODO|IXME|XX)\b")
UNSAFE = re.compile(r"unsafe(?<!\wunsafe)\b")
CRASHING = re.compile(r"(?:try(?<!\wtry)[!?]|fatalError(?<!\wfatalError)\b)")


def without_comments_and_texts(source):
    """Removes comments and string literals but keeps line breaks, so that only code is checked."""
    pattern = re.compile(r'"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*(?:.|\n)*?\*/')
    return pattern.sub(lambda found: "\n" * found.group().count("\n"), source)


def check_top_level(files):
    for name in sorted({path.split("/")[0] for path in files}):
        if name not in TOP and not name.startswith("."):
            yield f"{name}: does not belong at the top level"


def check_imports(target, path, code, owner_of_library):
    for module in IMPORT.findall(code):
        if module == "Foundation" or module.startswith("Foundation"):
            yield f"{path}: imports {module}, which slows down every start"
        elif module in ("Glibc", "Musl", "Dispatch"):
            if target not in WRAPPING:
                yield f"{path}: imports {module}, but is not a wrapping module"
        elif re.fullmatch(r"C[A-Z]\w+", module) and module not in LEVEL:
            other = owner_of_library.setdefault(module, target)
            if target not in WRAPPING:
                yield f"{path}: imports {module}, but is not a wrapping module"
            if other != target and not {other, target} <= SHARED.get(module, set()):
                yield f"{path}: imports {module}, which {other} already wraps"
        elif module in ANYWHERE or module == target:
            continue
        # A program's module has underscores where its target has hyphens.
        elif (level := LEVEL.get(module.replace("_", "-"))) is None:
            yield f"{path}: imports {module}, which has no level"
        elif level == LEVEL[target]:
            yield f"{path}: imports {module} sideways"
        elif level > LEVEL[target]:
            yield f"{path}: imports {module} upward"


def check_sources(root, files):
    owner_of_library = {}
    for path in files:
        parts = path.split("/")
        if parts[0] != "Sources" or not path.endswith(".swift"):
            continue
        target = parts[1]
        if target not in LEVEL:
            yield f"{path}: module {target} has no level"
            continue
        code = without_comments_and_texts(read(root, path))
        yield from check_imports(target, path, code, owner_of_library)
        if target not in WRAPPING and UNSAFE.search(code):
            yield f"{path}: uses unsafe, but is not a wrapping module"
        if CRASHING.search(code):
            yield f"{path}: uses try!, try? or fatalError"


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


def check_maps(root, files):
    """README.md has a row for each level, Sources/README.md one for each module."""
    targets = {path.split("/")[1] for path in files if path.startswith("Sources/")} & set(LEVEL)
    levels = dict(re.findall(r"^\| ([0-7]) \| (.*) \|$", read(root, "README.md"), re.M))
    rows = {name: (int(level), library) for level, name, library in re.findall(
        r"^\| ([0-7]) \| `([\w-]+)` \| ([^|]*?) *\|", read(root, "Sources/README.md"), re.M)}
    for target in sorted(targets):
        level = LEVEL[target]
        if f"`{target}`" not in levels.get(str(level), ""):
            yield f"README.md: the module map does not show {target} on level {level}"
        if target not in rows:
            yield f"Sources/README.md: the module map does not show {target}"
        elif rows[target][0] != level:
            yield f"Sources/README.md: {target} belongs on level {level}"
        elif (rows[target][1] != "") != (target in WRAPPING):
            yield f"Sources/README.md: only a wrapping module has a C library: {target}"
    for name in sorted(set(rows) - targets):
        yield f"Sources/README.md: there is no module {name}"


def check(root):
    """Returns a complaint for each violation in the tree."""
    files = files_of(root)
    return [*check_top_level(files), *check_sources(root, files), *check_files(root, files),
            *check_maps(root, files)]

"""The tests that the Markdown files name, and the tables in which each cell must name one."""
import re

from .tree import files_of, read, section

# A suite, or a test in it: `LockOutTests` or `LockOutTests.steps`.
MENTION = re.compile(r"`(\w+Tests)(?:\.(\w+))?`")
SUITE = re.compile(r"^(?:@\w+(?:\(.*?\))? *)*(?:final )?(?:struct|class|extension) (\w+Tests)\b", re.M)
TEST = re.compile(r"@Test\b.*?\bfunc (\w+)", re.S)
PROVED = section("proved")
# What is not stopped needs no test.
UNPROVED = ("not stopped", "—")


def tests_of(root):
    """The names of the suites, each with the names of its tests; a folder of Tests is a suite, too."""
    found = {}
    for path in files_of(root, "Tests/*.swift"):
        text = read(root, path)
        names = set(TEST.findall(text))
        for suite in [path.split("/")[1], *SUITE.findall(text)]:
            found.setdefault(suite, set()).update(names)
    return found


def cells_of(text):
    """Yields the name of each row of the marked tables, and one cell of that row."""
    for _, table, _ in PROVED.findall(text):
        rows = [line for line in table.splitlines() if line.startswith("|")]
        # The first two rows are the heads of the columns and a line.
        for row in rows:
            name, *cells = [cell.strip() for cell in row.strip("|").split("|")]
            if row is rows[0] or set(name) <= set("-: "):
                continue
            for cell in cells:
                yield name, cell


def unproved_claims(root):
    """Yields a complaint for each test that does not exist, and for each cell that names none."""
    tests = tests_of(root)
    for path in files_of(root, "*.md"):
        text = read(root, path)
        for suite, test in MENTION.findall(text):
            if suite not in tests:
                yield f"{path}: {suite}: there is no such test suite"
            elif test and test not in tests[suite]:
                yield f"{path}: {suite}.{test}: there is no such test"
        for name, cell in cells_of(text):
            if not cell.startswith(UNPROVED) and not MENTION.search(cell):
                yield f"{path}: {name}: no test is named for “{cell}”"

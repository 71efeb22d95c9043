"""Tests of the check of the shell blocks: which of a page's blocks are run, and what is a mistake."""
import pathlib
import re
import tempfile
import unittest

from watchword_tools.checks import blocks

PAGE = """\
```sh
echo not run
```

Some words.

```text
no output
```

```sh
echo a
```

```text
a
```
"""
# A block, its output according to the page, and a part of the complaint.
MISTAKES = {
    "other output": ("echo b\n", ["a"], "expected:\na\nactual:\nb"),
    "an error message": ("echo a; echo b >&2\n", ["a"], "actual:\na\nb"),
    "a failure": ("echo a; exit 3\n", ["a"], "a block ends with status 3"),
    "a process that remains": ("echo a; sleep 60 &\n", ["a"], "does not end the processes"),
    "a command that reads the rest of the block": ("cat > /dev/null\necho a\n", ["a"], "actual:"),
}


class BlockTests(unittest.TestCase):
    def test_only_blocks_with_output_below_them_are_run(self):
        self.assertEqual(blocks.PAIR.findall(PAGE), [("echo a\n", "a\n")])

    def test_a_block_that_prints_what_the_page_says_is_accepted(self):
        commands = "sleep 60 &\nkill $!\nwait $! || true\necho axb\n"
        self.assertEqual(list(blocks.differences("page", commands, ["a…b"])), [])

    def test_each_mistake_is_reported(self):
        for name, (commands, written, expected) in MISTAKES.items():
            with self.subTest(name):
                found = list(blocks.differences("page", commands, written))
                self.assertEqual(len(found), 1, found)
                self.assertIn(expected, found[0])

    def test_a_block_runs_in_an_empty_home_without_settings(self):
        commands = ('cd && ls -A && [ "$(dirname "$(mktemp -d)")" = "$PWD" ] && '
                    'env | grep -c "^\\(XDG\\|WATCHWORD\\)_" || true\n')
        self.assertEqual(list(blocks.differences("page", commands, ["0"])), [])

    def test_a_page_without_such_a_block_is_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "a.md")
            page.write_text("```sh\necho a\n```\n")
            self.assertEqual(blocks.check(page), ["a.md has no example that can be run"])

    def test_each_port_becomes_a_free_one(self):
        commands = "serve 127.0.0.1:1 127.0.0.1:2; ask 127.0.0.1:1/x\n"
        found = re.fullmatch(r"serve 127\.0\.0\.1:(\d+) 127\.0\.0\.1:(\d+); ask 127\.0\.0\.1:(\d+)/x\n",
                             blocks.with_free_ports(commands)).groups()
        self.assertEqual(found[0], found[2])
        self.assertTrue(all(int(port) in blocks.PORTS for port in found), found)

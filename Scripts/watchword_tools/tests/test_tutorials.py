"""Tests of the check of the tutorials: which commands of a page run, and what counts as the same output."""
import os
import unittest

from watchword_tools.checks.tutorials import (
    PASSPHRASE, answer, is_as_written, missing, on_terminal, steps, visible)

KEY = "-".join(["ABCD"] * 14)


def blocks(*parts):
    return "\n".join(parts) + "\n"


COMMANDS = "```sh\na\nb\n```"
OUTPUT = "```text\nc\n```"


class StepTests(unittest.TestCase):
    def test_commands_run_in_order_with_what_they_print(self):
        page = blocks("# Title", "## One", COMMANDS, "It prints:", "", OUTPUT, "```ini\nx\n```", "```sh\nd\n```")
        self.assertEqual([step[:3] for step in steps(page)], [("One", "a\nb\n", ["c"]), ("One", "d\n", [])])

    def test_commands_that_simulate_something_run_and_print_nothing(self):
        page = blocks("<!-- run: the other machine", "cp a b", "-->", COMMANDS)
        self.assertEqual([step[:3] for step in steps(page)], [(None, "cp a b\n", []), (None, "a\nb\n", [])])

    def test_marked_commands_are_not_run(self):
        marker = "<!-- not run: it needs a camera -->"
        self.assertEqual(steps(blocks(marker, COMMANDS)), [])
        self.assertEqual(steps(blocks(marker, COMMANDS, OUTPUT)), [])
        self.assertEqual(len(steps(blocks(marker, COMMANDS, COMMANDS))), 1)

    def test_a_block_or_comment_out_of_place_is_refused(self):
        for page in (blocks(OUTPUT), blocks(COMMANDS, OUTPUT, OUTPUT), blocks(COMMANDS, "## Next", OUTPUT),
                     blocks(COMMANDS, "<!-- not run: x -->", OUTPUT)):
            with self.subTest(page=page), self.assertRaises(ValueError):
                steps(page)

    def test_a_section_needs_its_own_programs_and_those_of_the_page(self):
        page = blocks("# Title", "<!-- needs: curl -->", "## One", "<!-- needs: a /b* -->", COMMANDS, "## Two", COMMANDS)
        self.assertEqual([step.needs for step in steps(page)], [["curl", "a", "/b*"], ["curl"]])

    def test_missing_programs_and_files_are_named(self):
        self.assertEqual(missing(["sh", "/usr/bin/e*v", "no-such-program", "/no/such/*"]),
                         ["no-such-program", "/no/such/*"])


class OutputTests(unittest.TestCase):
    def test_an_ellipsis_stands_for_part_of_a_line_or_for_several_lines(self):
        self.assertTrue(is_as_written(["a 1 b", "c"], ["a … b", "c"]))
        self.assertFalse(is_as_written(["a 1", "2 b", "c"], ["a … b", "c"]))
        self.assertTrue(is_as_written(["a", "1", "2", "c"], ["a", "…", "c"]))
        self.assertFalse(is_as_written(["a", "c"], ["a", "…", "c"]))
        self.assertFalse(is_as_written(["axb"], ["a.b"]))

    def test_a_progress_report_is_not_output(self):
        self.assertEqual(visible("\r\x1b[K1 of 2\r\x1b[K2 of 2\r\x1b[Kadded\r\nc"), "added\nc")

    def test_each_prompt_gets_its_answer(self):
        self.assertEqual(answer("Passphrase: "), PASSPHRASE)
        self.assertEqual(answer("Password for a.json (an export): "), PASSPHRASE)
        self.assertIsNone(answer("Passphrase:\n"))
        self.assertIsNone(answer("wrong passphrase"))
        self.assertIsNone(answer("Continue: "))
        self.assertEqual(answer(f"{KEY}\nType the recovery key: "), KEY)
        self.assertIsNone(answer("Type the recovery key: "))


class TerminalTests(unittest.TestCase):
    def test_a_command_has_a_terminal_on_which_it_gets_answers(self):
        # The prompt arrives in two parts, and is answered once.
        command = ("tty > /dev/null && stty -echo && printf Passphrase: && sleep 0.2 && printf ' ' && read -r typed && "
                   "echo && echo \"got $typed\" && ! read -rt 0.2")
        environment = {"HOME": "/", "PATH": os.environ["PATH"]}
        self.assertEqual(on_terminal(["bash", "-c", command], environment), f"Passphrase: \ngot {PASSPHRASE}\n")

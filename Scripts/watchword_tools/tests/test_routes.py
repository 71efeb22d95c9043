"""Tests of the check of the examples: how a page is divided, and what counts as the same response."""
import unittest

from watchword_tools.checks.routes import routes_without_example, steps
from watchword_tools.checks.tree import is_as_written, section

DESCRIBED = {"/v1/subjects": {"get", "post"}, "/v1/subjects/{subject}": {"delete"}}


class RouteTests(unittest.TestCase):
    def test_each_command_has_the_lines_that_it_prints(self):
        self.assertEqual(steps("$ a \\\n  b\nc\n$ d\n$ e\nf\ng\n"), [
            ["a \\\n  b", ["c"]], ["d", []], ["e", ["f", "g"]]])

    def test_an_ellipsis_stands_for_anything_within_a_line(self):
        self.assertTrue(is_as_written(['{"a":"cr_x1"}', "201"], ['{"a":"cr_…"}', "201"]))
        self.assertFalse(is_as_written(['{"a":"cr_x1"}', "200"], ['{"a":"cr_…"}', "201"]))
        self.assertFalse(is_as_written(['{"a":"x"}', "201"], ["…", "201", "…"]))
        self.assertFalse(is_as_written(["a", "b"], ["…"]))
        self.assertFalse(is_as_written(["axb"], ["a.b"]))

    def test_a_route_without_an_example_is_reported(self):
        self.assertEqual(list(routes_without_example("", DESCRIBED)), [
            "no example in API.md: GET /v1/subjects", "no example in API.md: POST /v1/subjects",
            "no example in API.md: DELETE /v1/subjects/{subject}"])

    def test_a_command_uses_a_route_with_any_subject_and_query(self):
        commands = "curl -X GET /v1/subjects?limit=2\ncurl -X POST /v1/subjects -d x\ncurl -X DELETE /v1/subjects/alice"
        self.assertEqual(list(routes_without_example(commands, DESCRIBED)), [])
        commands = commands.replace("/alice", "/alice/sessions").replace("GET", "TARGET")
        self.assertEqual(list(routes_without_example(commands, DESCRIBED)), [
            "no example in API.md: GET /v1/subjects", "no example in API.md: DELETE /v1/subjects/{subject}"])

    def test_a_section_is_between_its_markers(self):
        page = "a\n<!-- routes: x -->\nb\n<!-- end of routes -->\n<!-- other: x -->\nc\n<!-- end of other -->\n"
        self.assertEqual([found[1] for found in section("routes").findall(page)], ["b\n"])

"""Tests of the list of requirements: each state of a row is recognised."""
import unittest

from watchword_tools.checks.conformance import count_text, is_current, proofs, summary, table

TESTS = '''
@Test("A-01 B-02 holds")
 func f() {}
@Test("C-03 off", .disabled("x"))
 func g() {}
@Test("D-04 each", arguments: [1])
    func h() {}
@Test(
    "G-07, H-08 and I-09 hold",
    arguments: try vectors.get())
func k(vector: Vector) {}
@Test("plain")
 func i() {}
'''
MARKERS = "<!-- conformance: x -->\n{}<!-- end of conformance -->"


class ConformanceTests(unittest.TestCase):
    def test_tests_are_found_by_the_ids_in_front_of_their_names(self):
        self.assertEqual(proofs([TESTS, '@Test("A-01 too")\n func f() {}\n']), {
            "A-01": ["holds", "too"], "B-02": ["holds"], "D-04": ["each"], "G-07": ["hold"], "H-08": ["hold"],
            "I-09": ["hold"]})

    def test_each_state_of_a_row_is_recognised(self):
        rows = [{"id": "A-01"}, {"id": "B-02", "out": "why"}, {"id": "C-03"}, {"id": "E-05", "out": "why"},
                {"id": "F-06", "out": " "}, {"id": "G-07"}, {"id": "H-08"}, {"id": "I-09"}]
        states = table(rows, proofs([TESTS]))
        self.assertEqual({row["id"]: state for row, state, _ in states}, {
            "A-01": "proved", "B-02": "contradiction", "C-03": "missing", "D-04": "unknown", "E-05": "out of scope",
            "F-06": "missing", "G-07": "proved", "H-08": "proved", "I-09": "proved"})
        self.assertEqual(count_text(states), "1 contradiction, 2 missing, 1 out of scope, 4 proved, 1 unknown")

    def test_the_summary_lists_the_rows_out_of_scope(self):
        row = {"id": "A-01", "source": "RFC 1", "what": "does it", "out": "why"}
        self.assertEqual(summary(table([row, {"id": "B-02"}], {"B-02": ["holds"]})).splitlines(), [
            "2 requirements: 1 out of scope, 1 proved. Out of scope:", "", "| id | requirement | reason |",
            "|---|---|---|", "| A-01 (RFC 1) | does it | why |"])

    def test_an_outdated_summary_is_recognised(self):
        states = table([{"id": "A-01"}], {"A-01": ["holds"]})
        text = "# Title\n" + MARKERS.format(summary(states))
        self.assertTrue(is_current(text, states))
        for outdated in [text.replace("1 p", "2 p"), "", text + text, text.replace("end of", "end")]:
            self.assertFalse(is_current(outdated, states))

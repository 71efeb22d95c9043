"""Tests of the counts that describe the shape of the code."""
import unittest
from unittest.mock import patch

from watchword_tools.checks import shape
from watchword_tools.tests.tree import Tree

SOURCE = '''/// A comment.
import Glibc

enum AError: Error { case a }  // The second line.
/* A block
   of comments. */
protocol BFailure: Sendable, Error {}
struct B<Code: Error>: BFailure {}
extension Never: BFailure {}
extension AError: BFailure {}
let text = """
    // not a comment
    """
func many(a: Int, _ b: [Int: Int], c: (Int, Int) -> Void, d: A<Int, Int>, e: Int = f(1, 2), f: Int) {
    do { try a.init(1, 2, 3, 4, 5, 6) } catch { switch b { case .own(let c): c; case .held: d } }
}
'''


class ShapeTests(unittest.TestCase):
    def setUp(self):
        self.tree = Tree({
            "Sources/README.md": "", "Sources/Programs/Commands/A.swift": SOURCE,
            "Sources/Programs/watchword/A.swift": "import Commands\n", "Tests/ATests/A.swift": "a\n\nb\n"})
        self.addCleanup(self.tree.close)

    def test_each_row_is_counted_and_has_a_ceiling(self):
        counts = shape.counts(self.tree.root)
        self.assertEqual(list(counts.values()), [13, 2, 1, 2, 1, 2, 1, 2, 1, 2])
        self.assertEqual(counts.keys(), shape.CEILINGS.keys())
        self.assertEqual(len(shape.table(self.tree.root).split("\n")), len(counts))

    def test_a_count_over_its_ceiling_is_reported(self):
        counts = shape.counts(self.tree.root)
        with patch.dict(shape.CEILINGS, counts):
            self.assertEqual(shape.check(self.tree.root), [])
        for name, number in counts.items():
            with self.subTest(name), patch.dict(shape.CEILINGS, counts | {name: number - 1}):
                found = shape.check(self.tree.root)
                self.assertEqual(len(found), 1)
                self.assertIn(f"{name}: {number:,}, at most {number - 1:,} are allowed", found[0])

    def test_parameters_are_counted(self):
        cases = {
            "func a() {}": 0, "func a(\n    b: Int,\n) {}": 1, "init?(_ a: Int, b: Int = [1, 2].count)": 2,
            "func a<B: C>(b: B, c: @escaping (B, Int) throws(D) -> Void) {}": 2, "func < (a: B, b: B) {}": 2,
            "convenience init<A>(a: A<Int, B<C, D>>)": 1, "private init(a: B, c: D) where E == F<G, H> {}": 2,
        }
        for code, count in cases.items():
            with self.subTest(code):
                found = shape.FUNCTION.search(code)
                self.assertEqual(shape.parameter_count(code, found.end()), count)

    def test_calls_are_not_functions(self):
        for code in ["self.init(a: 1)", ".init(a: 1)", "A.init(1)", "myinit(1)", "functional(1)"]:
            with self.subTest(code):
                self.assertIsNone(shape.FUNCTION.search(code))

"""Tests of the check of the DocC catalogues."""
import unittest

from watchword_tools.checks.docc import broken_symbols, public_declarations
from watchword_tools.tests.tree import Tree

SOURCE = '''
/// A ``Nothing`` in a comment is no link.
public struct Box<Content>: Sendable {
    public let content: Content, unused = 1
    public private(set) var size: Int { 1 }
    let secret = 1
    public static let standard = Box(content: [1: 2])
    public init?(_ text: String = "} public let wrong = 1", by key: (Int, Int) -> Int = { a, b in a }) {
        let local = 1
        struct Local { public let inner = 1 }
    }
    public func open<Value>(at path: String, _ body: (borrowing Box) throws -> Value, in map: [String: Int]) {}
    public subscript(index: Int) -> Int { 0 }
    func hidden() { switch 1 { case wrong: break } }
    public enum Fault: Error {
        case lost, damaged(at: Int, String)
        indirect case nested(Fault)
        case numbered = "x"
        public var isFatal: Bool { true }
    }
}
extension Box.Fault {
    public static func == (left: Self, right: Self) -> Bool { true }
    public static func worst(of faults: [Fault]) -> Fault { .lost }
    package func inside() {}
}
public protocol Store {
    associatedtype Row
    func row(_ id: Int) async throws -> Row
}
public extension Box { func fill(with content: Content) {}; internal func drain() {} }
struct Inner { public let value = 1; enum Kind { case one } }
public func draw(_ box: Box<Int>) -> String { "" }
public typealias Boxes = [Box<Int>]
'''
DECLARED = {
    "Box", "Box/content", "Box/size", "Box/standard", "Box/init(_:by:)", "Box/open(at:_:in:)", "Box/subscript(index:)",
    "Box/Fault", "Box/Fault/lost", "Box/Fault/damaged(at:_:)", "Box/Fault/nested(_:)", "Box/Fault/numbered",
    "Box/Fault/isFatal", "Box/Fault/==(left:right:)", "Box/Fault/worst(of:)", "Store", "Store/Row", "Store/row(_:)",
    "Box/fill(with:)", "draw(_:)", "Boxes", "Inner/value",
}
PAGE = "Sources/Server/Boxes/Boxes.docc/Boxes.md"
TREE = {
    "Sources/Server/Boxes/Box.swift": SOURCE,
    "Sources/Server/Other/Other.swift": "public struct Other {}\n",
    PAGE: "# ``Boxes``\n``Box/init(_:by:)`` `Box` ``draw(_:)`` <doc:More> <https://example.org>\n"
          "```swift\n``Nothing``\n```\n",
    "Sources/Server/Boxes/Boxes.docc/More.md": "# More\n``Box/Fault/damaged(at:_:)``\n",
}
# Each is a line that is appended to the page, and the complaint that must follow.
BROKEN = {
    "``Nothing``\n": "``Nothing``: Boxes has no such public declaration",
    "``Box/secret``\n": "``Box/secret``: Boxes has no such public declaration",
    "``Box/hidden()``\n": "``Box/hidden()``: Boxes has no such public declaration",
    "``Box/init(_:)``\n": "``Box/init(_:)``: Boxes has no such public declaration",
    "``Box/Fault/damaged``\n": "``Box/Fault/damaged``: Boxes has no such public declaration",
    "``Inner/value``\n": "``Inner/value``: Boxes has no such public declaration",
    "``Other``\n": "``Other``: Boxes has no such public declaration",
    "<doc:Less>\n": "<doc:Less>: there is no such article",
}


class DeclarationTests(unittest.TestCase):
    def test_the_public_declarations_of_a_file_are_found_with_their_labels(self):
        self.assertEqual(public_declarations(SOURCE), DECLARED)


class CatalogueTests(unittest.TestCase):
    def setUp(self):
        self.tree = Tree(TREE)
        self.addCleanup(self.tree.close)

    def test_links_to_public_declarations_and_articles_are_accepted(self):
        self.assertEqual(list(broken_symbols(self.tree.root)), [])

    def test_each_broken_link_is_reported(self):
        for line, expected in BROKEN.items():
            with self.subTest(line):
                self.tree.put(PAGE, TREE[PAGE] + line)
                self.assertEqual(list(broken_symbols(self.tree.root)), [f"{PAGE}: {expected}"])

    def test_a_catalogue_of_no_module_is_reported(self):
        for path in ["Sources/Server/Boxes/Box.docc/A.md", "Sources/Server/Boxes/Boxes.docc/picture.png"]:
            with self.subTest(path):
                self.tree.put(path, "")
                self.assertEqual(len(list(broken_symbols(self.tree.root))), 1)
                self.tree.reset(path)

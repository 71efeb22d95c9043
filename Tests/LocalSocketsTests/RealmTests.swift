import Testing

@testable import LocalSockets

struct RealmTests {
    @Test("a realm has 1 to 63 lower-case letters, digits, dots and dashes")
    func characters() {
        for text in ["a", "mill.example", "host-1", String(repeating: "x", count: 63)] {
            #expect(Realm(text)?.text == text)
        }
        for text in [
            "", "Mill", "a:b", "a b", "a_b", "müller", "a\n", String(repeating: "x", count: 64),
        ] {
            #expect(Realm(text) == nil, "\(text)")
        }
    }

    @Test("an account's subject contains its realm")
    func subject() throws {
        let realm = try #require(Realm("mill.example"))
        #expect(realm.subject(of: "alice") == "unix:mill.example:alice")
    }

    @Test("the machine's name is the first line that is neither empty nor a comment")
    func hostname() {
        let cases: [(String, String?)] = [
            ("mill\n", "mill"), ("# name\n\nMill.Example\nother\n", "mill.example"),
            ("mill", "mill"), ("", nil), ("# mill\n", nil), ("mill 1\n", nil),
        ]
        for (content, expected) in cases {
            #expect(Realm(hostnameFile: Array(content.utf8))?.text == expected, "\(content)")
        }
    }
}

import Courier
import Testing

@Suite struct ServerAddressTests {
    @Test(
        "addresses are parsed and printed in their canonical form",
        arguments: [
            ("https://login.example", "https://login.example"),
            ("HTTPS://Login.Example:443/", "https://login.example"),
            ("https://login.example:8443/a/b/", "https://login.example:8443/a/b"),
            ("https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443"),
            ("http://localhost:8420", "http://localhost:8420"),
            ("http://127.0.0.1", "http://127.0.0.1"), ("http://[::1]:80", "http://[::1]"),
        ])
    func read(typed: String, text: String) throws {
        let address = try #require(ServerAddress(typed))
        #expect(address.text == text)
        #expect(ServerAddress(text) == address)
    }

    static let wrong: [(String, ServerAddress.Part)] = [
        ("login.example", .scheme), ("ftp://login.example", .scheme), ("", .scheme),
        ("http://login.example", .plain), ("http://127.0.0.1.example", .plain),
        ("http://128.0.0.1", .plain), ("http://127.0.0.256", .plain), ("http://[::2]", .plain),
        ("https://", .host), ("https:///a", .host), ("https://a@login.example", .host),
        ("https://bücher.example", .host), ("https://a..b", .host), ("https://-a", .host),
        ("https://[login]", .host), ("https://[::1", .host), ("https://a b", .host),
        ("https://a:", .port), ("https://a:0", .port), ("https://a:65536", .port),
        ("https://a:+1", .port), ("https://a:1:2", .port), ("https://[::1]8443", .port),
        ("https://a/b//c", .path), ("https://a/../b", .path), ("https://a/b?c", .path),
        ("https://a/b#c", .path), ("https://a/%41", .path),
        ("https://a/" + String(repeating: "b", count: 512), .length),
    ]

    @Test(
        "an invalid address is refused, and the invalid part is named", arguments: wrong)
    func refused(typed: String, part: ServerAddress.Part) {
        #expect(ServerAddress.parse(typed) == .invalid(part))
        #expect(ServerAddress(typed) == nil)
    }
}

import Testing

@testable import HTTPListener

struct ListenAddressTests {
    @Test(
        "an address and a port are parsed, and formatted unchanged",
        arguments: [
            ("127.0.0.1:8420", true), ("127.9.9.9:1", true), ("[::1]:8420", true),
            ("0.0.0.0:0", false), ("[::]:65535", false), ("192.0.2.7:80", false),
            ("[::ffff:127.0.0.1]:5", true), ("[::ffff:192.0.2.1]:5", false), ("[fe80::1]:5", false),
        ])
    func reading(_ text: String, _ isLoopback: Bool) throws {
        let address = try #require(ListenAddress(parsing: text))
        #expect(address.text == text)
        #expect(address.isLoopback == isLoopback)
    }

    @Test("localhost is 127.0.0.1")
    func localhost() {
        #expect(ListenAddress(parsing: "localhost:5")?.text == "127.0.0.1:5")
    }

    @Test(
        "text that is not a numeric address or localhost with a port is refused",
        arguments: [
            "", ":", "8420", "127.0.0.1", "127.0.0.1:", ":8420", "127.0.0.1:65536", "127.0.0.1:+1",
            "127.0.0.1:-1", "::1:8420", "[127.0.0.1]:1", "[::1]", "example.org:80", "1.2.3:4",
            "127.0.0.1:8 ", " 127.0.0.1:8",
        ])
    func refusal(_ text: String) {
        #expect(ListenAddress(parsing: text) == nil)
    }
}

import Glibc
@testable import HTTPListener
import Testing
import WatchwordCryptography

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

struct PeerAddressTests {
    @Test("an IPv6 address belongs to its /64 network and its /48 site")
    func networks() throws {
        func peer(_ text: String) throws -> PeerAddress {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            let read = unsafe inet_pton(AF_INET6, text, &address.sin6_addr)
            try #require(read == 1)
            return unsafe withUnsafePointer(to: address) { address in
                unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe PeerAddress($0)
                }
            }
        }
        let peers = try [
            "2001:db8:1:2::3", "2001:db8:1:2:ffff::", "2001:db8:1:3::3", "2001:db8:2:2::3",
        ].map(peer)
        #expect(peers.map { $0.origin == peers[0].origin } == [true, true, false, false])
        #expect(peers.map { $0.site == peers[0].site } == [true, true, true, false])
    }
}

struct ListeningSocketTests {
    private func socketNumber() throws -> Int32 {
        try ListeningSocket(try #require(ListenAddress(parsing: "127.0.0.1:0"))).release()
    }

    @Test(
        "a socket is closed only once, and a file that reuses its descriptor stays open")
    func closedOnce() throws {
        let number = try socketNumber()
        let identity = ListeningSocket.Identity(of: number)
        let other = try socketNumber()
        let otherIdentity = ListeningSocket.Identity(of: other)
        // This simulates that libmicrohttpd has closed the socket, and another thread has since
        // opened a file.
        #expect(dup2(other, number) == number)
        ListeningSocket.close(number, ifStill: identity)
        #expect(ListeningSocket.Identity(of: number) == otherIdentity)

        ListeningSocket.close(number, ifStill: otherIdentity)
        #expect(ListeningSocket.Identity(of: number) != otherIdentity)
        ListeningSocket.close(other, ifStill: otherIdentity)
        #expect(ListeningSocket.Identity(of: other) != otherIdentity)
    }

    @Test("a listener does not start with a malformed certificate")
    func malformedCertificate() {
        let bytes = Array("malformed".utf8)
        let identity = TLSIdentity(certificate: bytes, key: SecretBytes(copying: bytes.span))
        #expect(throws: ListenerFailure.self) { try TestListener(tls: identity) }
    }
}

import Testing
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

@testable import VerificationService

struct ClientAddressTests {
    private func address(
        peer: String, forwarded: [String], trusted: [String]
    ) throws -> String {
        let blocks = try trusted.map { try #require(NetworkBlock($0)) }
        return TrustedProxies(blocks).clientAddress(
            of: HTTPRequest(
                method: "GET", target: "/",
                headers: forwarded.map { HTTPField("x-forwarded-for", $0) },
                body: SecretBytes(copying: [UInt8]().span), peer: peer))
    }

    @Test("V-21 X-Forwarded-For from an untrusted peer has no effect")
    func spoofed() throws {
        #expect(
            try address(peer: "198.51.100.1", forwarded: ["192.0.2.1"], trusted: [])
                == "198.51.100.1")
        #expect(
            try address(peer: "198.51.100.1", forwarded: ["192.0.2.1"], trusted: ["10.0.0.0/8"])
                == "198.51.100.1")
    }

    @Test(
        "V-21 the element added by a trusted proxy is used; possibly forged earlier ones are not")
    func chain() throws {
        let trusted = ["10.0.0.0/8", "::1"]
        #expect(
            try address(peer: "10.0.0.1", forwarded: ["192.0.2.1"], trusted: trusted) == "192.0.2.1"
        )
        #expect(
            try address(
                peer: "10.0.0.1", forwarded: ["203.0.113.5, 192.0.2.1"], trusted: trusted)
                == "192.0.2.1")
        #expect(
            try address(
                peer: "::1", forwarded: ["203.0.113.5", "192.0.2.1,10.2.3.4"], trusted: trusted)
                == "192.0.2.1")
        // A chain that contains only proxies ends at its first element.
        #expect(
            try address(peer: "10.0.0.1", forwarded: ["10.0.0.2"], trusted: trusted) == "10.0.0.2")
        #expect(try address(peer: "10.0.0.1", forwarded: [], trusted: trusted) == "10.0.0.1")
    }

    @Test(
        "V-21 an address may have a port, brackets or quotation marks",
        arguments: [
            ("7.7.7.7:1234", "7.7.7.7"), ("[2001:db8::1]:1234", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"), ("2001:db8::1", "2001:db8::1"),
            ("\"[2001:db8::1]:1234\"", "2001:db8::1"), ("\"7.7.7.7\"", "7.7.7.7"),
            ("\t7.7.7.7:0 ", "7.7.7.7"), ("::ffff:7.7.7.7", "::ffff:7.7.7.7"),
            // This address is trusted, so the element before it counts.
            ("10.0.0.2:8080", "203.0.113.5"), ("[::ffff:10.0.0.2]:8080", "203.0.113.5"),
        ])
    func forms(_ form: String, _ expected: String) throws {
        #expect(
            try address(
                peer: "10.0.0.1", forwarded: ["203.0.113.5:5000, \(form)"],
                trusted: ["10.0.0.0/8"]) == expected)
    }

    @Test("V-21 a malformed X-Forwarded-For element and all earlier elements are ignored")
    func unreadable() throws {
        for junk in [
            "unknown", "", "a\r\nb", "192.0.2.1 x", "192.0.2.1:", "192.0.2.1:x", "192.0.2.1:65536",
            "192.0.2.1:+1", "192.0.2.1:1:2", "[192.0.2.1]:1", "[::1", "::1]", "[::1]1", "[::1]:",
            "[]:1", ":1", "\"", "\"\"", "\"192.0.2.1", "192.0.2.1\"", "1 92.0.2.1", "[[::1]]",
            "::1%lo",
        ] {
            #expect(
                try address(
                    peer: "10.0.0.1", forwarded: ["203.0.113.5, \(junk)"], trusted: ["10.0.0.0/8"])
                    == "10.0.0.1")
        }
    }
}

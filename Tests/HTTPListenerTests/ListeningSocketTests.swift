import Glibc
import Testing
import WatchwordCryptography

@testable import HTTPListener

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
        // As if libmicrohttpd had closed the socket, and another thread had opened a file since.
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

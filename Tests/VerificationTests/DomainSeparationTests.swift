import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

/// One server key serves many purposes; a value made for one purpose must be useless for the
/// others.
@Suite("Domain separation")
struct DomainSeparationTests {
    private func lookup() throws -> LookupKey { try KeyRing.make().lookup }

    private func credential(_ byte: UInt8) throws -> CredentialID {
        try #require(CredentialID(bytes: [UInt8](repeating: byte, count: 16)))
    }

    @Test("the same token bytes have a different digest for each kind of token")
    func kindsOfToken() throws {
        let lookup = try lookup()
        let token = SecretBytes(text: "thirty-two bytes, the same always")
        let digests = [Token.Kind.enrolmentTicket, .loginTicket, .secret, .clientKey].map {
            lookup.digest(of: token, as: $0)
        }
        #expect(Set(digests).count == digests.count)
        #expect(lookup.digest(of: token, as: .loginTicket) == digests[1])
    }

    @Test("the keyed digest of an enrolled secret depends on its credential and its generation")
    func generations() throws {
        let lookup = try lookup()
        let secret = SecretBytes(text: "thirty-two bytes, the same always")
        let marks = [
            try lookup.mark(of: secret, credential: credential(1), generation: 0),
            try lookup.mark(of: secret, credential: credential(1), generation: 1),
            try lookup.mark(of: secret, credential: credential(2), generation: 0),
        ]
        #expect(Set(marks).count == marks.count)
        #expect(
            try lookup.mark(of: secret, credential: credential(1), generation: 1) == marks[1])
    }

    @Test("a recorded response opens only under its own request's key")
    func recordedResponses() throws {
        let key = try KeyRing.make().current
        let data: [UInt8] = []
        let response = SecretBytes(text: "response")
        let box = key.answerKey([1, 2, 3]).seal(response, associatedData: data.span)
        func opened(_ name: [UInt8]) throws -> SecretBytes {
            try key.answerKey(name).open(box.span, associatedData: data.span)
        }
        #expect(try opened([1, 2, 3]) == response)
        #expect(throws: CryptographyError.self) { try opened([1, 2, 4]) }
    }
}

import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

@Suite("KeyRing")
struct KeyRingTests {
    @Test("a key ring round-trips through its text, and adding a key version keeps the others")
    func roundTrip() throws {
        let ring = try KeyRing.make().adding(makingCurrent: true).adding(makingCurrent: false)
        let text = ring.text()
        let read = try KeyRing(parsing: text)
        #expect(read.versions.map(\.id.number) == [1, 2, 3])
        #expect(read.current.id.number == 2)
        #expect(read.text() == text)
    }

    @Test("a key file with any byte changed or missing is refused")
    func spoiled() throws {
        let text = try KeyRing.make().adding(makingCurrent: true).text()
        let bytes = text.known
        for index in bytes.indices {
            var bytes = bytes
            bytes[index] ^= 1
            let spoiled = SecretBytes(copying: bytes.span)
            #expect(throws: VerifierError.self, "byte \(index)") {
                try KeyRing(parsing: spoiled)
            }
        }
        for count in bytes.indices {
            let half = Array(bytes[..<count])
            let cut = SecretBytes(copying: half.span)
            #expect(throws: VerifierError.self, "\(count) bytes") { try KeyRing(parsing: cut) }
        }
    }

    @Test("a key file of a newer version is distinguished from a damaged one")
    func newer() {
        #expect(throws: VerifierError.keyRing(.newer)) {
            try KeyRing(parsing: SecretBytes(text: "watchword-keys 2\nanything"))
        }
        #expect(throws: VerifierError.keyRing(.malformed)) {
            try KeyRing(parsing: SecretBytes(text: "watchword-keys 01\nanything"))
        }
    }

    @Test("an older key version can be retired, but not the current version")
    func retiring() throws {
        let ring = try KeyRing.make().adding(makingCurrent: true)
        let first = try #require(KeyID(1))
        let second = try #require(KeyID(2))
        #expect(throws: VerifierError.keyRing(.isCurrent)) { try ring.retiring(second) }
        #expect(try ring.retiring(first).versions.map(\.id) == [second])
        #expect(throws: VerifierError.keyRing(.unknownVersion)) {
            try ring.retiring(first).making(current: first)
        }
    }

    @Test("a ring has at most 16 key versions")
    func full() throws {
        var ring = try KeyRing.make()
        // Servers of an earlier release must still be able to read the file.
        for _ in 1..<16 { ring = try ring.adding(makingCurrent: true) }
        #expect(try KeyRing(parsing: ring.text()).versions.count == 16)
        let full = ring
        #expect(throws: VerifierError.keyRing(.full)) { try full.adding(makingCurrent: true) }
    }
}

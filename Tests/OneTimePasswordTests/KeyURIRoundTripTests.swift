import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@Suite("Key URI round trips")
struct KeyURIRoundTripTests {
    @Test("a credential round-trips through its URI")
    func roundTrips() throws {
        var generator = SeededGenerator(seed: 4226)
        for _ in 0..<2_000 {
            let credential = try generator.credential()
            let text = KeyURI.format(credential)
            let read = try text.withBytes { try KeyURI(parsing: $0) }
            #expect(read.credential == credential)
            #expect(KeyURI.format(read.credential) == text)
        }
    }

    @Test(
        "a written URI passes strict parsing unless it lacks a name or has an unused parameter")
    func strict() throws {
        var generator = SeededGenerator(seed: 6238)
        for _ in 0..<2_000 {
            let credential = try generator.credential()
            let isNameless = credential.issuer.isEmpty && credential.account.isEmpty
            let isOther = { (parameter: Credential.Parameter) in
                ["period", "counter"].contains(parameter.name)
            }
            let warnings = try KeyURI.format(credential).withBytes {
                try KeyURI(parsing: $0).warnings
            }.filter { if case .unknownParameter = $0 { false } else { true } }
            let expected =
                (isNameless ? [KeyURIWarning.emptyLabel] : [])
                + credential.otherParameters.filter(isOther).map { parameter in
                    .otherType(parameter.name == "period" ? .period : .counter)
                }
            #expect(warnings == expected)
        }
    }

    @Test("no text makes the parsers crash", arguments: [1, 2, 3, 4])
    func garbage(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            var bytes = KeyURI.format(try generator.credential()).bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.removeSubrange(place...)
                default: bytes.insert(contentsOf: Array("%&=+:".utf8), at: place)
                }
                if bytes.isEmpty { break }
            }
            do {
                let credential = try KeyURI(parsing: bytes.span).credential
                let again = try KeyURI.format(credential).withBytes { try KeyURI(parsing: $0) }
                #expect(again.credential == credential)
            } catch {}
        }
    }
}

extension SecretBytes {
    /// A copy of a known secret.
    var bytes: [UInt8] { withBytes { bytes in bytes.indices.map { bytes[$0] } } }
}

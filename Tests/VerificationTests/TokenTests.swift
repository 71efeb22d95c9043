import TestSupport
import Testing
@testable import Verification
import WatchwordCryptography

@Suite("Token")
struct TokenTests {
    @Test("the text of a token parses only as its own kind", arguments: Token.Kind.allCases)
    func roundTrip(kind: Token.Kind) {
        let token = Token(kind, Randomness.secret(count: kind.count))
        let text = token.text
        for other in Token.Kind.allCases {
            let read = text.withBytes { Token(other, text: $0) }
            let isSame = read.map { $0.bytes == token.bytes }
            #expect(isSame == (other == kind ? true : nil))
        }
    }

    @Test("T-10 only the canonical text of a token is accepted", arguments: Token.Kind.allCases)
    func canonical(kind: Token.Kind) {
        let token = Token(kind, Randomness.secret(count: kind.count))
        let text = token.text.text
        for spoiled in [
            "", kind.prefix, text + "=", text + "A", text + "\n", " " + text, "\u{feff}" + text,
            String(text.dropLast()), text.uppercased() + "x", text + "\0",
        ] {
            let characters = Array(spoiled.utf8)
            let read = Token(kind, text: characters.span)
            #expect(read == nil)
        }
    }

    @Test("only an API key may have a second length: the 32 bytes of older versions")
    func lengths() {
        for kind in Token.Kind.allCases {
            for count in [16, 31, 32, 33, 47, 48, 49] {
                let bytes = Randomness.secret(count: count)
                let text = kind.prefix + Base64URL.encode(bytes).text
                let isPermitted = count == kind.count || kind == .clientKey && count == 32
                let characters = Array(text.utf8)
                let token = Token(kind, text: characters.span)
                #expect((token != nil) == isPermitted, "\(kind), \(count) bytes")
            }
        }
    }

    @Test("identifiers have exactly one text form")
    func identifiers() throws {
        let id = try #require(CredentialID(bytes: Array(0..<16)))
        #expect(id.text == "cr_AAECAwQFBgcICQoLDA0ODw")
        #expect(CredentialID(text: id.text) == id)
        // The last character carries four bits that are not part of the value.
        #expect(CredentialID(text: "cr_AAECAwQFBgcICQoLDA0OD" + "x") == nil)
        #expect(CredentialID(text: "vf_AAECAwQFBgcICQoLDA0ODw") == nil)
        #expect(CredentialID(bytes: Array(0..<15)) == nil)
    }

    @Test("a subject is 1 to 255 bytes of UTF-8 without NUL, and is compared byte by byte")
    func subjects() {
        #expect(Subject("\u{e9}") != Subject("e\u{301}"))
        #expect(Subject("") == nil)
        #expect(Subject("a\0") == nil)
        #expect(Subject(utf8: [0xff]) == nil)
        #expect(Subject(String(repeating: "a", count: 255)) != nil)
        #expect(Subject(String(repeating: "a", count: 256)) == nil)
    }

    @Test("an origin truncates long text at a character boundary")
    func origin() {
        let origin = Origin(address: "::1", userAgent: String(repeating: "é", count: 200))
        #expect(origin.userAgent == String(repeating: "é", count: 128))
    }
}

@Suite("UnixTime")
struct UnixTimeTests {
    @Test("T-06 times after 2038 and before 1970 convert correctly")
    func ranges() {
        #expect(UnixTime(seconds: 20_000_000_000).seconds == 20_000_000_000)
        #expect(UnixTime(milliseconds: -1).seconds == -1)
        #expect(UnixTime(milliseconds: -1_000).seconds == -1)
        #expect(UnixTime(milliseconds: 1_999).seconds == 1)
    }

    @Test("arithmetic saturates at the ends of the range")
    func ends() {
        #expect(UnixTime(seconds: .max).milliseconds == .max)
        #expect(UnixTime(seconds: .min).milliseconds == .min)
        #expect(UnixTime(milliseconds: .max).adding(seconds: 1).milliseconds == .max)
        #expect(UnixTime(milliseconds: .min).adding(seconds: -1).milliseconds == .min)
        let span = UnixTime(milliseconds: .max).milliseconds(since: UnixTime(milliseconds: -1))
        #expect(span == .max)
    }
}

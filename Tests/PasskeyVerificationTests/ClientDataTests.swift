import Testing
import Verification
import WatchwordCryptography

@testable import PasskeyVerification

/// The strict rules for reading a browser's client data.
@Suite("Client data")
struct ClientDataTests {
    private static let good =
        #"{"type":"webauthn.get","challenge":"AAAA","origin":"https://mill.example""#

    private func read(_ text: String) -> ClientData? {
        ClientData.read(Array(text.utf8))
    }

    @Test("W-02 the known members are read, and unknown members are accepted")
    func members() throws {
        let text =
            Self.good
            + #","crossOrigin":true,"topOrigin":"https://shop.example","other_keys_can_be_added_here":"do not compare","x":[{}]}"#
        let data = try #require(read(text))
        #expect(data.type == "webauthn.get")
        #expect(data.challenge == "AAAA")
        #expect(data.origin == "https://mill.example")
        #expect(data.isCrossOrigin)
        #expect(data.topOrigin == "https://shop.example")
        let digest = sha256(Array(text.utf8).span)
        #expect(data.digest == digest)
        let short = try #require(read(Self.good + "}"))
        #expect(!short.isCrossOrigin)
        #expect(short.topOrigin == nil)
    }

    @Test("K-26 a tokenBinding object is ignored, and any other value is refused")
    func tokenBinding() {
        #expect(read(Self.good + #","tokenBinding":{"status":"present"}}"#) != nil)
        #expect(read(Self.good + #","tokenBinding":{}}"#) != nil)
        for value in [#""unused""#, "null", "true", "1", "[]"] {
            #expect(read(Self.good + ",\"tokenBinding\":\(value)}") == nil)
        }
    }

    @Test(
        "W-02 W-16 K-27 one byte order mark is accepted and included in the digest; two are refused"
    )
    func byteOrderMark() throws {
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        let text = Array((Self.good + "}").utf8)
        let marked = try #require(ClientData.read(mark + text))
        let digest = sha256((mark + text).span)
        #expect(marked.digest == digest)
        #expect(ClientData.read(mark + mark + text) == nil)
        #expect(ClientData.read(text + mark) == nil)
    }

    @Test(
        "the value of an unknown member may be any number",
        arguments: ["1.5", "-1.5e30", "9223372036854775808"])
    func numbers(number: String) {
        #expect(read(Self.good + ",\"a\":\(number)}") != nil)
    }

    private static let twice =
        #"{"origin":"https://evil.example","# + String(good.dropFirst()) + "}"

    static let malformedTexts: [String] = [
        "", "{}", "[]", "null", good, good + "}}", good + "} x", good + ",}",
        // A member occurs twice, in either order.
        good + #","type":"webauthn.create"}"#,
        twice,
        good + #","a":{"b":1,"b":2}}"#,
        // A member has a different type, or is missing.
        #"{"type":1,"challenge":"AAAA","origin":"https://mill.example"}"#,
        #"{"type":"webauthn.get","challenge":null,"origin":"https://mill.example"}"#,
        #"{"type":"webauthn.get","challenge":"AAAA","origin":["https://mill.example"]}"#,
        #"{"type":"webauthn.get","challenge":"AAAA"}"#,
        good + #","crossOrigin":"true"}"#, good + #","crossOrigin":null}"#,
        good + #","crossOrigin":0}"#, good + #","topOrigin":null}"#,
        good + #","topOrigin":true}"#,
        // A string contains NUL, an unpaired surrogate or a line break.
        good + #","a":"\u0000"}"#, good + #","a":"\ud800"}"#, good + ",\"a\":\"\n\"}",
        good + ",\"a\":\"\u{0}\"}",
    ]

    @Test("W-02 K-27 malformed client data is refused", arguments: malformedTexts)
    func malformed(text: String) {
        #expect(read(text) == nil)
    }

    @Test("K-27 client data with more than 4 KiB, too many levels or invalid UTF-8 is refused")
    func limits() {
        func padded(_ count: Int) -> String {
            let start = Self.good + #","a":""#
            return start + String(repeating: "x", count: count - start.utf8.count - 2) + "\"}"
        }
        #expect(read(padded(4_096)) != nil)
        #expect(read(padded(4_097)) == nil)
        let nested = String(repeating: "[", count: 7) + String(repeating: "]", count: 7)
        #expect(read(Self.good + ",\"a\":\(nested)}") != nil)
        #expect(read(Self.good + ",\"a\":[\(nested)]}") == nil)
        for byte: UInt8 in [0x80, 0xc0, 0xff] {
            let start = Array((Self.good + #","a":""#).utf8)
            #expect(ClientData.read(start + [byte] + Array("\"}".utf8)) == nil)
        }
    }

    @Test("every truncation is refused")
    func truncated() {
        let text = Array((Self.good + #","crossOrigin":false}"#).utf8)
        #expect(ClientData.read(text) != nil)
        for count in text.indices {
            #expect(ClientData.read(Array(text.prefix(count))) == nil)
        }
    }
}

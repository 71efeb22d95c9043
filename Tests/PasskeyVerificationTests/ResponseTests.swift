import Foundation
import JSONReading
import TestSupport
import Testing
import Verification
import WatchwordCoding
import WatchwordCryptography

@testable import PasskeyVerification

/// The objects that browsers return, and the objects that browsers receive.
@Suite("Browser messages")
struct ResponseTests {
    private static let clientData =
        "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiQUFBQSIsIm9yaWdpbiI6Imh0dHBzOi8vbWlsbC5leGFtcGxlIn0"

    private func value(_ text: String) throws -> JSONValue {
        try readJSON(Array(text.utf8).span)
    }

    private func registration(
        id: String = "AQID", rawID: String = "AQID", type: String = "public-key",
        response: String = #""attestationObject":"o2M","transports":["usb","x"],"publicKey":"AA""#,
        more: String =
            #","authenticatorAttachment":"platform","clientExtensionResults":{"credProps":{"rk":true}}"#
    ) throws -> JSONValue {
        try value(
            #"{"id":"\#(id)","rawId":"\#(rawID)","type":"\#(type)","response":{"clientDataJSON":"\#(Self.clientData)",\#(response)}\#(more)}"#
        )
    }

    private func assertion(
        _ response: String = #""authenticatorData":"AAAA","signature":"MEQ","userHandle":"AQI""#
    ) throws -> JSONValue {
        try registration(response: response)
    }

    @Test("a registration response is parsed, and unknown members are ignored")
    func registrations() throws {
        let read = try RegistrationResponse.read(registration()).response()
        #expect(read.credentialID == [1, 2, 3])
        #expect(read.attestationObject == [0xa3, 0x63])
        #expect(read.transports == ["usb", "x"])
        #expect(read.clientData?.origin == "https://mill.example")
        let short = try RegistrationResponse.read(
            registration(response: #""attestationObject":"""#, more: ""))
        #expect(short.response().transports == [])
    }

    @Test("W-16 an authentication response is parsed, with or without a user handle")
    func assertions() throws {
        let read = try AssertionResponse.read(assertion()).response()
        #expect(read.authenticatorData == [0, 0, 0])
        #expect(read.signature == [0x30, 0x44])
        #expect(read.userHandle == [1, 2])
        let none = try AssertionResponse.read(
            assertion(#""authenticatorData":"AAAA","signature":"MEQ""#))
        #expect(none.response().userHandle == nil)
        let empty = try AssertionResponse.read(
            assertion(#""authenticatorData":"AAAA","signature":"MEQ","userHandle":"""#))
        #expect(empty.response().userHandle == [])
    }

    @Test("W-01 W-14 K-14 K-50 the error names a malformed member")
    func malformed() throws {
        let long = Base64URL.encode([UInt8](repeating: 0, count: 1_024).span)
        let longest = Base64URL.encode([UInt8](repeating: 0, count: 1_023).span)
        let faults: [(JSONValue, String)] = try [
            (value("[]"), "type"), (value("{}"), "type"),
            (registration(type: "password"), "type"), (registration(rawID: "AQI"), "id"),
            (registration(id: "AQI"), "id"), (registration(id: "", rawID: ""), "rawId"),
            (registration(id: "AQID=", rawID: "AQID="), "rawId"),
            (registration(id: "AQ+D", rawID: "AQ+D"), "rawId"),
            (registration(id: "AQJ", rawID: "AQJ"), "rawId"),
            (registration(id: long, rawID: long), "rawId"),
            (value(#"{"id":"AQID","rawId":"AQID","type":"public-key"}"#), "response"),
            (
                value(#"{"id":"AQID","rawId":"AQID","type":"public-key","response":"AA"}"#),
                "response"
            ),
            (registration(response: #""x":1"#), "response.attestationObject"),
            (
                registration(response: #""attestationObject":"AA==""#),
                "response.attestationObject"
            ),
            (
                registration(response: #""attestationObject":"AA","transports":"usb""#),
                "response.transports"
            ),
            (
                registration(response: #""attestationObject":"AA","transports":[1]"#),
                "response.transports"
            ),
        ]
        for (fault, name) in faults {
            #expect(throws: PasskeyError.member(name)) {
                _ = try RegistrationResponse.read(fault)
            }
        }
        _ = try RegistrationResponse.read(registration(id: longest, rawID: longest))
        for (response, name) in [
            (#""signature":"MEQ""#, "authenticatorData"),
            (#""authenticatorData":"AAAA""#, "signature"),
            (#""authenticatorData":"AAAA","signature":1"#, "signature"),
            (#""authenticatorData":"AAAA","signature":"MEQ","userHandle":1"#, "userHandle"),
        ] {
            #expect(throws: PasskeyError.member("response." + name)) {
                _ = try AssertionResponse.read(assertion(response))
            }
        }
    }

    @Test("the JSON text of a browser's object is parsed strictly")
    func texts() throws {
        let created = try registration().rendered().known
        let text = String(decoding: created, as: UTF8.self)
        let parsed = try RegistrationResponse.read(registration()).response()
        let read = try RegistrationResponse(json: text)
        #expect(read.credentialID == parsed.credentialID)
        #expect(read.clientData == parsed.clientData)
        #expect(read.attestationObject == parsed.attestationObject)
        #expect(read.transports == parsed.transports)
        let signed = String(decoding: try assertion().rendered().known, as: UTF8.self)
        #expect(try AssertionResponse(json: signed).userHandle == [1, 2])
        // Browsers add members with any JSON.
        let inner = String(repeating: "[", count: 14) + "1.5" + String(repeating: "]", count: 14)
        let deep = #"{"x":"# + inner + "," + text.dropFirst()
        #expect(try RegistrationResponse(json: deep).credentialID == [1, 2, 3])
        let padding = String(repeating: " ", count: (64 << 10) - text.utf8.count)
        #expect(try RegistrationResponse(json: text + padding).credentialID == [1, 2, 3])
        for refused in [
            "", "x", text + "{}", String(text.dropLast()), #"{"id":"AQID","# + text.dropFirst(),
            deep.replacingOccurrences(of: inner, with: "[[" + inner + "]]"), text + padding + " ",
        ] {
            #expect(throws: PasskeyError.json, "\(refused.prefix(40))") {
                try RegistrationResponse(json: refused)
            }
        }
        #expect(throws: PasskeyError.member("type")) { try AssertionResponse(json: "[]") }
        #expect(throws: PasskeyError.member("response.signature")) {
            try AssertionResponse(
                json: signed.replacingOccurrences(of: #""signature":"MEQ""#, with: #""x":1"#))
        }
    }

    @Test("K-27 malformed client data denies a ceremony, but is not a malformed request")
    func badClientData() throws {
        let object = try value(
            #"{"id":"AQID","rawId":"AQID","type":"public-key","response":{"clientDataJSON":"e30","attestationObject":"AA"}}"#
        )
        #expect(try RegistrationResponse.read(object).response().clientData == nil)
    }
}

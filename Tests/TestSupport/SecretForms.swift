internal import Foundation
internal import OneTimePassword
internal import WatchwordCryptography

/// A known secret, in every form in which it could leak.
public struct SecretForms: Sendable {
    /// A description of the secret.
    public let name: String
    /// The raw bytes, and their hex, base64, base64url, base32, percent-encoded and decimal text.
    public let all: [[UInt8]]

    /// Computes the forms of `bytes`.
    public init(_ name: String, bytes: [UInt8]) {
        self.name = name
        let hex = Hex.text(bytes)
        let base64 = Data(bytes).base64EncodedString().replacing("=", with: "")
        let url = base64.replacing("+", with: "-").replacing("/", with: "_")
        let base32 = Base32.encode(SecretBytes(copying: bytes.span)).text
        let percent = bytes.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let decimal = bytes.map { String($0) }.joined(separator: ", ")
        let texts = [hex, base64, url, base32, percent, decimal]
        all =
            [bytes]
            + (texts + texts.map { $0.uppercased() } + texts.map { $0.lowercased() }).map {
                Array($0.utf8)
            }
    }

    /// Whether any of the forms occurs in `bytes`.
    public func isIn(_ bytes: [UInt8]) -> Bool {
        let haystack = Data(bytes)
        return all.contains { haystack.range(of: Data($0)) != nil }
    }
}

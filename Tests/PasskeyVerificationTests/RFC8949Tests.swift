import TestSupport
import Testing

@testable import PasskeyVerification

@Suite("RFC 8949")
struct RFC8949Tests {
    struct Vector: Codable, Sendable {
        let encoded: String
        let diagnostic: String?
        let refused: String?
    }

    private static let vectors = Result { try VectorFile<Vector>("cbor/rfc8949.json").cases }

    @Test("the examples of appendix A are read, and what WebAuthn does not use is refused")
    func examples() throws {
        for vector in try Self.vectors.get() {
            let bytes = try Hex.bytes(vector.encoded)
            do {
                let value = try readCBOR(bytes, keyOrder: .canonical)
                #expect(value.diagnostic == vector.diagnostic, "\(vector.encoded)")
            } catch {
                #expect("\(error)" == vector.refused, "\(vector.encoded)")
            }
        }
    }
}

extension CBORValue {
    /// The item in diagnostic notation (RFC 8949, section 8).
    fileprivate var diagnostic: String {
        switch self {
        case .unsigned(let value): "\(value)"
        // −1 − argument, which may be below the smallest Int64.
        case .negative(let argument):
            argument == .max ? "-18446744073709551616" : "-\(argument + 1)"
        case .bytes(let bytes): "h'\(Hex.text(bytes))'"
        case .text(let text): text.diagnostic
        case .array(let items): "[\(items.map(\.diagnostic).joined(separator: ", "))]"
        case .map(let map):
            "{\(map.sorted.map { "\($0): \($1.diagnostic)" }.joined(separator: ", "))}"
        case .boolean(let value): "\(value)"
        case .null: "null"
        }
    }
}

extension CBORText {
    fileprivate var diagnostic: String {
        let escaped = string.flatMap { character -> [Character] in
            character == "\"" || character == "\\" ? ["\\", character] : [character]
        }
        return "\"\(String(escaped))\""
    }
}

extension CBORMap {
    fileprivate var sorted: [(String, CBORValue)] {
        let members = keys.compactMap { key in self[key].map { (key.diagnostic, $0) } }
        return members.sorted { $0.0 < $1.0 }
    }
}

extension CBORKey {
    fileprivate var diagnostic: String {
        switch self {
        case .unsigned(let value): "\(value)"
        case .negative(let argument): "-\(argument + 1)"
        case .text(let text): text.diagnostic
        }
    }
}

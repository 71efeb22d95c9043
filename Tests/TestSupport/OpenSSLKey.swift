internal import Foundation
package import WatchwordCryptography

/// A key pair that the program `openssl` makes and signs with, independently of
/// `WatchwordCryptography`.
package struct OpenSSLKey: Sendable {
    /// Thrown if `openssl` refuses a command, with its message.
    package struct Failure: Error {
        let words: String
    }

    package let algorithm: SignatureAlgorithm
    /// The public key in COSE.
    package let publicKey: EncodedCBOR
    private let folder: TemporaryFolder

    /// The file of the private key.
    package var file: String { folder.file("key") }

    package init(_ algorithm: SignatureAlgorithm) throws {
        let folder = try TemporaryFolder()
        let file = folder.file("key")
        try Self.run(["genpkey", "-out", file] + Self.kind(algorithm))
        self.algorithm = algorithm
        self.folder = folder
        publicKey = try Self.publicKey(algorithm, in: file)
    }

    /// Signs a message with the key's algorithm.
    package func sign(_ message: [UInt8]) throws -> [UInt8] {
        switch algorithm {
        case .es256, .rs256: try sign(message, "sha256")
        case .es384: try sign(message, "sha384")
        case .es512: try sign(message, "sha512")
        case .ed25519:
            try Self.run(
                [
                    "pkeyutl", "-sign", "-rawin", "-inkey", file, "-in",
                    try folder.write(message, to: "message"),
                ])
        }
    }

    /// Signs a message with this hash function and these options of `openssl dgst`.
    package func sign(
        _ message: [UInt8], _ digest: String, options: [String] = []
    ) throws -> [UInt8] {
        try Self.run(["dgst", "-\(digest)", "-sign", file] + options, input: message)
    }

    /// Runs `openssl`, and returns what it writes.
    @discardableResult
    package static func run(_ arguments: [String], input: [UInt8] = []) throws -> [UInt8] {
        guard let openssl = ForeignProgram("openssl") else { throw TestIdentityFailure.noOpenSSL }
        let outcome = try openssl.run(arguments, input: input)
        guard outcome.status == 0 else {
            throw Failure(words: String(decoding: outcome.errors, as: UTF8.self))
        }
        return outcome.output
    }

    private static func kind(_ algorithm: SignatureAlgorithm) -> [String] {
        let curve = { (name: String) in
            ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(name)"]
        }
        return switch algorithm {
        case .es256: curve("P-256")
        case .es384: curve("P-384")
        case .es512: curve("P-521")
        case .rs256: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
        case .ed25519: ["-algorithm", "ED25519"]
        }
    }

    private static func publicKey(
        _ algorithm: SignatureAlgorithm, in file: String
    ) throws -> EncodedCBOR {
        let number = EncodedCBOR.integer(algorithm.rawValue)
        // The structure ends with the point.
        let encoded = try run(["pkey", "-in", file, "-pubout", "-outform", "DER"])
        switch algorithm {
        case .es256, .es384, .es512:
            let curves: [SignatureAlgorithm: (Int64, Int)] = [
                .es256: (1, 32), .es384: (2, 48), .es512: (3, 66),
            ]
            let (curve, count) = curves[algorithm] ?? (0, 0)
            return .numbered([
                1: .integer(2), 3: number, -1: .integer(curve),
                -2: .bytes(Array(encoded.suffix(2 * count).prefix(count))),
                -3: .bytes(Array(encoded.suffix(count))),
            ])
        case .ed25519:
            return .numbered([
                1: .integer(1), 3: number, -1: .integer(6), -2: .bytes(Array(encoded.suffix(32))),
            ])
        case .rs256:
            let line = try run(["rsa", "-in", file, "-noout", "-modulus"])
            let digits = String(decoding: line, as: UTF8.self)
                .dropFirst("Modulus=".count).filter { !$0.isWhitespace }
            return .numbered([
                1: .integer(3), 3: number, -1: .bytes(try Hex.bytes(digits)),
                -2: .bytes([1, 0, 1]),
            ])
        }
    }
}

extension TestPasskey {
    /// A passkey with this key in place of a key of `WatchwordCryptography`.
    package init(id: [UInt8]? = nil, _ key: OpenSSLKey) throws {
        try self.init(id: id)
        editKey = { _ in key.publicKey.encoded }
        signer = key.sign
    }
}

internal import Courier
internal import Cryptography

// The stored form, as `Sources/SecretVault/VaultFile.md` defines it.
extension EnrolledSecret {
    private static let version: UInt8 = 1

    /// The maximum size of a form without address and authorities: numbers, lengths, the
    /// credential's name, two secrets and two nonces.
    static let largestRest = 1 + 16 + 12 + Token.longest + 2 * (8 + Token.longest + 16)

    /// The bytes are not a form of this version.
    struct Unreadable: Error {}

    /// The bytes to store in the vault.
    func form() -> SecretBytes {
        let address = Array(server.text.utf8)
        let name = Array(credential.text.utf8)
        let secrets = current.size + (successor?.size ?? 8)
        let size = 1 + 16 + 12 + address.count + authorities.count + name.count + secrets
        return SecretBytes(capacity: size) { output in
            output.append(EnrolledSecret.version)
            output.append(field: address.span)
            output.append(field: authorities.span)
            output.append(field: name.span)
            output.append(bigEndian: UInt64(clamping: changed), count: 8)
            output.append(bigEndian: generation, count: 8)
            current.write(to: &output)
            if let successor {
                successor.write(to: &output)
            } else {
                for _ in 0..<2 { output.append(bigEndian: 0, count: 4) }
            }
        }
    }

    /// Parses the result of ``form()``; throws for anything else.
    init(reading form: SecretBytes) throws(Unreadable) {
        self = try form.withBytes { bytes throws(Unreadable) in
            var fields = FormReader()
            guard try fields.number(bytes, 1) == UInt64(EnrolledSecret.version) else {
                throw Unreadable()
            }
            let server: ServerAddress
            do {
                server = try ServerAddress(parsing: try fields.text(bytes))
            } catch {
                throw Unreadable()
            }
            let authorities = try fields.field(bytes).map { bytes[$0] }
            guard let credential = Token(try fields.text(bytes)),
                let changed = Int64(exactly: try fields.number(bytes, 8))
            else { throw Unreadable() }
            let generation = try fields.number(bytes, 8)
            guard generation < .max - 1, let current = try fields.holding(bytes) else {
                throw Unreadable()
            }
            let successor = try fields.holding(bytes)
            // A secret with a successor was presented, so it has a nonce.
            guard fields.position == bytes.count, successor == nil || current.nonce != nil else {
                throw Unreadable()
            }
            return EnrolledSecret(
                server: server, authorities: authorities, credential: credential,
                changed: changed, generation: generation, current: current, successor: successor)
        }
    }
}

extension EnrolledSecret.Holding {
    fileprivate var size: Int { 8 + secret.count + (nonce?.bytes.count ?? 0) }

    fileprivate func write(to output: inout OutputSpan<UInt8>) {
        secret.withBytes { output.append(field: $0) }
        let nonce = nonce?.bytes ?? []
        output.append(field: nonce.span)
    }
}

/// Reads fields in order; each method borrows the bytes.
private struct FormReader {
    private(set) var position = 0

    typealias Unreadable = EnrolledSecret.Unreadable

    mutating func number(_ bytes: Span<UInt8>, _ count: Int) throws(Unreadable) -> UInt64 {
        try take(count, of: bytes).reduce(0) { $0 << 8 | UInt64(bytes[$1]) }
    }

    mutating func field(_ bytes: Span<UInt8>) throws(Unreadable) -> Range<Int> {
        try take(Int(try number(bytes, 4)), of: bytes)
    }

    mutating func text(_ bytes: Span<UInt8>) throws(Unreadable) -> String {
        let range = try field(bytes)
        guard let text = String(validating: range.map { bytes[$0] }, as: UTF8.self) else {
            throw Unreadable()
        }
        return text
    }

    /// A secret with its nonce; `nil` if both fields are empty.
    mutating func holding(_ bytes: Span<UInt8>) throws(Unreadable) -> EnrolledSecret.Holding? {
        let secretRange = try field(bytes)
        let nonceRange = try field(bytes)
        if secretRange.isEmpty, nonceRange.isEmpty { return nil }
        let secret = SecretBytes(copying: bytes.extracting(secretRange))
        guard Token.isToken(secret) else { throw Unreadable() }
        let nonce = RotationNonce(nonceRange.map { bytes[$0] })
        guard nonce != nil || nonceRange.isEmpty else { throw Unreadable() }
        return EnrolledSecret.Holding(secret: secret, nonce: nonce)
    }

    private mutating func take(_ count: Int, of bytes: Span<UInt8>) throws(Unreadable)
        -> Range<Int>
    {
        guard count <= bytes.count - position else { throw Unreadable() }
        defer { position += count }
        return position..<position + count
    }
}

extension OutputSpan<UInt8> {
    fileprivate mutating func append(bigEndian value: UInt64, count: Int) {
        for index in (0..<count).reversed() {
            append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index)))
        }
    }

    fileprivate mutating func append(field bytes: Span<UInt8>) {
        append(bigEndian: UInt64(bytes.count), count: 4)
        for index in bytes.indices { append(bytes[index]) }
    }
}

internal import Courier
public import SecretVault
public import WatchwordCryptography
internal import WatchwordSystem

// The stored form, as `Sources/Vault/SecretVault/VaultFile.md` defines it.
extension EnrolledSecret {
    private static let version: UInt8 = 1

    /// The maximum size of a form without address and authorities: numbers, lengths, the
    /// credential's name, two secrets and two nonces.
    static let largestRest = 1 + 16 + 12 + Token.longest + 2 * (8 + Token.longest + 16)

    /// The bytes are not a form of this version.
    typealias Unreadable = FieldReader.Unreadable

    /// The bytes to store in the vault.
    func form() -> SecretBytes {
        let address = Array(server.address.text.utf8)
        let name = Array(credential.text.utf8)
        let secrets = current.size + (successor?.size ?? 8)
        let size =
            1 + 16 + 12 + address.count + server.authorities.count + name.count + secrets
            + EnrolledSecret.size(of: next)
        return SecretBytes(capacity: size) { output in
            output.append(EnrolledSecret.version)
            output.append(string: address.span)
            output.append(string: server.authorities.span)
            output.append(string: name.span)
            output.append(UInt64(clamping: changed), bytes: 8)
            output.append(generation, bytes: 8)
            current.write(to: &output)
            if let successor {
                successor.write(to: &output)
            } else {
                for _ in 0..<2 { output.append(0, bytes: 4) }
            }
            guard let next else { return }
            next.withBytes { output.append(string: $0) }
        }
    }

    private static func size(of next: SecretBytes?) -> Int {
        guard let next else { return 0 }
        return 4 + next.count
    }

    /// Parses the result of ``form()``; `nil` for anything else.
    init?(reading form: SecretBytes) {
        do throws(Unreadable) {
            self = try form.withBytes { bytes throws(Unreadable) in
                try EnrolledSecret(parsing: bytes)
            }
        } catch {
            return nil
        }
    }

    private init(parsing bytes: Span<UInt8>) throws(Unreadable) {
        var fields = FieldReader(.bigEndian)
        guard try fields.number(bytes, width: 1) == UInt64(EnrolledSecret.version) else {
            throw Unreadable()
        }
        guard let server = ServerAddress(try fields.text(bytes, limit: .max)) else {
            throw Unreadable()
        }
        let authorities = try fields.string(bytes, limit: .max).map { bytes[$0] }
        guard let credential = Token(try fields.text(bytes, limit: .max)),
            let changed = Int64(exactly: try fields.number(bytes, width: 8))
        else { throw Unreadable() }
        let generation = try fields.number(bytes, width: 8)
        guard generation < .max - 1, let current = try fields.holding(bytes) else {
            throw Unreadable()
        }
        let successor = try fields.holding(bytes)
        // A secret that has a successor has been presented, so it has a nonce.
        guard successor == nil || current.nonce != nil else { throw Unreadable() }
        var next: SecretBytes?
        if fields.position < bytes.count {
            let range = try fields.string(bytes, limit: .max)
            guard !range.isEmpty else { throw Unreadable() }
            next = SecretBytes(copying: bytes.extracting(range))
        }
        try fields.finish(bytes)
        self.init(
            server: TrustedServer(server, authorities: authorities), credential: credential,
            changed: changed, generation: generation, current: current, successor: successor,
            next: next)
    }
}

extension EnrolledSecret.StoredSecret {
    fileprivate var size: Int { 8 + secret.count + (nonce?.bytes.count ?? 0) }

    fileprivate func write(to output: inout OutputSpan<UInt8>) {
        secret.withBytes { output.append(string: $0) }
        let nonce = nonce?.bytes ?? []
        output.append(string: nonce.span)
    }
}

extension FieldReader {
    /// A secret with its nonce; `nil` if both fields are empty.
    fileprivate mutating func holding(
        _ bytes: Span<UInt8>
    ) throws(Unreadable) -> EnrolledSecret.StoredSecret? {
        let secretRange = try string(bytes, limit: .max)
        let nonceRange = try string(bytes, limit: .max)
        if secretRange.isEmpty, nonceRange.isEmpty { return nil }
        let secret = SecretBytes(copying: bytes.extracting(secretRange))
        guard Token.isToken(secret) else { throw Unreadable() }
        let nonce = RotationNonce(nonceRange.map { bytes[$0] })
        guard nonce != nil || nonceRange.isEmpty else { throw Unreadable() }
        return EnrolledSecret.StoredSecret(secret: secret, nonce: nonce)
    }
}

extension EnrolledSecret {
    /// Which of two stored states is newer.
    ///
    /// An enrolment advances in steps: the device presents a secret with a nonce, and then receives
    /// its successor. The copy that has advanced further is newer. If both have advanced equally
    /// far but differ, each copy has presented a secret with a different nonce.
    public static func order(of first: SecretBytes, _ second: SecretBytes) -> EnrolledOrder {
        if EnrolledKey.isForm(first), EnrolledKey.isForm(second) {
            return EnrolledKey.order(of: first, second)
        }
        guard let own = EnrolledSecret(reading: first), let other = EnrolledSecret(reading: second),
            own.server.address == other.server.address, own.credential == other.credential
        else { return .unrelated }
        let numbers = (EnrolledState.number(of: first), EnrolledState.number(of: second))
        if numbers.0 != numbers.1 { return numbers.0 < numbers.1 ? .second : .first }
        return own.isSame(as: other) ? .same : .forked
    }

    /// Marks the enrolment as stale: none of its secrets is presented until the device is enrolled
    /// again.
    ///
    /// - Parameter form: a stored state of the enrolment.
    public static func markStale(_ form: SecretBytes, in vault: UnlockedVault)
        throws(DeviceLoginError)
    {
        guard let state = EnrolledSecret(reading: form) else { throw .unreadable }
        let presented = PresentedSecret(
            enrolment: state.enrolmentDigest(), generation: .max,
            digest: [UInt8](repeating: 0, count: 32))
        try DeviceLoginError.vault(in: vault.record(presented))
    }

    private func isSame(as other: EnrolledSecret) -> Bool {
        guard current.isSame(as: other.current) else { return false }
        switch (successor, other.successor) {
        case (nil, nil): return true
        case (let own?, let theirs?): return own.isSame(as: theirs)
        default: return false
        }
    }
}

extension EnrolledSecret.StoredSecret {
    fileprivate func isSame(as other: Self) -> Bool {
        secret == other.secret && nonce == other.nonce
    }
}

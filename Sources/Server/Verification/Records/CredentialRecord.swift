/// A credential's row with its body decoded, for decisions.
package struct CredentialRecord: Sendable {
    package internal(set) var id: CredentialID
    package let subject: Subject
    package let kind: CredentialKind
    package let createdAt: UnixTime
    package var origin: Origin
    /// The stored version.
    ///
    /// The row made from this record has the next version.
    package var version: UInt64 = 0
    package var state: CredentialState
    package var keyID: KeyID?
    package var fingerprint: [UInt8]?
    package var lapsesAt: UnixTime?
    package var name: String
    /// The client that enrolled the credential; `nil` if there was none, or if an older version
    /// wrote the row.
    package var enroller: ClientID?
    /// The clients that may redeem the credential's logins; empty if the verifier is used without
    /// clients.
    var audience: [ClientID] = []
    package var confirmedAt: UnixTime?
    package var lastUsedAt: UnixTime?
    var endedAt: UnixTime?
    var endReason: Event.Reason?
    var throttle = Throttle()
    /// The devices whose codes are not delayed by the failures of strangers.
    var devices = KnownDevices()
    package var material: Material

    /// The data for checking codes, secrets and signatures.
    package enum Material: Sendable {
        case time(TOTPState)
        case counter(HOTPState)
        case recovery(RecoverySet)
        case secret(SecretChain)
        case pendingPasskey(PendingPasskey)
        case passkey(PasskeyState)
        case pendingDeviceKey(PendingDeviceKey)
        case deviceKey(DeviceKeyState)
        /// Not present yet, or deleted.
        case none
    }

    /// Whether the credential was not confirmed in time.
    package func isLapsed(at now: UnixTime) -> Bool {
        state == .pending && lapsesAt.map { $0 <= now } ?? false
    }

    /// Ends the credential and deletes its material, except for a confirmed device key: the key is
    /// public, and its holder needs it to learn that the credential has ended.
    ///
    /// The key of an unconfirmed credential can be enrolled again. An ended set of recovery codes
    /// can be replaced with a new set. The rows of both prove nothing, so they may be pruned later.
    package mutating func end(
        as state: CredentialState, because reason: Event.Reason, at now: UnixTime
    ) {
        lapsesAt = nil
        if confirmedAt == nil || kind == .recovery {
            fingerprint = nil
            lapsesAt = now.adding(
                milliseconds: confirmedAt == nil ? Policy.answerLifetime : Policy.endedSetLifetime)
        }
        self.state = state
        devices = KnownDevices()
        let keepsKey = kind == .key && confirmedAt != nil
        if !keepsKey {
            material = .none
            keyID = nil
        }
        endedAt = now
        endReason = reason
    }

    /// The changes to store after ``end(as:because:at:)``.
    ///
    /// They delete everything that could still be redeemed or read.
    package var changesAtEnd: [StoreChange] {
        [.updateCredential(row), .dropTickets(of: id), .endAnswers(of: id)]
    }

    /// Whether the credential's codes are one-time passwords.
    var isOneTimePassword: Bool { kind == .totp || kind == .hotp }

    /// Whether the credential's key has fewer than 128 bits, as only imported keys may have.
    var hasShortKey: Bool {
        switch material {
        case .time(let password): password.seed.isShort
        case .counter(let password): password.seed.isShort
        case .recovery, .secret, .pendingPasskey, .passkey, .pendingDeviceKey, .deviceKey, .none:
            false
        }
    }

    /// The facts about the credential that are not secret.
    ///
    /// - Parameter keys: the keys that open the sealed part of a passkey.
    func summary(at now: UnixTime, keys: KeyRing) throws(VerifierError) -> CredentialSummary {
        var remaining: Int?
        if case .recovery(let set) = material { remaining = set.remaining }
        var custody: SecretCustody?
        if case .secret(let chain) = material { custody = chain.custody }
        var passkey: PasskeySummary?
        if case .passkey(let state) = material {
            guard let keyID else { throw .damagedRow }
            guard let key = keys.version(keyID) else { throw .keyMissing(keyID) }
            passkey = state.summary(of: try state.open(for: place, under: key))
        }
        return CredentialSummary(
            id: id, subject: subject, kind: kind, state: isLapsed(at: now) ? .revoked : state,
            name: name, createdAt: createdAt, lapsesAt: state == .pending ? lapsesAt : nil,
            confirmedAt: confirmedAt,
            lastUsedAt: lastUsedAt, endedAt: endedAt, endReason: endReason, origin: origin,
            failures: throttle.failures,
            waitsUntil: throttle.waitsUntil.flatMap { $0 > now ? $0 : nil }, remaining: remaining,
            hasShortKey: hasShortKey, custody: custody, passkey: passkey)
    }
}

extension CredentialRecord {
    /// The next version of the row, with the record's values.
    package var row: CredentialRow {
        CredentialRow(
            id: id, subject: subject, kind: kind, state: state, version: version + 1,
            keyID: keyID, fingerprint: fingerprint, createdAt: createdAt, lapsesAt: lapsesAt,
            body: body)
    }

    /// A row that belongs to no subject, for dummy work.
    static let nobody: CredentialRow = {
        guard let id = CredentialID(bytes: [UInt8](repeating: 0, count: CredentialID.count)),
            let subject = Subject("nobody")
        else { preconditionFailure("the id and the subject are valid") }
        let start = UnixTime(seconds: 0)
        let digest = [UInt8](repeating: 0, count: 32)
        return CredentialRecord(
            id: id, subject: subject, kind: .secret, createdAt: start, origin: .unknown,
            state: .active, name: "", confirmedAt: start, lastUsedAt: start,
            material: .secret(SecretChain(digest: digest, at: start))
        ).row
    }()

    /// The body, encoded with ``ByteWriter``.
    ///
    /// Format (1, or 2 with the client that enrolled it); name, address and user agent of the
    /// enrolment; in format 2, the client; the number of clients that may
    /// redeem its logins, and their ids; the times of confirmation, last use and end, each
    /// optional; the reason for the end, optional; the number of failures; the last failure of a
    /// stranger, optional; the length of the wait; then the verifier's material: one byte for its
    /// kind, and its own fields. The row of a one-time password ends with the rest of its throttle
    /// and the known devices, which rows of earlier versions lack.
    private var body: [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt8(enroller == nil ? 1 : 2))
        writer.write(name)
        writer.write(origin.address)
        writer.write(origin.userAgent)
        if let enroller { writer.write(enroller.bytes) }
        writer.write(UInt8(audience.count))
        for client in audience { writer.write(client.bytes) }
        for time in [confirmedAt, lastUsedAt, endedAt] {
            writer.writeOptional(time) { $0.write($1) }
        }
        writer.writeOptional(endReason) { $0.write($1.rawValue) }
        throttle.write(into: &writer)
        switch material {
        case .none: writer.write(UInt8(0))
        case .time(let password):
            writer.write(UInt8(1))
            password.write(into: &writer)
        case .counter(let password):
            writer.write(UInt8(2))
            password.write(into: &writer)
        case .recovery(let set):
            writer.write(UInt8(3))
            set.write(into: &writer)
        case .secret(let chain):
            writer.write(UInt8(4))
            chain.write(into: &writer)
        case .pendingPasskey(let passkey):
            writer.write(UInt8(5))
            writer.write(false)
            passkey.write(into: &writer)
        case .passkey(let passkey):
            writer.write(UInt8(5))
            writer.write(true)
            passkey.write(into: &writer)
        case .deviceKey(let key):
            writer.write(UInt8(6))
            writer.write(true)
            key.write(into: &writer)
        case .pendingDeviceKey(let key):
            writer.write(UInt8(6))
            writer.write(false)
            key.write(into: &writer)
        }
        if isOneTimePassword {
            throttle.writeRest(into: &writer)
            devices.write(into: &writer)
        }
        return writer.bytes
    }

    /// Reads a stored row.
    ///
    /// - Throws: ``VerifierError/damagedRow``.
    package init(_ row: CredentialRow) throws(VerifierError) {
        var reader = ByteReader(row.body)
        let format = try reader.read(UInt8.self)
        guard (1...2).contains(format) else { throw .damagedRow }
        id = row.id
        subject = row.subject
        kind = row.kind
        state = row.state
        version = row.version
        keyID = row.keyID
        fingerprint = row.fingerprint
        createdAt = row.createdAt
        lapsesAt = row.lapsesAt
        name = try reader.readText()
        origin = Origin(address: try reader.readText(), userAgent: try reader.readText())
        if format == 2 {
            enroller = try reader.readID()
        }
        for _ in 0..<(try reader.read(UInt8.self)) {
            audience.append(try reader.readID())
        }
        confirmedAt = try reader.readOptionalTime()
        lastUsedAt = try reader.readOptionalTime()
        endedAt = try reader.readOptionalTime()
        endReason = try reader.readFlag() ? reader.readChoice() : nil
        throttle = try Throttle(from: &reader)
        // The kind is stored twice, so that a row whose kind was changed is refused.
        switch (try reader.read(UInt8.self), row.kind) {
        case (0, _): material = .none
        case (1, .totp): material = .time(try TOTPState(from: &reader))
        case (2, .hotp): material = .counter(try HOTPState(from: &reader))
        case (3, .recovery): material = .recovery(try RecoverySet(from: &reader))
        case (4, .secret): material = .secret(try SecretChain(from: &reader))
        case (5, .passkey):
            material =
                try reader.readFlag()
                ? .passkey(try PasskeyState(from: &reader))
                : .pendingPasskey(try PendingPasskey(from: &reader))
        case (6, .key):
            material =
                try reader.readFlag()
                ? .deviceKey(try DeviceKeyState(from: &reader))
                : .pendingDeviceKey(try PendingDeviceKey(from: &reader))
        default: throw .damagedRow
        }
        if isOneTimePassword, !reader.isAtEnd {
            try throttle.readRest(from: &reader)
            devices = try KnownDevices(from: &reader)
        }
        try reader.end()
    }
}

extension ByteReader {
    mutating func readOptionalTime() throws(VerifierError) -> UnixTime? {
        try readFlag() ? readTime() : nil
    }
}

/// The browsers and devices in which codes of a credential were accepted, and which present a token
/// as proof.
///
/// While strangers have to wait, a code is checked only with such a token. Each device has a
/// separate small number of failures, so that a stolen token permits few guesses.
struct KnownDevices: Hashable, Sendable {
    /// The devices, the most recently used device last.
    private var devices: [Device] = []

    /// The maximum number of devices; a further one replaces the least recently used one.
    static let maximumCount = 8
    /// The number of failures that a device has at once; after that, it has one per hour.
    static let maximumFailures = 3
    /// The time after the last failure, in milliseconds, when a device may fail again: an hour.
    private static let wait: Int64 = 3_600_000

    private struct Device: Hashable, Sendable {
        /// The keyed digest of the token.
        let digest: [UInt8]
        var failures = 0
        /// The time of the last failure.
        var failedAt = UnixTime(milliseconds: 0)
    }

    init() {}

    /// Whether the device is listed; its digest is keyed, so that the comparison reveals nothing.
    func contain(_ digest: [UInt8]) -> Bool { devices.contains { $0.digest == digest } }

    /// Whether the device may present a code while strangers have to wait.
    func trust(_ digest: [UInt8], at now: UnixTime) -> Bool {
        devices.contains { device in
            device.digest == digest
                && (device.failures < Self.maximumFailures
                    || now.milliseconds(since: device.failedAt) >= Self.wait)
        }
    }

    /// Counts a failure of a trusted device.
    mutating func fail(_ digest: [UInt8], at now: UnixTime) {
        guard let index = devices.firstIndex(where: { $0.digest == digest }) else { return }
        devices[index].failures = min(devices[index].failures + 1, Self.maximumFailures)
        devices[index].failedAt = now
    }

    /// Records the success of a listed device, and forgets its failures.
    mutating func succeed(_ digest: [UInt8]) {
        guard contain(digest) else { return }
        add(digest)
    }

    /// Lists the device as the most recently used one.
    mutating func add(_ digest: [UInt8]) {
        devices.removeAll { $0.digest == digest }
        devices = (devices + [Device(digest: digest)]).suffix(Self.maximumCount)
    }

    func write(into writer: inout ByteWriter) {
        writer.write(UInt8(devices.count))
        for device in devices {
            writer.write(device.digest)
            writer.write(UInt8(device.failures))
            writer.write(device.failedAt)
        }
    }

    init(from reader: inout ByteReader) throws(VerifierError) {
        let count = Int(try reader.read(UInt8.self))
        guard count <= Self.maximumCount else { throw .damagedRow }
        for _ in 0..<count {
            let digest = try reader.readBytes()
            let failures = Int(try reader.read(UInt8.self))
            guard failures <= Self.maximumFailures else { throw .damagedRow }
            let failedAt = try reader.readTime()
            devices.append(Device(digest: digest, failures: failures, failedAt: failedAt))
        }
    }
}

public import Verification

// Rows with arbitrary but distinguishable content.

/// `count` bytes derived from a value.
public func sampleBytes(_ value: Int, count: Int) -> [UInt8] {
    (0..<count).map { index in
        index < 8 ? UInt8(truncatingIfNeeded: value >> (8 * index)) : UInt8(index & 0xff)
    }
}

extension CredentialID {
    /// The id with this number.
    public static func sample(_ number: Int) -> CredentialID {
        guard let id = CredentialID(bytes: sampleBytes(number, count: count)) else {
            preconditionFailure("an id has 16 bytes")
        }
        return id
    }
}

extension KeyID {
    /// The key version with this number.
    public static func sample(_ number: UInt32) -> KeyID {
        guard let id = KeyID(number) else { preconditionFailure("key versions start at 1") }
        return id
    }
}

extension Subject {
    /// The subject with this name.
    public static func sample(_ name: String) -> Subject {
        guard let subject = Subject(name) else { preconditionFailure("invalid subject name") }
        return subject
    }
}

extension SubjectPrefix {
    /// The prefix with this text.
    public static func sample(_ text: String) -> SubjectPrefix {
        guard let prefix = SubjectPrefix(text) else { preconditionFailure("invalid prefix") }
        return prefix
    }
}

extension UnixTime {
    /// The time `second` seconds after the tests' epoch.
    public static func at(_ second: Int64) -> UnixTime { UnixTime(seconds: 1_700_000_000 + second) }
}

extension CredentialRow {
    /// The row with this number.
    public static func sample(
        _ number: Int, subject: String = "alice", kind: CredentialKind = .totp,
        state: CredentialState = .active, version: UInt64 = 1, key: UInt32? = 1,
        fingerprint: Int? = nil, createdAt: Int64 = 0, lapsesAt: Int64? = nil, body: Int = 0
    ) -> CredentialRow {
        CredentialRow(
            id: .sample(number), subject: .sample(subject), kind: kind, state: state,
            version: version, keyID: key.map { .sample($0) },
            fingerprint: fingerprint.map { sampleBytes($0, count: 32) },
            createdAt: .at(createdAt), lapsesAt: lapsesAt.map { .at($0) },
            body: sampleBytes(body, count: 200))
    }

    /// The row's next version with another body and everything else unchanged.
    public func next(body: [UInt8]) -> CredentialRow {
        var row = self
        row.version += 1
        row.body = body
        return row
    }
}

extension TicketRow {
    /// The ticket with this number.
    public static func sample(
        _ number: Int, credential: Int = 1, expiresAt: Int64 = 60
    ) -> TicketRow {
        guard let verification = VerificationID(bytes: sampleBytes(number, count: 16)) else {
            preconditionFailure("an id has 16 bytes")
        }
        return TicketRow(
            digest: sampleBytes(number, count: 32),
            purpose: number.isMultiple(of: 2) ? .login : .enrolment,
            credential: .sample(credential), subject: .sample("alice"),
            verification: verification, createdAt: .at(0), expiresAt: .at(expiresAt))
    }
}

extension ChallengeRow {
    /// The challenge with this number.
    public static func sample(
        _ number: Int, purpose: Purpose = .assertion, subject: String? = "alice",
        credential: Int? = 1, body: [UInt8]? = nil, expiresAt: Int64 = 60
    ) -> ChallengeRow {
        ChallengeRow(
            digest: sampleBytes(number, count: 32), purpose: purpose,
            subject: subject.map { .sample($0) }, credential: credential.map { .sample($0) },
            body: body ?? sampleBytes(number, count: 100), createdAt: .at(0),
            expiresAt: .at(expiresAt))
    }
}

extension AnswerRow {
    /// The answer with this number.
    public static func sample(
        _ number: Int, credential: Int? = nil, key: UInt32? = 1, expiresAt: Int64 = 60
    ) -> AnswerRow {
        AnswerRow(
            key: sampleBytes(number, count: 32), request: sampleBytes(-number, count: 32),
            credential: credential.map { .sample($0) },
            sealed: key.map { Sealed(sampleBytes(number, count: 300), under: .sample($0)) },
            expiresAt: .at(expiresAt))
    }
}

extension ClientRow {
    /// The client with this number.
    public static func sample(
        _ number: Int, version: UInt64 = 1, digest: Int? = nil, name: String? = nil,
        scopes: [String] = ["enrol", "verify"], revokedAt: Int64? = nil, subjects: String? = nil
    ) -> ClientRow {
        ClientRow(
            id: sampleBytes(number, count: 16), version: version,
            digest: sampleBytes(digest ?? number, count: 32), name: name ?? "shop \(number)",
            scopes: scopes, createdAt: .at(Int64(number)), revokedAt: revokedAt.map { .at($0) },
            subjects: subjects.map { .sample($0) })
    }
}

extension Event {
    /// The event with this number as its value.
    public static func sample(_ number: Int, at second: Int64 = 0) -> Event {
        Event(
            .accepted, time: .at(second), subject: .sample("alice"), credential: .sample(number),
            number: Int64(number))
    }
}

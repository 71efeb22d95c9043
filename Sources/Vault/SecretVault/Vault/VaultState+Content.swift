internal import OneTimePassword
internal import WatchwordCryptography
internal import WatchwordSystem

extension EntryTraits {
    var algorithm: HashAlgorithm? {
        switch self {
        case .totp(let algorithm, _, _), .hotp(let algorithm, _): algorithm
        case .secret, .enrolled, .uncomputed: nil
        }
    }

    var style: CodeStyle? {
        switch self {
        case .totp(_, let style, _), .hotp(_, let style): style
        case .secret, .enrolled, .uncomputed: nil
        }
    }

    var timeStep: TimeStep? {
        switch self {
        case .totp(_, _, let step): step
        case .hotp, .secret, .enrolled, .uncomputed: nil
        }
    }
}

extension VaultState.Record {
    /// Opens the record, and combines it with its manifest entry.
    ///
    /// - Throws: ``VaultError/boundElsewhere`` or ``VaultError/deviceKey(_:)`` if it is bound to a
    ///   device whose key is not known.
    func content(with key: VaultKey) throws(VaultError) -> EntryContent {
        let payload = try payload(with: key)
        let properties = listed.properties
        let content = EntryContent(
            issuer: properties.issuer, account: properties.account, properties.traits, payload)
        guard let content else { throw .damaged(.content(line.id)) }
        return content
    }

    /// The counter for the next code; `nil` if the record has no counter, or was wiped.
    func counter(with key: VaultKey) throws(VaultError) -> UInt64? {
        guard case .hotp = listed.properties.traits, case .sealed = body else { return nil }
        if let binding = listed.binding { return binding.state }
        return try opened(with: key).state(of: .hotp)
    }

    /// The address at the start of an enrolled entry's content; `nil` if the record has no address,
    /// was wiped, or is bound to a device whose key is not known.
    func server(with key: VaultKey) throws(VaultError) -> String? {
        guard case .enrolled = listed.properties.traits, case .sealed = body,
            case .bytes(let value) = try opened(with: key)
        else { return nil }
        return ifPossible(
            try value.withBytes { bytes throws(FieldReader.Unreadable) in
                var fields = FieldReader(.bigEndian)
                _ = try fields.byte(bytes)
                return try fields.text(bytes, limit: VaultState.Record.longestServer)
            })
    }

    /// The maximum length of a server's address in bytes.
    private static let longestServer = 512
}

extension EntryContent {
    /// Combines an entry's properties with its secret content; `nil` if the two do not match or are
    /// not valid.
    init?(issuer: String, account: String, _ traits: EntryTraits, _ payload: RecordPayload) {
        func credential(
            _ key: SecretBytes, _ algorithm: HashAlgorithm, _ style: CodeStyle,
            _ movingFactor: MovingFactor, _ parameters: [Credential.Parameter]
        ) -> EntryContent? {
            ifPossible(
                try Credential(
                    issuer: issuer, account: account, key: key, algorithm: algorithm,
                    style: style, movingFactor: movingFactor, otherParameters: parameters)
            ).map(EntryContent.oneTimePassword)
        }
        let content: EntryContent?
        switch (traits, payload) {
        case (.totp(let algorithm, let style, let step), .totp(let key, let parameters)):
            content = credential(key, algorithm, style, .time(step), parameters)
        case (.hotp(let algorithm, let style), .hotp(let counter, let key, let parameters)):
            content = credential(key, algorithm, style, .counter(counter), parameters)
        case (.secret, .bytes(let value)):
            content = .plainSecret(issuer: issuer, account: account, value: value)
        case (.enrolled, .bytes(let value)):
            content = .enrolledSecret(issuer: issuer, account: account, value: value)
        case (.uncomputed(let kind), .uncomputed(let secret, let pin)):
            content = .uncomputed(
                UncomputedCode(
                    kind: kind, issuer: issuer, account: account, secret: secret, pin: pin))
        default:
            content = nil
        }
        guard let content else { return nil }
        self = content
    }
}

extension VaultState {
    /// One record: its unencrypted part, its manifest entry, and its sealed secret.
    ///
    /// The entry and the secret agree, unless the record was wiped without the vault key since the
    /// last save with it. The next save with the key updates the entry.
    struct Record {
        let line: RecordLine
        var listed: ManifestEntry
        let body: RecordBody
    }
}

extension VaultState.Record {
    func verify() throws(VaultError) {
        guard listed.id == line.id, listed.revision == line.revision else {
            throw .damaged(.manifest)
        }
        switch (body, listed.secret) {
        case (.sealed(let box), .sealed(let expected, _, _)):
            guard sha256(box.span) == expected else { throw .damaged(.record(line.id)) }
        case (.sealed, .wiped): throw .damaged(.recordRestored(line.id))
        case (.tombstone(let tombstone), .wiped(let expected)):
            guard tombstone == expected else { throw .damaged(.record(line.id)) }
        case (.tombstone, .sealed): break
        }
    }

    /// Whether the record still has its secret.
    var isSealed: Bool { if case .sealed = body { true } else { false } }

    /// Whether the record was wiped without the vault key and is not listed as wiped in the
    /// manifest.
    var isWipedWithoutKey: Bool {
        if case (.tombstone, .sealed) = (body, listed.secret) { true } else { false }
    }

    /// The contribution of this record, 0 or 1, to the number of records that were wiped without
    /// the vault key.
    var changes: UInt64 { isWipedWithoutKey ? 1 : 0 }

    /// This record with its secret from `other`, if it was wiped without the vault key and `other`
    /// has exactly the lost secret; otherwise `nil`.
    func restored(from other: VaultState.Record?) -> VaultState.Record? {
        guard isWipedWithoutKey, let other, case .sealed(let box) = other.body,
            case .sealed(let expected, _, _) = listed.secret, line == other.line,
            sha256(box.span) == expected
        else { return nil }
        return VaultState.Record(line: line, listed: listed, body: other.body)
    }

    /// A copy with the tombstone, if any, in its manifest entry.
    var settled: VaultState.Record {
        guard case .tombstone(let tombstone) = body else { return self }
        var settled = self
        settled.listed.secret = .wiped(tombstone)
        return settled
    }

    /// The device to which the record is bound, even if the record was wiped without the vault key.
    var device: DeviceID? { listed.binding?.device }

    /// Seals a secret as the record of `line`.
    ///
    /// - Parameter device: the device to bind it to, whose key must be known; `nil` for none. A
    ///   closed secret keeps its binding, and can be sealed only for the same entry and settings.
    static func sealing(
        _ payload: RecordPayload, as line: RecordLine, _ properties: EntryProperties,
        to device: DeviceID?, under key: VaultKey
    ) throws(VaultError) -> VaultState.Record {
        var closed: ClosedSecret?
        if case .closed(let carried) = payload {
            let data = carried.binding.associatedData(
                of: line, properties.traits, in: key.vaultID)
            guard data == carried.associatedData else {
                throw key.devices.refusal(of: carried.binding.device)
            }
            closed = carried
        } else if let device {
            closed = try ClosedSecret(
                sealing: payload, as: line, properties.traits, under: key.device(device),
                in: key.vaultID)
        }
        let content = closed.map(RecordPayload.closed) ?? payload
        let box = try SealedBox.seal(
            content.sealedForm(), under: key.derived(for: .record, of: line.id),
            associatedData: VaultLines.vault(key.vaultID) + line.text)
        let text = Base64.encode(box.span)
        let fingerprint =
            if let closed { closed.fingerprint } else { try key.fingerprint(of: payload) }
        let secret = ListedSecret.sealed(
            digest: sha256(text.span), fingerprint: fingerprint, binding: closed?.binding)
        let listed = ManifestEntry(
            id: line.id, revision: line.revision, secret: secret, properties: properties)
        return VaultState.Record(line: line, listed: listed, body: .sealed(text[...]))
    }

    /// Opens the record's outer box; a bound record's content is ``RecordPayload/closed(_:)``, even
    /// on its own device.
    func carried(with key: VaultKey) throws(VaultError) -> RecordPayload {
        guard case .sealed(let text) = body else { throw isWipedWithoutKey ? .vanished : .wiped }
        let box = try replacingErrors(
            of: Base64.decode(text.span), with: VaultError.damaged(.record(line.id)))
        let plaintext = try SealedBox.open(
            box, under: key.derived(for: .record, of: line.id),
            associatedData: VaultLines.vault(key.vaultID) + line.text,
            or: .damaged(.record(line.id)))
        let traits = listed.properties.traits
        guard case .sealed(_, let fingerprint, let binding?) = listed.secret else {
            return try replacingErrors(
                of: RecordPayload(reading: plaintext, kind: traits.kind),
                with: VaultError.damaged(.content(line.id)))
        }
        let inner = try replacingErrors(
            of: RecordPayload.innerBox(in: plaintext), with: VaultError.damaged(.content(line.id)))
        let closed = ClosedSecret(
            inner, binding, fingerprint: fingerprint,
            associatedData: binding.associatedData(of: line, traits, in: key.vaultID))
        guard let closed else { throw .damaged(.content(line.id)) }
        return .closed(closed)
    }

    /// Opens the record, unless it is bound to a device whose key is not known: in that case, its
    /// content is ``RecordPayload/closed(_:)``.
    func opened(with key: VaultKey) throws(VaultError) -> RecordPayload {
        let payload = try carried(with: key)
        guard case .closed(let closed) = payload,
            let device = try key.devices.key(closed.binding.device)
        else { return payload }
        return try closed.opened(
            of: line.id, listed.properties.traits.kind, with: device, in: key.vaultID)
    }

    /// Opens the record.
    ///
    /// - Throws: the errors of ``content(with:)``.
    func payload(with key: VaultKey) throws(VaultError) -> RecordPayload {
        let payload = try opened(with: key)
        guard case .closed(let closed) = payload else { return payload }
        throw key.devices.refusal(of: closed.binding.device)
    }
}

internal import WatchwordCryptography

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
        case (.sealed(let box), .sealed(let expected, _)):
            guard sha256(box.span) == expected else { throw .damaged(.record(line.id)) }
        case (.sealed, .wiped): throw .damaged(.recordRestored(line.id))
        case (.tombstone(let tombstone), .wiped(let expected)):
            guard tombstone == expected else { throw .damaged(.record(line.id)) }
        case (.tombstone, .sealed): break
        }
    }

    /// Whether it has its secret.
    var isSealed: Bool { if case .sealed = body { true } else { false } }

    /// Whether it was wiped without the vault key, and is not listed as wiped.
    var isWipedWithoutKey: Bool {
        if case (.tombstone, .sealed) = (body, listed.secret) { true } else { false }
    }

    /// How much it adds to the number of records that were wiped without the vault key.
    var changes: UInt64 { isWipedWithoutKey ? 1 : 0 }

    /// This record with its secret from `other`, if it was wiped without the vault key and `other`
    /// has exactly the secret that it had; otherwise `nil`.
    func restored(from other: VaultState.Record?) -> VaultState.Record? {
        guard isWipedWithoutKey, let other, case .sealed(let box) = other.body,
            case .sealed(let expected, _) = listed.secret, line == other.line,
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

    /// Seals a secret as the record of `line`.
    static func sealing(
        _ payload: RecordPayload, as line: RecordLine, _ properties: EntryProperties,
        under key: VaultKey
    ) throws(VaultError) -> VaultState.Record {
        let box = try SealedBox.seal(
            payload.sealedForm(), under: key.derived(for: .record, of: line.id),
            associatedData: VaultLines.vault(key.vaultID) + line.text)
        let text = Base64.encode(box.span)
        let listed = ManifestEntry(
            id: line.id, revision: line.revision,
            secret: .sealed(
                digest: sha256(text.span), fingerprint: try key.fingerprint(of: payload)),
            properties: properties)
        return VaultState.Record(line: line, listed: listed, body: .sealed(text[...]))
    }

    /// Opens the record's box.
    func opened(with key: VaultKey) throws(VaultError) -> RecordPayload {
        guard case .sealed(let text) = body else { throw isWipedWithoutKey ? .vanished : .wiped }
        let box: [UInt8]
        do { box = try Base64.decode(text.span) } catch { throw .damaged(.record(line.id)) }
        let plaintext = try SealedBox.open(
            box, under: key.derived(for: .record, of: line.id),
            associatedData: VaultLines.vault(key.vaultID) + line.text,
            or: .damaged(.record(line.id)))
        do {
            return try RecordPayload(reading: plaintext, kind: listed.properties.traits.kind)
        } catch {
            throw .damaged(.content(line.id))
        }
    }
}

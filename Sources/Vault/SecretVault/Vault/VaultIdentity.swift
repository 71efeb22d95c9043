package import WatchwordSystem

/// Identifies one state of a vault file.
package struct VaultIdentity: Hashable, Sendable {
    private let record: GenerationRecord

    init(_ document: VaultDocument) { record = GenerationRecord(of: document) }

    var vaultID: [UInt8] { record.vaultID }

    fileprivate init(_ record: GenerationRecord) { self.record = record }

    /// The generation.
    package var generation: UInt64 { record.generation }

    /// Whether the two are states of the same vault.
    package func isSameVault(as other: VaultIdentity) -> Bool {
        record.vaultID == other.record.vaultID
    }

    /// Whether this is an earlier state of the same vault than `other`.
    package func isOlder(than other: VaultIdentity) -> Bool {
        isSameVault(as: other)
            && (record.generation, record.changes)
                < (other.record.generation, other.record.changes)
    }
}

extension VaultIdentity: Transferable {
    package func write(to output: FrameWriter) { output.append(record.text) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let text = try fields.data(bytes, limit: GenerationRecord.sizeLimit)
        guard let record = GenerationRecord(reading: text) else { throw Unreadable() }
        self.init(record)
    }
}

extension Vault {
    /// The state of the vault in `file`.
    ///
    /// - Throws: the errors of a file that is not a complete vault.
    package static func identity(of file: [UInt8]) throws(VaultError) -> VaultIdentity {
        VaultIdentity(try VaultDocument(parsing: file))
    }

    /// The state of the vault at `path`.
    package static func identity(at path: String) throws(VaultError) -> VaultIdentity {
        VaultIdentity(try VaultDocument(parsing: VaultLocation(path).read()))
    }
}

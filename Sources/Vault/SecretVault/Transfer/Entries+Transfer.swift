internal import OneTimePassword
internal import WatchwordCryptography
package import WatchwordSystem

extension EntrySummary: Transferable {
    package func write(to output: FrameWriter) {
        output.append(id, accessControl, tombstone, hasVanished, binding)
        output.append(upTo: properties.room) { properties.write(to: &$0) }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self.init(
            id: try fields.value(bytes), accessControl: try fields.value(bytes),
            tombstone: try fields.value(bytes), hasVanished: try fields.value(bytes),
            binding: try fields.value(bytes),
            properties: try EntryProperties(reading: &fields, in: bytes, formerSave: nil))
    }
}

extension RecordID: Transferable {
    package func write(to output: FrameWriter) {
        output.append(upTo: RecordID.count) { $0.append(copying: bytes.span) }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self.init(bytes.extracting(try fields.take(RecordID.count, of: bytes)))
    }
}

extension DeviceID: Transferable {
    package func write(to output: FrameWriter) {
        output.append(upTo: DeviceID.count) { $0.append(copying: bytes.span) }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self.init(bytes.extracting(try fields.take(DeviceID.count, of: bytes)))
    }
}

extension DeviceBinding: Transferable {}

extension EntryBinding: Transferable {
    package func write(to output: FrameWriter) {
        output.append(device, binding, name, state, isHere)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension BindingChoice: Transferable {
    package func write(to output: FrameWriter) { output.append(binding, deviceName, tpm) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

// Used when a vault is moved: the key opens nothing without the vault.
extension DeviceKey: Transferable {
    package func write(to output: FrameWriter) { output.append(id, name, binding, secret) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension EntryName: Transferable {
    package func write(to output: FrameWriter) { output.append(issuer, account) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init(issuer:account:), from: bytes)
    }
}

// The same word as in the vault file.
extension Tombstone: Transferable {
    package func write(to output: FrameWriter) {
        output.append(upTo: Tombstone.room) { write(to: &$0) }
    }
}

extension Tombstone.Reason: Transferable {}
extension EntryKind: Transferable {}

// The parts are encoded as in the vault file.

extension EntryContent: Transferable {
    package func write(to output: FrameWriter) {
        let (traits, payload) = (traits, payload)
        output.append(issuer, account)
        output.append(upTo: EntryTraits.room) { traits.write(to: &$0) }
        output.append(UInt32(payload.contentSize))
        output.append(upTo: payload.contentSize) { payload.write(to: &$0) }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let name: EntryName = try fields.value(bytes)
        let traits = try EntryTraits(reading: &fields, in: bytes)
        let range = try fields.string(bytes, limit: TransferLimits.string)
        let payload = try RecordPayload(
            content: bytes.extracting(range), kind: traits.kind, limit: TransferLimits.string,
            mostParameters: TransferLimits.parts)
        let content = EntryContent(issuer: name.issuer, account: name.account, traits, payload)
        guard let content else { throw Unreadable() }
        self = content
    }
}

extension EntryDetails: Transferable {
    package func write(to output: FrameWriter) {
        output.append(upTo: room) { write(to: &$0) }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        try self.init(
            reading: &fields, in: bytes, limit: TransferLimits.string,
            mostTags: TransferLimits.parts)
    }
}

extension TransferLimits {
    /// The maximum number of small parts of one entry, such as tags: each part takes more memory
    /// than its encoded size.
    package static let parts = 1 << 10
    /// The maximum number of entries that one edit adds: as many as a vault can have.
    package static let entries = VaultLimits.entries
}

extension AccessControl: Transferable {
    package func write(to output: FrameWriter) { output.append(presence, onFailure, reuse) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let presence: Presence = try fields.value(bytes)
        let onFailure: OnFailure = try fields.value(bytes)
        let reuse: ReuseTime = try fields.value(bytes)
        guard presence.isPerUse || reuse == .none else { throw Unreadable() }
        self.init(presence: presence, onFailure: onFailure, reuse: reuse)
    }
}

extension AccessControl.Presence: Transferable {
    package func write(to output: FrameWriter) { output.append(word) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let word: String = try fields.value(bytes)
        guard let presence = Self(where: { $0 == word }) else { throw Unreadable() }
        self = presence
    }
}

// The number of failures that wipe the entry; 0 if the entry is not set to be wiped.
extension AccessControl.OnFailure: Transferable {
    package func write(to output: FrameWriter) {
        switch self {
        case .lockOut: output.append(0 as UInt8)
        case .wipe(let count): output.append(UInt8(count.value))
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let number = Int(try fields.byte(bytes))
        guard number > 0 else {
            self = .lockOut
            return
        }
        guard let count = FailureCount(number) else { throw Unreadable() }
        self = .wipe(after: count)
    }
}

extension ReuseTime: Transferable {
    package func write(to output: FrameWriter) { output.append(UInt16(seconds)) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make({ (seconds: UInt16) in Self(Int(seconds)) }, from: bytes)
    }
}

extension AccessControlChange: Transferable {
    package func write(to output: FrameWriter) { output.append(presence, onFailure, reuse) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

/// An entry in a list that another process sends, with the counter for its next code.
package struct ListedEntry: Hashable, Sendable {
    package let summary: EntrySummary
    /// `nil` for an entry that has no counter, was wiped or is damaged.
    package let counter: UInt64?

    package init(_ summary: EntrySummary, counter: UInt64?) {
        self.summary = summary
        self.counter = counter
    }
}

extension ListedEntry: Transferable {
    package func write(to output: FrameWriter) { output.append(summary, counter) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension UnlockedVault {
    /// The entries with their counters; a damaged entry has no counter here; `check` reports the
    /// damage.
    ///
    /// - Parameter isIncluded: whether an entry is listed.
    package func listedEntries(
        where isIncluded: (EntrySummary) -> Bool = { _ in true }
    ) -> [ListedEntry] {
        var listed: [ListedEntry] = []
        for entry in entries where isIncluded(entry) {
            listed.append(ListedEntry(entry, counter: ifPossible(try counter(of: entry.id)) ?? nil))
        }
        return listed
    }
}

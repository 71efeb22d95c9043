package import WatchwordSystem

extension VaultPart: Transferable {
    /// The first byte, which identifies the part.
    enum Kind: UInt8, CaseIterable, Transferable {
        case checksum, line, header, slot, manifest, changes, record, content, recordRemoved,
            recordRestored
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .checksum: output.append(Kind.checksum)
        case .line(let number): output.append(Kind.line, number)
        case .header: output.append(Kind.header)
        case .slot(let number): output.append(Kind.slot, number)
        case .manifest: output.append(Kind.manifest)
        case .changes: output.append(Kind.changes)
        case .record(let id): output.append(Kind.record, id)
        case .content(let id): output.append(Kind.content, id)
        case .recordRemoved(let id): output.append(Kind.recordRemoved, id)
        case .recordRestored(let id): output.append(Kind.recordRestored, id)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .checksum: .checksum
            case .line: try fields.make(Self.line, from: bytes)
            case .header: .header
            case .slot: try fields.make(Self.slot, from: bytes)
            case .manifest: .manifest
            case .changes: .changes
            case .record: try fields.make(Self.record, from: bytes)
            case .content: try fields.make(Self.content, from: bytes)
            case .recordRemoved: try fields.make(Self.recordRemoved, from: bytes)
            case .recordRestored: try fields.make(Self.recordRestored, from: bytes)
            }
    }
}

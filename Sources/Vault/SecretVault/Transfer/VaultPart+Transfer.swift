package import WatchwordSystem

extension VaultPart: Transferable {
    /// The first byte, which identifies the part.
    enum Kind: UInt8, CaseIterable {
        case checksum, line, header, slot, manifest, changes, record, content, recordRemoved,
            recordRestored
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .checksum: output.append(choice: Kind.checksum)
        case .line(let number):
            output.append(choice: Kind.line)
            output.append(signed: Int64(number))
        case .header: output.append(choice: Kind.header)
        case .slot(let number):
            output.append(choice: Kind.slot)
            output.append(signed: Int64(number))
        case .manifest: output.append(choice: Kind.manifest)
        case .changes: output.append(choice: Kind.changes)
        case .record(let id):
            output.append(choice: Kind.record)
            output.append(id)
        case .content(let id):
            output.append(choice: Kind.content)
            output.append(id)
        case .recordRemoved(let id):
            output.append(choice: Kind.recordRemoved)
            output.append(id)
        case .recordRestored(let id):
            output.append(choice: Kind.recordRestored)
            output.append(id)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .checksum: self = .checksum
        case .line: self = .line(try fields.integer(bytes))
        case .header: self = .header
        case .slot: self = .slot(try fields.integer(bytes))
        case .manifest: self = .manifest
        case .changes: self = .changes
        case .record: self = .record(try fields.value(bytes))
        case .content: self = .content(try fields.value(bytes))
        case .recordRemoved: self = .recordRemoved(try fields.value(bytes))
        case .recordRestored: self = .recordRestored(try fields.value(bytes))
        }
    }
}

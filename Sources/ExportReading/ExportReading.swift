public import Cryptography
public import Interchange
internal import JSONText

/// The maximum length of an export in bytes.
public let maximumExportCount = 128 << 20

/// Reads another app's export, whose format is recognised by its content.
///
/// - Parameter password: The export's password, if the user gave one.
/// - Throws: ``ExportError``.
public func readExport(
    _ file: SecretBytes, password: SecretBytes?
) throws(ExportError) -> Export {
    guard file.count <= maximumExportCount else {
        throw .overLimit(
            nil, .fileSize, found: UInt64(file.count), allowed: UInt64(maximumExportCount))
    }
    let content = try readRows(file, anyFormOf: password)
    guard !content.rows.isEmpty else { throw .noEntries(content.format) }
    var entries: [ExportedEntry] = []
    var refusals: [(row: Int, reason: ExportRowRefusal)] = []
    for (index, row) in content.rows.enumerated() {
        do { entries.append(try row.entry()) } catch {
            let reason = row.state == .deleted ? .unreadableDeleted : error
            refusals.append((row: index + 1, reason: reason))
        }
    }
    return Export(
        format: content.format, entries: entries, refusals: refusals,
        iconCount: content.iconCount, missingPictures: content.missingPictures,
        emergencyCodeCount: content.emergencyCodeCount)
}

/// Reads the rows with the reader of the format that the content has.
func readRows(_ file: SecretBytes, password: SecretBytes?) throws(ExportError) -> ExportRows {
    if let signature = file.withBytes(FileSignature.init) {
        return try signature.read(file, password: password)
    }
    let text = file.withoutByteOrderMark
    switch text.withBytes({ $0.firstNonblank }) {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
        let document = try readExportJSON(text, nil)
        guard let shape = JSONShape(document) else { throw .unknownFormat }
        return try shape.read(document, password: password)
    case UInt8(ascii: "<"): return try MarkupReading.read(text, password: password)
    default: break
    }
    if let kind = text.withBytes(TextKind.init) { return try kind.read(text, password: password) }
    guard !text.withBytes({ $0.isText }) else { throw .unknownFormat }
    return try UnmarkedCiphertext.read(file, password: password)
}

extension SecretBytes {
    /// The text without a UTF-8 byte order mark.
    var withoutByteOrderMark: SecretBytes {
        let count = withBytes(TextLines.byteOrderMarkCount)
        return count == 0 ? self : part(count..<self.count)
    }
}

extension Span<UInt8> {
    /// The first byte that is not white space.
    fileprivate var firstNonblank: UInt8? {
        for index in indices where self[index] > 0x20 { return self[index] }
        return nil
    }

    /// Whether it is UTF-8 without control characters except white space.
    fileprivate var isText: Bool {
        var scalars = TextScalars()
        while let element = scalars.next(in: self) {
            guard case .scalar(let scalar) = element else { return false }
            guard scalar.value >= 0x20 || (0x09...0x0D).contains(scalar.value) else { return false }
        }
        return true
    }
}

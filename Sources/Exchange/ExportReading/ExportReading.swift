public import Exports
internal import JSONReading
internal import WatchwordCoding
public import WatchwordCryptography

/// Reads another app's export, whose format is recognised by its content.
///
/// - Parameters:
///   - password: The export's password, if the user gave one.
///   - limits: The limits on the file's size and on the memory and time to read it.
/// - Throws: ``ExportError``.
public func readExport(
    _ source: ExportSource, password: SecretBytes?, limits: ExportLimits = .standard
) throws(ExportError) -> Export {
    // The limits are a task-local value because every format's reader uses them.
    let result = ExportLimits.$current.withValue(limits) { () -> Result<Export, ExportError> in
        do throws(ExportError) {
            return .success(try readWithinLimits(source, password))
        } catch {
            return .failure(error)
        }
    }
    return try result.get()
}

/// Reads a file that needs no other file.
public func readExport(
    _ file: SecretBytes, password: SecretBytes?
) throws(ExportError) -> Export {
    try readExport(ExportSource(file), password: password)
}

extension ExportLimits {
    /// The limits of the file that is being read.
    @TaskLocal static var current = standard
}

private func readWithinLimits(
    _ source: ExportSource, _ password: SecretBytes?
) throws(ExportError) -> Export {
    let limit = ExportLimits.current.bytes
    guard source.file.count <= limit else {
        throw .overLimit(
            nil, .fileSize, found: UInt64(source.file.count), allowed: UInt64(limit))
    }
    let content = try readRows(source, anyFormOf: password)
    guard !content.rows.isEmpty else { throw .noEntries(content.format) }
    var entries: [ExportedEntry] = []
    var refusals: [ExportRefusal] = []
    for row in content.rows {
        do { entries.append(try row.entry()) } catch { refusals.append(row.refused(error)) }
    }
    var export = Export(
        format: content.format, entries: entries, refusals: refusals, iconCount: content.iconCount)
    export.missingPictures = content.missingPictures
    export.emergencyCodeCount = content.emergencyCodeCount
    return export
}

/// Reads the rows with the reader of the format that the content has.
///
/// - Parameter isMember: Whether the file is the only member of an archive.
func readRows(
    _ source: ExportSource, password: SecretBytes?, isMember: Bool = false
) throws(ExportError) -> ExportRows {
    let file = source.file
    if let signature = file.withBytes(FileSignature.init) {
        // Archives are not nested.
        guard !isMember || signature != .zip else { throw .unknownFormat }
        return try signature.read(source, password: password)
    }
    let text = file.withoutByteOrderMark
    switch text.withBytes({ $0.firstNonblank }) {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
        let document = try readExportJSON(text, nil)
        guard let format = JSONFormat(document) else { throw .unknownFormat }
        return try format.read(document, password)
    case UInt8(ascii: "<"): return try MarkupReading.read(text, password: password)
    default: break
    }
    if let kind = text.withBytes(TextKind.init) {
        return try kind.read(text, source, password: password)
    }
    guard !text.withBytes({ $0.isText }) else {
        throw text.withBytes(CSVFormat.isTable) ? .unreadable(nil, .unknownColumns) : .unknownFormat
    }
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

    /// Whether the text is UTF-8 without control characters except white space.
    var isText: Bool {
        var scalars = TextScalars()
        while let element = scalars.next(in: self) {
            guard case .scalar(let scalar) = element else { return false }
            guard scalar.value >= 0x20 || (0x09...0x0D).contains(scalar.value) else { return false }
        }
        return true
    }
}

// The standard library's normalisation has no public interface. Foundation's would load megabytes
// of tables into the confined process.
@_spi(_Unicode) internal import Swift

/// Reads the rows with the password as given, and if it is wrong, with its composed form.
///
/// Systems encode typed characters in different forms: "ä" is one code point or two.
func readRows(
    _ source: ExportSource, anyFormOf password: SecretBytes?
) throws(ExportError) -> ExportRows {
    do { return try readRows(source, password: password) } catch {
        guard case .wrongPassword = error, let password, let composed = password.composed else {
            throw error
        }
        do { return try readRows(source, password: composed) } catch .wrongPassword {
            throw error
        }
    }
}

extension SecretBytes {
    /// The text in normalisation form C, or `nil` if that is the same text.
    var composed: SecretBytes? {
        // Normalisation needs a `String`, a copy that is not wiped.
        guard !isASCII, let text = decodedText() else { return nil }
        var bytes: [UInt8] = []
        for scalar in text._nfc { bytes += Array(String(scalar).utf8) }
        let composed = SecretBytes(copying: bytes.span)
        return composed == self ? nil : composed
    }
}

/// Loads what reading an export needs from the system, before the process gives up access to files.
///
/// If a library cannot be prepared, only its formats cannot be read. Messages that libraries print
/// to standard error are discarded from then on.
///
/// - Returns: Whether every library is ready.
@discardableResult public func prepareExportReading() -> Bool {
    prepareJSONReading()
    let areReady = [
        isReady {
            try prepareConfinedCryptography()
            try prepareExportCryptography()
            return true
        },
        isReady { try prepareZipReading() }, isReady { try prepareXMLReading() },
        isReady { prepareSQLiteReading() }, isReady { try prepareOpenPGPReading() },
    ]
    return areReady.allSatisfy { $0 }
}

private func isReady(_ prepare: () throws -> Bool) -> Bool {
    do { return try prepare() } catch { return false }
}

internal import WatchwordSystem

/// A reader's answer about an export, as encoded in a frame.
///
/// A byte for the verdict. After `export`: the format (1 byte), the count of icons, the entries, the
/// refused rows (row, line, issuer, account, then 1 byte for the reason), the missing pictures and
/// the count of emergency codes. After `refused`: an ``ExportError``. A list is preceded by its
/// count; counts, rows and lines have 4 bytes, and a line of 0 stands for none.
public enum ExportAnswer {
    /// The file is an export.
    case export(Export)
    /// The file is not an export, or could not be read.
    case refused(ExportError)

    private enum Verdict: UInt8 {
        case export, refused
    }

    /// Parses a frame; `nil` if it violates the protocol.
    public init?(parsing bytes: Span<UInt8>) {
        do {
            var fields = FieldReader(.littleEndian)
            switch Verdict(rawValue: try fields.byte(bytes)) {
            case .export: self = .export(try fields.export(bytes))
            case .refused: self = .refused(try fields.exportError(bytes))
            case nil: return nil
            }
            try fields.finish(bytes)
        } catch {
            return nil
        }
    }

    /// The frame that reports `export`, or that it is too large for a frame.
    ///
    /// The frame contains secrets in ordinary memory. This is acceptable because the process does
    /// nothing else, is confined, cannot be dumped, and ends soon.
    public static func bytes(
        for export: Export, limit: Int = ExportLimits.standard.answer
    ) -> [UInt8] {
        var writer = AnswerWriter(first: Verdict.export.rawValue)
        writer.append(export)
        let count = writer.bytes.count
        guard count > limit else { return writer.bytes }
        return bytes(
            for: .overLimit(
                export.format, .documentSize, found: UInt64(count), allowed: UInt64(limit)))
    }

    /// The frame that reports `error`.
    public static func bytes(for error: ExportError) -> [UInt8] {
        var writer = AnswerWriter(first: Verdict.refused.rawValue)
        writer.append(error)
        return writer.bytes
    }
}

extension FieldReader {
    fileprivate mutating func export(_ bytes: Span<UInt8>) throws(Unreadable) -> Export {
        let format: ExportFormat = try choice(bytes)
        let iconCount = Int(try number(bytes, width: 4))
        let entries = try list(bytes, most: ExportLimits.longestList) {
            (fields, bytes) throws(Unreadable) in try fields.exportedEntry(bytes)
        }
        let refusals = try list(bytes, most: ExportLimits.longestList) {
            (fields, bytes) throws(Unreadable) in
            try fields.refusal(bytes)
        }
        let missing = try list(bytes, most: ExportLimits.longestList) {
            (fields, bytes) throws(Unreadable) in Int(try fields.number(bytes, width: 4))
        }
        guard missing.allSatisfy({ $0 > 0 }) else { throw Unreadable() }
        return Export(
            format: format, entries: entries, refusals: refusals, iconCount: iconCount,
            missingPictures: missing, emergencyCodeCount: Int(try number(bytes, width: 4)))
    }

    private mutating func refusal(_ bytes: Span<UInt8>) throws(Unreadable) -> ExportRefusal {
        let row = Int(try number(bytes, width: 4))
        guard row > 0 else { throw Unreadable() }
        let line = try line(bytes)
        let issuer = try text(bytes)
        let account = try text(bytes)
        return ExportRefusal(
            row: row, line: line, issuer: issuer, account: account, reason: try choice(bytes))
    }

    /// Reads a line's number; 0 stands for none.
    mutating func line(_ bytes: Span<UInt8>) throws(Unreadable) -> Int? {
        let line = Int(try number(bytes, width: 4))
        return line == 0 ? nil : line
    }

    fileprivate mutating func exportError(
        _ bytes: Span<UInt8>
    ) throws(Unreadable) -> ExportError {
        switch ExportErrorCode(rawValue: try byte(bytes)) {
        case .unknownFormat: return .unknownFormat
        case .passwordNeeded: return .passwordNeeded(try optionalChoice(bytes))
        case .wrongPassword: return .wrongPassword(try optionalChoice(bytes))
        case .damaged: return .damaged(try choice(bytes))
        case .notJSON: return .notJSON
        case .newerVersion: return .newerVersion(try choice(bytes))
        case .unreadable:
            let format: ExportFormat? = try optionalChoice(bytes)
            return .unreadable(format, try choice(bytes))
        case .overLimit:
            let format: ExportFormat? = try optionalChoice(bytes)
            let limit: ExportLimit = try choice(bytes)
            let found = try number(bytes, width: 8)
            return .overLimit(
                format, limit, found: found, allowed: try number(bytes, width: 8))
        case .noEntries: return .noEntries(try choice(bytes))
        case .outOfMemory: return .outOfMemory
        case nil: throw Unreadable()
        }
    }
}

private enum ExportErrorCode: UInt8 {
    case unknownFormat, passwordNeeded, wrongPassword, damaged, notJSON, newerVersion
    case unreadable, overLimit, noEntries, outOfMemory
}

extension AnswerWriter {
    fileprivate mutating func append(_ export: Export) {
        append(export.format.rawValue)
        append(count: export.iconCount)
        append(count: export.entries.count)
        for entry in export.entries { append(entry) }
        append(count: export.refusals.count)
        for refusal in export.refusals {
            append(count: refusal.row)
            append(count: refusal.line ?? 0)
            append(refusal.issuer)
            append(refusal.account)
            append(refusal.reason.rawValue)
        }
        append(count: export.missingPictures.count)
        for picture in export.missingPictures { append(count: picture) }
        append(count: export.emergencyCodeCount)
    }

    fileprivate mutating func append(_ error: ExportError) {
        switch error {
        case .unknownFormat: append(code: .unknownFormat)
        case .passwordNeeded(let format): append(code: .passwordNeeded, optional: format)
        case .wrongPassword(let format): append(code: .wrongPassword, optional: format)
        case .damaged(let format): append(code: .damaged, format)
        case .notJSON: append(code: .notJSON)
        case .newerVersion(let format): append(code: .newerVersion, format)
        case .unreadable(let format, let obstacle):
            append(code: .unreadable, optional: format)
            append(obstacle.rawValue)
        case .overLimit(let format, let limit, let found, let allowed):
            append(code: .overLimit, optional: format)
            append(limit.rawValue)
            append(found, width: 8)
            append(allowed, width: 8)
        case .noEntries(let format): append(code: .noEntries, format)
        case .outOfMemory: append(code: .outOfMemory)
        }
    }

    private mutating func append(code: ExportErrorCode, _ format: ExportFormat? = nil) {
        append(code.rawValue)
        if let format { append(format.rawValue) }
    }

    private mutating func append(code: ExportErrorCode, optional format: ExportFormat?) {
        append(code.rawValue)
        append(optional: format?.rawValue)
    }
}

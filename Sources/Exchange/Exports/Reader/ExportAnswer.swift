package import WatchwordSystem

/// A reader's answer about an export.
enum ExportAnswer {
    /// The file is an export.
    case export(Export)
    /// The file is not an export, or could not be read.
    case refused(ExportError)

    /// The frame with this answer, or with the reason why it cannot be sent.
    func frame(limit: Int = ExportLimits.standard.answer) throws(SystemCallFailure) -> FrameWriter {
        let frame = try FrameWriter(self, limit: Int(UInt32.max))
        do throws(SystemCallFailure) { try frame.requireWhole() } catch {
            return try FrameWriter(ExportAnswer.refused(.outOfMemory))
        }
        let count = frame.withContent { $0.count }
        guard case .export(let export) = self, count > limit else { return frame }
        return try FrameWriter(
            ExportAnswer.refused(
                .overLimit(
                    export.format, .documentSize, found: UInt64(count), allowed: UInt64(limit))))
    }
}

extension ExportAnswer: Transferable {
    private enum Kind: UInt8, Transferable {
        case export, refused
    }

    func write(to output: FrameWriter) {
        switch self {
        case .export(let export): output.append(Kind.export, export)
        case .refused(let error): output.append(Kind.refused, error)
        }
    }

    init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .export: self = try fields.make(Self.export, from: bytes)
        case .refused: self = try fields.make(Self.refused, from: bytes)
        }
    }
}

extension Export: Transferable {
    package func write(to output: FrameWriter) {
        output.append(
            format, entries, refusals, UInt32(clamping: iconCount),
            missingPictures.map { UInt32(clamping: $0) }, UInt32(clamping: emergencyCodeCount))
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self.init(
            format: try fields.value(bytes),
            entries: try fields.list(bytes, most: ExportLimits.longestList),
            refusals: try fields.list(bytes, most: ExportLimits.longestList),
            iconCount: Int(try fields.value(bytes) as UInt32),
            missingPictures: try fields.list(bytes, most: ExportLimits.longestList) {
                (fields, bytes) throws(Unreadable) in try fields.position(bytes)
            }, emergencyCodeCount: Int(try fields.value(bytes) as UInt32))
    }
}

extension ExportRefusal: Transferable {
    package func write(to output: FrameWriter) {
        output.append(
            UInt32(clamping: row), UInt32(clamping: line ?? 0), issuer, account, reason)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self.init(
            row: try fields.position(bytes), line: try fields.line(bytes),
            issuer: try fields.value(bytes), account: try fields.value(bytes),
            reason: try fields.value(bytes))
    }
}

extension FieldReader {
    /// Reads a position that is counted from one.
    fileprivate mutating func position(_ bytes: Span<UInt8>) throws(Unreadable) -> Int {
        guard let position = try line(bytes) else { throw Unreadable() }
        return position
    }

    /// Reads a line's number; 0 stands for none.
    mutating func line(_ bytes: Span<UInt8>) throws(Unreadable) -> Int? {
        let line = Int(try value(bytes) as UInt32)
        return line == 0 ? nil : line
    }
}

extension ExportError: Transferable {
    private enum Kind: UInt8, Transferable {
        case unknownFormat, passwordNeeded, wrongPassword, damaged, notJSON, newerVersion
        case unreadable, overLimit, noEntries, outOfMemory
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .unknownFormat: output.append(Kind.unknownFormat)
        case .passwordNeeded(let format): output.append(Kind.passwordNeeded, format)
        case .wrongPassword(let format): output.append(Kind.wrongPassword, format)
        case .damaged(let format): output.append(Kind.damaged, format)
        case .notJSON: output.append(Kind.notJSON)
        case .newerVersion(let format): output.append(Kind.newerVersion, format)
        case .unreadable(let format, let obstacle):
            output.append(Kind.unreadable, format, obstacle)
        case .overLimit(let format, let limit, let found, let allowed):
            output.append(Kind.overLimit, format, limit, found, allowed)
        case .noEntries(let format): output.append(Kind.noEntries, format)
        case .outOfMemory: output.append(Kind.outOfMemory)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .unknownFormat: self = .unknownFormat
        case .passwordNeeded: self = try fields.make(Self.passwordNeeded, from: bytes)
        case .wrongPassword: self = try fields.make(Self.wrongPassword, from: bytes)
        case .damaged: self = try fields.make(Self.damaged, from: bytes)
        case .notJSON: self = .notJSON
        case .newerVersion: self = try fields.make(Self.newerVersion, from: bytes)
        case .unreadable: self = try fields.make(Self.unreadable, from: bytes)
        case .overLimit: self = try fields.make(Self.overLimit, from: bytes)
        case .noEntries: self = try fields.make(Self.noEntries, from: bytes)
        case .outOfMemory: self = .outOfMemory
        }
    }
}

extension ExportFormat: Transferable {}
extension ExportObstacle: Transferable {}
extension ExportLimit: Transferable {}
extension ExportRowRefusal: Transferable {}

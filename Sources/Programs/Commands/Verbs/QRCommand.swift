import CommandLineInterface
import Exports
import OneTimePassword
import Pictures
import QRDrawing
import WatchwordCoding
import WatchwordCryptography

/// `qr read`: prints the text of QR codes in images.
enum QRReadCommand {
    static func run(_ session: Session) throws -> ExitCode {
        let found = PathWalk(session.arguments.operands.map(PathWalk.path)).found
        let printer = session.printer
        let isNothing = found.allSatisfy { if case .symbolicLink = $0 { true } else { false } }
        if isNothing { throw CommandFailure.noImages }
        let contents = try PictureTexts(of: found, readsPipes: true) { done, all in
            printer.progress("\(done) of \(all) images")
        }
        printer.endProgress()
        try confirmShowingKeys(contents, count: found.count, session)
        var worst = ExitCode.done
        for (index, item) in found.enumerated() {
            let code: ExitCode
            switch item {
            case .symbolicLink: continue
            case .refused(let path, let error):
                code = try refuse(
                    path, .at(VisibleText.of(path), error), Messages.slug(for: error), session)
            case .file(let path), .pipe(let path):
                code = try show(contents.content(at: index), of: path, session)
            }
            // Return the highest status.
            if code.rawValue > worst.rawValue { worst = code }
        }
        return worst
    }

    private static func show(
        _ content: PictureTexts.Content, of path: String, _ session: Session
    ) throws -> ExitCode {
        let place = VisibleText.of(path)
        switch content {
        case .symbols(let symbols):
            for symbol in symbols { try show(symbol, of: path, session) }
            return .done
        case .noSymbols(let refusal):
            return try refuse(
                path, .pictureRefused(place, refusal), Messages.slug(for: refusal), session)
        case .refused(let error):
            return try refuse(path, .at(place, error), Messages.slug(for: error), session)
        case .text:
            return try refuse(
                path, .pictureRefused(place, .notAPicture), Messages.slug(for: .notAPicture),
                session)
        }
    }

    /// The fields of each JSON object, with their default values.
    private static let fields: Record = [
        ("file", .null), ("result", .null), ("reason", .null), ("text", .null), ("base64", .null),
        ("tried", .list([])),
    ]

    private static func show(_ symbol: SecretBytes, of path: String, _ session: Session) throws {
        if session.wantsJSON {
            let record: Record = [
                ("file", .text(path)), ("result", .text("read")),
                JSONValue.text(named: "text", symbol),
            ]
            try session.printer.line(.object(record.filling(fields)))
        } else {
            let isSeen = session.printer.outputIsTerminal
            try session.printer.line(isSeen ? VisibleText.of(symbol) : symbol)
        }
    }

    private static func refuse(
        _ path: String, _ failure: CommandFailure, _ slug: String, _ session: Session
    ) throws -> ExitCode {
        let report = FailureReport(failure)
        if session.wantsJSON {
            var tried: [String] = []
            if case .pictureRefused(_, .noSymbol(tried: let stages)) = failure { tried = stages }
            let record: Record = [
                ("file", .text(path)), ("result", .text("unread")), ("reason", .text(slug)),
                ("tried", .list(tried.map { .text($0) })),
            ]
            try session.printer.line(.object(record.filling(fields)))
        } else {
            session.printer.complain(report.sentence)
        }
        return report.exitCode
    }

    private static func confirmShowingKeys(
        _ contents: PictureTexts, count: Int, _ session: Session
    ) throws {
        for index in 0..<count {
            guard case .symbols(let symbols) = contents.content(at: index) else { continue }
            let holdsKey = symbols.contains { symbol in
                symbol.withBytes { KeyURI.isKeyURI($0) || MigrationBatch.isMigrationURI($0) }
            }
            if holdsKey { return try session.confirmShowing("the keys in these images") }
        }
    }
}

/// `qr write`: creates a QR code from text.
enum QRWriteCommand {
    /// More than the capacity of the largest QR code, so that the encoder reports the exact limit.
    private static let textLimit = 1 << 14

    static func run(_ session: Session) throws -> ExitCode {
        guard let path = session.arguments[.textFile] else {
            throw UsageError.missingOperand("--text-file FILE")
        }
        let text = try SecretSource(path).read(limit: textLimit).withoutLastLineEnd()
        try draw(text, session)
        return .done
    }

    /// Writes `text` as a QR code to the files of `--png` and `--svg`, or to standard output.
    static func draw(_ text: SecretBytes, _ session: Session) throws {
        let png = session.arguments[.png]
        let svg = session.arguments[.svg]
        // Images may be printed and photographed, so they get more error correction than codes on a
        // terminal.
        if let png { try SecretFile.write(picture(of: text), to: png, session) }
        if let svg {
            try SecretFile.write(symbol(of: text, .medium).svg(), to: svg, session)
        }
        if png == nil, svg == nil {
            session.printer.warnIfOthersCanRead()
            try show(text, session)
        }
    }

    /// Prints `text` as a QR code of block characters.
    static func show(_ text: SecretBytes, _ session: Session) throws {
        try session.printer.bytes(symbol(of: text, .low).terminal().span)
    }

    /// The QR code of `text` as a PNG image.
    ///
    /// The bytes are as secret as the text, but libpng needs them in ordinary memory. They are
    /// written to a private file.
    static func picture(of text: SecretBytes) throws -> [UInt8] {
        try writePNG(symbol(of: text, .medium).image())
    }

    private static func symbol(of text: SecretBytes, _ correction: ErrorCorrection)
        throws -> Symbol
    {
        try text.withBytes { bytes in
            // A long text that exceeds the capacity gets less error correction.
            let fits = bytes.count <= correction.capacity
            return try Symbol(encoding: bytes, correction: fits ? correction : .low)
        }
    }
}

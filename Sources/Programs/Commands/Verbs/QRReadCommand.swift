import CommandLineInterface
import Exports
import OneTimePassword
import Pictures
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

    private static func show(_ symbol: SecretBytes, of path: String, _ session: Session) throws {
        if session.wantsJSON {
            try session.printer.line(
                .object([("file", .text(path)), JSONValue.text(named: "text", symbol)]))
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
            try session.printer.line(
                .object([
                    ("file", .text(path)), ("result", .text("refused")), ("reason", .text(slug)),
                ]))
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

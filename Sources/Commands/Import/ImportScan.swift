import Cryptography
import Interchange
import OneTimePassword
import PictureReader

/// All items found at the given paths, in order.
///
/// The parts of a Google Authenticator export can be in different files.
struct ImportScan {
    private(set) var findings: [Finding] = []
    private var exports = MigrationCollection()
    /// The first file of each export, for error messages.
    private var exportFiles: [String] = []
    /// The number of findings from inside files.
    private var foundInside = 0

    /// A vault holds 100,000 entries; files with far more items could exhaust the memory.
    private static let limit = 200_000
    /// Further invalid lines of a file and further incomplete exports are only counted.
    private static let maximumAlikeReports = 100

    /// Reads all of `paths`.
    ///
    /// - Parameter progress: Receives the number of finished images and the total.
    init(_ paths: [String], progress: (Int, Int) -> Void) throws(CommandFailure) {
        let found = PathWalk(paths).found
        let pictures = try PictureTexts(of: found, progress: progress)
        for (index, item) in found.enumerated() {
            switch item {
            case .symbolicLink(let path): findings.append(Finding(path, .skipped(.symbolicLink)))
            case .refused(let path, let error): refuse(path, .file(error))
            case .file(let path):
                switch pictures.content(at: index) {
                case .text: try takeText(of: path)
                case .refused(let error): refuse(path, .file(error))
                case .symbols(let symbols): for symbol in symbols { try take(symbol, of: path) }
                case .noSymbols(let refusal): refuse(path, .picture(refusal))
                }
            }
        }
        reportExports()
    }

    private mutating func refuse(_ file: String, line: Int? = nil, _ refusal: Finding.Refusal) {
        findings.append(Finding(file, line: line, .refused(refusal)))
    }

    private mutating func take(_ symbol: SecretBytes, of file: String) throws(CommandFailure) {
        // Parse the text of a QR code as a line of text; it must be a single otpauth URI.
        let lines = OTPAuthLines(symbol).lines
        guard lines.count == 1 else { return refuse(file, .unrelatedSymbol) }
        if case .refused(.notAURI) = lines[0].content { return refuse(file, .unrelatedSymbol) }
        try take(lines[0].content, of: file, line: nil)
    }

    private mutating func takeText(of file: String) throws(CommandFailure) {
        let text: SecretBytes
        do {
            text = try FileContent.wholeText(at: file)
        } catch {
            return refuse(file, .file(error))
        }
        let (start, insideBefore) = (findings.count, foundInside)
        var unrecognisedLines = 0
        var isOurs = false
        try OTPAuthLines.read(text) { line throws(CommandFailure) in
            if case .refused(.notAURI) = line.content {
                unrecognisedLines += 1
                guard unrecognisedLines <= ImportScan.maximumAlikeReports else { return }
            } else {
                isOurs = true
            }
            try take(line.content, of: file, line: line.number)
        }
        guard isOurs else {
            findings.removeSubrange(start...)
            foundInside = insideBefore
            return refuse(file, .unrelatedText)
        }
        if unrecognisedLines > ImportScan.maximumAlikeReports {
            refuse(file, .unrecognisedLines(unrecognisedLines - ImportScan.maximumAlikeReports))
        }
    }

    private mutating func take(
        _ content: OTPAuthLines.Content, of file: String, line: Int?
    ) throws(CommandFailure) {
        let before = findings.count
        defer { foundInside += findings.count - before }
        guard foundInside < ImportScan.limit else {
            throw .tooMuchToImport(limit: ImportScan.limit)
        }
        switch content {
        case .key(let uri):
            let warnings =
                uri.warnings.map(Messages.sentence) + uri.credential.warnings.map(Messages.sentence)
            findings.append(
                Finding(file, line: line, .credential(uri.credential, warnings: warnings)))
        case .refused(let error): refuse(file, line: line, .line(error))
        case .migration(let batch): take(batch, of: file, line: line)
        }
    }

    // Import the entries of each part even if another part is missing.
    private mutating func take(_ batch: MigrationBatch, of file: String, line: Int?) {
        let count = exports.sets.count
        guard exports.add(batch) != .repeated else {
            findings.append(Finding(file, line: line, .skipped(.repeatedPart)))
            return
        }
        if exports.sets.count > count { exportFiles.append(file) }
        // Report the warnings of a part with its first entry.
        var warnings = batch.warnings.map(Messages.sentence)
        for credential in batch.credentials {
            warnings += credential.warnings.map(Messages.sentence)
            findings.append(Finding(file, line: line, .credential(credential, warnings: warnings)))
            warnings = []
        }
        for refusal in batch.refusals {
            refuse(file, line: line, .exportEntry(refusal.entry + 1, refusal.reason))
        }
    }

    private mutating func reportExports() {
        let incomplete = zip(exportFiles, exports.sets).filter { !$0.1.isComplete }
        for (file, export) in incomplete.prefix(ImportScan.maximumAlikeReports) {
            refuse(file, .missingParts(export.missing.map { $0 + 1 }, of: export.size))
        }
        if incomplete.count > ImportScan.maximumAlikeReports {
            let (file, _) = incomplete[ImportScan.maximumAlikeReports]
            refuse(file, .incompleteExports(incomplete.count - ImportScan.maximumAlikeReports))
        }
    }
}

import Cryptography
import Interchange
import OneTimePassword
import PictureReader

/// Everything that paths hold, in the order in which it was found.
///
/// The parts of Google's exports are put together at the end, whatever files they are in.
struct Harvest {
    private(set) var findings: [Finding] = []
    private var exports = MigrationCollection()
    /// The files of each export, for what is said of it in the end.
    private var exportFiles: [String] = []

    /// Reads all of `paths`.
    ///
    /// - Parameter progress: is told how many files of how many are done.
    init(_ paths: [String], progress: (Int, Int) -> Void) throws(CommandFailure) {
        let found = PathWalk(paths).found
        let pictures = try PictureTexts(of: found, progress: progress)
        for (index, item) in found.enumerated() {
            switch item {
            case .symbolicLink(let path): findings.append(Finding(path, .passedOver(.symbolicLink)))
            case .refused(let path, let error): refuse(path, .file(error))
            case .file(let path):
                switch pictures.content(at: index) {
                case .text(let text): take(lines: OTPAuthLines(text), of: path)
                case .refused(let error): refuse(path, .file(error))
                case .symbols(let symbols): for symbol in symbols { take(symbol, of: path) }
                case .noSymbols(let refusal): refuse(path, .picture(refusal))
                }
            }
        }
        tellOfExports()
    }

    private mutating func refuse(_ file: String, line: Int? = nil, _ refusal: Finding.Refusal) {
        findings.append(Finding(file, line: line, .refused(refusal)))
    }

    private mutating func take(_ symbol: SecretBytes, of file: String) {
        // What a symbol says is read as a line is, but believed only when it is one of ours.
        let lines = OTPAuthLines(symbol).lines
        guard lines.count == 1 else { return refuse(file, .foreignSymbol) }
        if case .refused(.notAURI) = lines[0].content { return refuse(file, .foreignSymbol) }
        take(lines[0].content, of: file, line: nil)
    }

    private mutating func take(lines: OTPAuthLines, of file: String) {
        let isOurs = lines.lines.contains { line in
            if case .refused(.notAURI) = line.content { false } else { true }
        }
        guard isOurs else { return refuse(file, .foreignText) }
        for line in lines.lines { take(line.content, of: file, line: line.number) }
    }

    private mutating func take(_ content: OTPAuthLines.Content, of file: String, line: Int?) {
        switch content {
        case .key(let uri):
            let warnings =
                uri.warnings.map(Words.sentence) + uri.credential.warnings.map(Words.sentence)
            findings.append(
                Finding(file, line: line, .credential(uri.credential, warnings: warnings)))
        case .refused(let error): refuse(file, line: line, .line(error))
        case .migration(let batch): take(batch, of: file, line: line)
        }
    }

    // The entries of a part are taken at once: a missing part is no reason to lose those that came.
    private mutating func take(_ batch: MigrationBatch, of file: String, line: Int?) {
        let count = exports.sets.count
        guard exports.add(batch) != .repeated else {
            findings.append(Finding(file, line: line, .passedOver(.repeatedPart)))
            return
        }
        if exports.sets.count > count { exportFiles.append(file) }
        // What was tolerated in the part is told with its first entry.
        var warnings = batch.warnings.map(Words.sentence)
        for credential in batch.credentials {
            warnings += credential.warnings.map(Words.sentence)
            findings.append(Finding(file, line: line, .credential(credential, warnings: warnings)))
            warnings = []
        }
        for refusal in batch.refusals {
            refuse(file, line: line, .exportEntry(refusal.entry + 1, refusal.reason))
        }
    }

    private mutating func tellOfExports() {
        for (file, export) in zip(exportFiles, exports.sets) where !export.isComplete {
            refuse(file, .missingParts(export.missing.map { $0 + 1 }, of: export.size))
        }
    }
}

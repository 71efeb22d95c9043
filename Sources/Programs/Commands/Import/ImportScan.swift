import CommandLineInterface
import Exports
import OneTimePassword
import Pictures
import SecretVault
import VaultService
import WatchwordCryptography
import WatchwordSystem

/// All items found at the given paths, in order.
///
/// The parts of a Google Authenticator export can be in different files.
struct ImportScan {
    var findings: [Finding] = []
    var migrations = MigrationCollection()
    /// The first file of each Google Authenticator export, for error messages.
    var migrationFiles: [String] = []
    /// The number of findings from inside files.
    var foundInside = 0
    /// The files of other apps.
    var exportedFiles: [String: ExportedFile] = [:]
    var exportFiles: ExportFiles
    /// The vault that the items are for.
    let vault: any OpenVault
    /// Whether entries in the other app's trash are imported.
    let includesDeleted: Bool

    /// A vault holds 100,000 entries; files with far more items could exhaust the memory.
    static let limit = 200_000
    /// Further invalid lines of a file and further incomplete exports are only counted, not listed.
    static let maximumAlikeReports = 100

    /// A larger text is not a list of key URIs, because a vault holds far fewer entries.
    private static let largestList = 16 << 20

    /// Reads everything that the operands name.
    init(for vault: any OpenVault, _ session: Session) throws {
        self.vault = vault
        exportFiles = ExportFiles(session)
        includesDeleted = session.arguments.has(.includeDeleted)
        let found = PathWalk(session.arguments.operands.map(PathWalk.path)).found
        let pictures = try PictureTexts(of: found, readsPipes: false) { done, all in
            session.printer.progress("\(done) of \(all) images")
        }
        session.printer.endProgress()
        for (index, item) in found.enumerated() {
            switch item {
            case .symbolicLink(let path): findings.append(Finding(path, .skipped(.symbolicLink)))
            case .refused(let path, let error): refuse(ImportScan.name(of: path), .file(error))
            case .pipe(let path): try takeFile(at: path, isPipe: true)
            case .file(let path):
                switch pictures.content(at: index) {
                case .refused(let error): refuse(ImportScan.name(of: path), .file(error))
                case .symbols(let symbols):
                    for symbol in symbols { try take(symbol, of: ImportScan.name(of: path)) }
                case .text, .noSymbols(.notAPicture), .noSymbols(.tooLarge(.bytes)):
                    try takeFile(at: path)
                case .noSymbols(let refusal): refuse(ImportScan.name(of: path), .picture(refusal))
                }
            }
        }
        if session.arguments.has(.screen) { try takeScreen() }
        if session.arguments.has(.camera) { try takeCamera(session) }
        reportExports()
    }

    /// Takes a screenshot and reads it.
    private mutating func takeScreen() throws {
        // If the kernel lacks seccomp, the reader refuses even a file of one byte, and reports why.
        // Check this before the desktop asks the user for permission.
        let file: [UInt8] = [0]
        _ = try CommandFailure.naming("watchword-reader") {
            try ReaderPool().read(byteCount: file.count, lend: { $0(file.span) }) { _ in }
        }
        let picture = try ScreenPicture.take()
        if try !takePicture(picture, of: "screen") { refuse("screen", .picture(.notAPicture)) }
    }

    /// Reads images from the camera until one contains a key.
    private mutating func takeCamera(_ session: Session) throws {
        let camera: Camera
        switch Camera.openFirst() {
        case .opened(let opened): camera = opened
        case .failed(let failure): throw CommandFailure.camera(failure)
        }
        session.printer.progress("hold the QR code in front of the camera")
        defer { session.printer.endProgress() }
        guard let symbols = try CameraPictures.firstSymbols(from: camera) else {
            return refuse("camera", .picture(.noSymbol(tried: [])))
        }
        for symbol in symbols { try take(symbol, of: "camera") }
    }

    /// The name of a path in reports; standard input is called `-`, as on the command line.
    private static func name(of path: String) -> String {
        path == PathWalk.standardInput ? "-" : path
    }

    /// Reads a file that is not an image, or a pipe with any content.
    private mutating func takeFile(at path: String, isPipe: Bool = false) throws {
        let file = ImportScan.name(of: path)
        let content: SecretBytes
        let isText: Bool
        do throws(FileError) {
            content = try FileContent.whole(at: path, limit: exportFiles.limits.bytes)
            isText = if case .text = try FileContent.of(content) { true } else { false }
        } catch {
            return refuse(file, .file(error))
        }
        if content.withBytes(Vault.isVault) {
            return try takeVault(content, of: file)
        } else if isText, content.count <= ImportScan.largestList {
            if try takeText(content, of: file) { return }
        } else if isPipe, try takePicture(content, of: file) {
            return
        } else if try takeExport(content, of: file) {
            return
        }
        refuse(file, .export(.unknownFormat))
    }

    /// Reads the content of a pipe; returns `false` if it is not an image.
    private mutating func takePicture(_ content: SecretBytes, of file: String) throws -> Bool {
        var symbols: [SecretBytes] = []
        let outcome = try CommandFailure.naming("watchword-reader") {
            try ReaderPool().read(byteCount: content.count, lend: { content.withBytes($0) }) {
                symbols.append(SecretBytes(copying: $0))
            }
        }
        switch outcome {
        case .symbols: for symbol in symbols { try take(symbol, of: file) }
        case .refused(.notAPicture), .refused(.tooLarge(.bytes)): return false
        case .refused(let refusal): refuse(file, .picture(refusal))
        }
        return true
    }

    /// Reads a text; returns `false` if it is neither an export nor a list.
    private mutating func takeText(_ text: SecretBytes, of file: String) throws -> Bool {
        let lines = text.withBytes(URILines.init)
        if lines.startWithURI, lines.arePlain, try takeList(text, of: file) { return true }
        guard lines.haveMigrations else {
            if try takeExport(text, of: file) { return true }
            return try takeList(text, of: file)
        }
        // The other parts of the Google Authenticator export may be in other files.
        guard try takeExport(text.withoutMigrations, of: file) else {
            return try takeList(text, of: file)
        }
        try takeMigrations(text, of: file)
        return true
    }

    mutating func refuse(_ file: String, line: Int? = nil, _ refusal: Finding.Refusal) {
        findings.append(Finding(file, line: line, .refused(refusal)))
    }

    mutating func take(_ symbol: SecretBytes, of file: String) throws {
        let kind = symbol.withBytes(URILines.init)
        if kind.startWithURI, !kind.arePlain,
            try takeExport(symbol, of: file, hasLines: false)
        {
            return
        }
        // Parse the text of a QR code as a line of text; it must be a single otpauth URI.
        let lines = OTPAuthLines(symbol).lines
        guard lines.count == 1 else { return refuse(file, .unrelatedSymbol) }
        if case .refused(.notAURI) = lines[0].content { return refuse(file, .unrelatedSymbol) }
        try take(lines[0].content, of: file, line: nil)
    }

    /// Appends an item from inside a file.
    mutating func add(_ finding: Finding) throws {
        guard foundInside < ImportScan.limit else {
            throw CommandFailure.tooMuchToImport(limit: ImportScan.limit)
        }
        foundInside += 1
        findings.append(finding)
    }
}

// Lists of key URIs, and the parts of Google Authenticator exports.
extension ImportScan {
    /// Reads a list of key URIs; returns false if no line is one.
    mutating func takeList(_ text: SecretBytes, of file: String) throws -> Bool {
        let (start, insideBefore) = (findings.count, foundInside)
        var unrecognisedLines = 0
        var isOurs = false
        try OTPAuthLines.read(text) { line in
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
            return false
        }
        if unrecognisedLines > ImportScan.maximumAlikeReports {
            refuse(file, .unrecognisedLines(unrecognisedLines - ImportScan.maximumAlikeReports))
        }
        return true
    }

    /// Reads only the parts of Google Authenticator exports in a list.
    mutating func takeMigrations(_ text: SecretBytes, of file: String) throws {
        try OTPAuthLines.read(text) { line in
            switch line.content {
            case .migration, .refused(.migration):
                try take(line.content, of: file, line: line.number)
            case .key, .refused: break
            }
        }
    }

    mutating func take(_ content: OTPAuthLines.Content, of file: String, line: Int?) throws {
        let before = findings.count
        defer { foundInside += findings.count - before }
        guard foundInside < ImportScan.limit else {
            throw CommandFailure.tooMuchToImport(limit: ImportScan.limit)
        }
        switch content {
        case .key(let uri):
            let warnings =
                uri.warnings.map(ImportWarning.keyURI)
                + uri.credential.warnings.map(ImportWarning.credential)
            findings.append(Finding(file, line: line, uri.credential, warnings: warnings))
        case .refused(let error): refuse(file, line: line, .line(error))
        case .migration(let batch): take(batch, of: file, line: line)
        }
    }

    // Import the entries of each part even if a different part is missing.
    private mutating func take(_ batch: MigrationBatch, of file: String, line: Int?) {
        let count = migrations.sets.count
        guard migrations.add(batch) != .repeated else {
            findings.append(Finding(file, line: line, .skipped(.repeatedPart)))
            return
        }
        if migrations.sets.count > count { migrationFiles.append(file) }
        // Report the warnings of a part with its first entry.
        var warnings = batch.warnings.map(ImportWarning.migration)
        for credential in batch.credentials {
            warnings += credential.warnings.map(ImportWarning.credential)
            findings.append(Finding(file, line: line, credential, warnings: warnings))
            warnings = []
        }
        for refusal in batch.refusals {
            refuse(file, line: line, .exportEntry(refusal.entry + 1, refusal.reason))
        }
    }

    mutating func reportExports() {
        let incomplete = zip(migrationFiles, migrations.sets).filter { !$0.1.isComplete }
        for (file, export) in incomplete.prefix(ImportScan.maximumAlikeReports) {
            refuse(file, .missingParts(export.missing.map { $0 + 1 }, of: export.size))
        }
        if incomplete.count > ImportScan.maximumAlikeReports {
            let (file, _) = incomplete[ImportScan.maximumAlikeReports]
            refuse(file, .incompleteExports(incomplete.count - ImportScan.maximumAlikeReports))
        }
    }
}

import Exports
import OneTimePassword
import WatchwordCryptography

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

    // Import the entries of each part even if another part is missing.
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

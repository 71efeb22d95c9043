import CommandLineInterface
import Exports
import WatchwordCryptography
import WatchwordSystem

/// Writes the documents of an export.
enum ExportFile {
    /// Writes a file, or one picture for each QR code of a Google Authenticator export.
    ///
    /// If one of several pictures cannot be written, the new ones are removed again.
    ///
    /// - Returns: the paths.
    static func write(
        _ documents: [SecretBytes], _ format: ExportRequest.Format, to path: String,
        _ session: Session
    ) throws -> [String] {
        guard format == .app(.google) else {
            for document in documents { try SecretFile.write(document, to: path, session) }
            return [path]
        }
        let count = documents.count
        let paths = (1...count).map { count == 1 ? path : numbered(path, $0, of: count) }
        for path in paths { try SecretFile.checkUnused(path, session) }
        // Interrupting signals take effect once all pictures are complete.
        try SignalQueue.holdingBack(SignalQueue.interruptions) {
            try write(documents, to: paths, session)
        } otherwise: { failure in
            failure
        }
        return paths
    }

    private static func write(
        _ documents: [SecretBytes], to paths: [String], _ session: Session
    ) throws {
        for (index, uri) in documents.enumerated() {
            do {
                try SecretFile.write(QRWriteCommand.picture(of: uri), to: paths[index], session)
            } catch {
                if !session.arguments.has(.force) {
                    // Report the first failure.
                    for written in paths.prefix(index) {
                        do { try OutputFile.remove(written) } catch _ {}
                    }
                }
                throw error
            }
        }
    }

    /// `shots/a.png` becomes `shots/a-2-of-3.png`.
    private static func numbered(_ path: String, _ number: Int, of count: Int) -> String {
        let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        let dot = path[start...].lastIndex(of: ".") ?? path.endIndex
        return "\(path[..<dot])-\(number)-of-\(count)\(path[dot...])"
    }

    /// Prints the documents; a terminal shows QR codes instead of migration URIs.
    static func print(
        _ documents: [SecretBytes], _ format: ExportRequest.Format, _ session: Session
    ) throws {
        for (index, document) in documents.enumerated() {
            if format == .app(.google) {
                guard session.printer.outputIsTerminal else {
                    try session.printer.line(document)
                    continue
                }
                try session.printer.line("\(index + 1) of \(documents.count)")
                try QRWriteCommand.show(document, session)
            } else {
                try document.withBytes { bytes in
                    try session.printer.bytes(bytes)
                }
            }
        }
    }
}

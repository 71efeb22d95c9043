import Exports
import ExportReading
import OneTimePassword
import TestSupport
import WatchwordCryptography

func read(_ file: SecretBytes, _ password: String? = nil) throws(ExportError) -> Export {
    try readExport(file, password: password.map { SecretBytes(text: $0) })
}

func read(_ bytes: [UInt8], _ password: String? = nil) throws(ExportError) -> Export {
    try read(SecretBytes(copying: bytes.span), password)
}

func read(_ text: String, _ password: String? = nil) throws(ExportError) -> Export {
    try read(SecretBytes(text: text), password)
}

extension Export {
    /// The entries' summaries, then the reasons of the refusals.
    var lines: [String] {
        entries.map { EntrySummary($0).description } + refusals.map { "\($0.row) \($0.reason)" }
    }
}

extension ExportedEntry {
    /// The credential; `nil` if its codes are not computed.
    var credential: Credential? {
        if case .oneTimePassword(let credential) = content { credential } else { nil }
    }

    /// The content if its codes are not computed; otherwise `nil`.
    var uncomputed: UncomputedCode? {
        if case .notComputed(let code) = content { code } else { nil }
    }
}

func rowRefusal(
    _ body: () throws(ExportRowRefusal) -> ExportedEntry
) -> ExportRowRefusal? {
    do throws(ExportRowRefusal) { _ = try body() } catch { return error }
    return nil
}

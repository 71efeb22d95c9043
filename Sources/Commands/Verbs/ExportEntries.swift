import JSONText
import OneTimePassword
import SecretVault

/// `export`: every entry as an otpauth line.
enum ExportEntries {
    static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let vault = try session.unlock()
        try session.confirmShowing("the keys of all entries")
        var left = 0
        for entry in vault.entries {
            guard entry.kind == .totp || entry.kind == .hotp, entry.tombstone == nil else {
                left += 1
                continue
            }
            let uri = KeyURI.format(try session.credential(of: entry, in: vault))
            if session.wantsJSON {
                try session.printer.line(
                    .object([
                        ("account", .text(entry.account)), ("issuer", .text(entry.issuer)),
                        ("uri", .secret(uri)),
                    ]))
            } else {
                try session.printer.line(uri)
            }
        }
        if left > 0 {
            session.printer.note(
                "\(left) left out: what makes no codes has no otpauth line; see show --reveal.")
        }
        return .done
    }
}

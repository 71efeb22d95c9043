import Arguments
import CommandRunner
import Cryptography
import JSONText
import OneTimePassword
import SecretVault

/// `export`: prints entries as otpauth URIs.
enum ExportCommand {
    static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let vault = try session.unlock()
        let making = vault.entries.filter {
            ($0.kind == .totp || $0.kind == .hotp) && $0.tombstone == nil
        }
        let asking = making.filter { $0.accessControl.presence.isPerUse }
        let skips = session.arguments.has(.skipPerUse)
        try session.confirmShowing("the keys of all entries")
        // Ask for all confirmations before the first line, so that a backup is complete or empty.
        var asked: [RecordID: Credential] = [:]
        if !skips {
            for (index, entry) in asking.enumerated() {
                let use = EntryUse.export(number: index + 1, of: asking.count)
                asked[entry.id] = try session.credential(of: entry, in: vault, for: use)
            }
        }
        for entry in making where !skips || !entry.accessControl.presence.isPerUse {
            let credential: Credential
            if let opened = asked[entry.id] {
                credential = opened
            } else {
                credential = try session.credential(
                    of: entry, in: vault, for: .export(number: 1, of: 1))
            }
            try print(KeyURI.format(credential), of: entry, session)
        }
        let wiped = vault.entries.count { $0.tombstone != nil }
        if wiped > 0 {
            session.printer.note("Skipped \(wiped) wiped \(wiped == 1 ? "entry" : "entries").")
        }
        reportSkipped(vault.entries.count - making.count - wiped, skips ? asking : [], session)
        return .done
    }

    private static func print(_ uri: SecretBytes, of entry: EntrySummary, _ session: Session)
        throws(CommandFailure)
    {
        guard session.wantsJSON else { return try session.printer.line(uri) }
        try session.printer.line(
            .object([
                ("account", .text(entry.account)), ("issuer", .text(entry.issuer)),
                ("uri", .secret(uri)),
            ]))
    }

    private static func reportSkipped(_ others: Int, _ skipped: [EntrySummary], _ session: Session)
    {
        if others > 0 {
            session.printer.note(
                "Skipped \(others) \(others == 1 ? "entry" : "entries") without codes; see watchword show --reveal."
            )
        }
        // An incomplete backup is reported even with --quiet.
        for entry in skipped {
            session.printer.alarm(
                "\(entry.name.visible) was skipped: it requires confirmation at each use")
        }
    }
}

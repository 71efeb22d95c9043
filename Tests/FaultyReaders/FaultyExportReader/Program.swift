internal import Exports
internal import Faults
internal import OneTimePassword
internal import WatchwordCryptography

/// A reader of exports, confined like the real one, that performs the action named in the “export”,
/// so that tests can simulate attacks.
///
/// An export without a known command is read as one entry whose account is the content and whose
/// issuer is the password.
@main struct Program {
    static func main() {
        // The first secret makes a system call that a confined process must not make.
        _ = SecretBytes(capacity: 1) { _ in }
        ExportLoop.run { source, password throws(ExportError) in
            let content = text(source.file, atMost: 40)
            faults[content]?()
            if content == "encrypted", password.map({ text($0, atMost: 40) }) != "right" {
                throw password == nil ? .passwordNeeded(.aegis) : .wrongPassword(.aegis)
            }
            if content == "crash on a password", password != nil { faults["segfault"]?() }
            if content == "crash on a password" { throw .passwordNeeded(.ente) }
            if let manifest = source.manifest, let keyFile = source.keyFile {
                let parts = [source.name, text(manifest, atMost: 40), text(keyFile, atMost: 40)]
                return export(of: parts.joined(separator: " "), password: password, count: false)
            }
            return export(of: content, password: password, count: content == "20,000 entries")
        }
    }

    private static func export(of content: String, password: SecretBytes?, count: Bool) -> Export {
        let key = SecretBytes(copying: Array("12345678901234567890".utf8).span)
        let issuer = password.map { text($0, atMost: 40) } ?? ""
        var entries: [ExportedEntry] = []
        do {
            for number in 0..<(count ? 20_000 : 1) {
                let account = count ? "\(number)" : content
                let credential = try Credential(issuer: issuer, account: account, key: key)
                entries.append(ExportedEntry(content: .oneTimePassword(credential)))
            }
        } catch {
            faults["trap"]?()
        }
        return Export(format: .aegis, entries: entries, refusals: [], iconCount: 0)
    }

    private static func text(_ bytes: SecretBytes, atMost count: Int) -> String {
        bytes.withBytes {
            String(decoding: [UInt8](copying: $0.extracting(first: count)), as: UTF8.self)
        }
    }
}

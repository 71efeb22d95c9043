internal import Cryptography
internal import Interchange
internal import OneTimePassword
internal import PictureReader

/// A reader, confined like the real one, that performs the action named in the “picture”, so that
/// tests can simulate attacks.
///
/// A picture without a known command is read as a symbol that contains the picture's bytes.
@main struct Program {
    static func main() {
        let findings: [String: PictureFinding] = [
            "no symbol": .symbols([], tried: ["first", "second"]),
            "no picture": .notAPicture,
            "unsupported": .unsupported(format: "GIF"),
            "damaged": .damaged,
            "many bytes": .tooLarge(.bytes),
            "many pixels": .tooLarge(.pixels),
            "long side": .tooLarge(.side),
            "many frames": .tooLarge(.frames),
            "out of memory": .outOfMemory,
            "two symbols": .symbols([Array("one".utf8), Array("two".utf8)], tried: []),
            "empty symbol": .symbols([[]], tried: []),
            "1000 symbols": .symbols(Array(repeating: [1], count: 1_000), tried: []),
            "1001 symbols": .symbols(Array(repeating: [1], count: 1_001), tried: []),
            "long symbol": .symbols([Array(repeating: 1, count: 1 << 18)], tried: []),
            "wild words": .symbols([[1]], tried: ["\u{1B}[2J", String(repeating: "w", count: 99)]),
            "environment": .symbols(environment(), tried: []),
        ]
        if CommandLine.arguments.contains(ExportLoop.task) { runOnExports(findings) }
        ReaderLoop.run { picture in
            let order = String(decoding: picture.prefix(40), as: UTF8.self)
            faults[order]?()
            return findings[order] ?? .symbols([picture], tried: ["echo"])
        }
    }
    /// Reads any other “export” as one entry whose account is the content and whose issuer is the
    /// password.
    private static func runOnExports(_ findings: [String: PictureFinding]) -> Never {
        _ = SecretBytes(capacity: 1) { _ in }
        ExportLoop.run { file, password in
            let content = text(file, atMost: 40)
            faults[content]?()
            if let finding = findings[content] { return .picture(finding) }
            if content == "encrypted", password.map({ text($0, atMost: 40) }) != "right" {
                return .refused(password == nil ? .passwordNeeded(.aegis) : .wrongPassword(.aegis))
            }
            if content == "crash on a password", password != nil { faults["segfault"]?() }
            if content == "crash on a password" { return .refused(.passwordNeeded(.ente)) }
            return .export(
                export(of: content, password: password, count: content == "20,000 entries"))
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

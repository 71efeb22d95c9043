import Exports
import TestSupport
import Testing
import WatchwordCryptography

@testable import ExportReading

@Suite(
    "Truncated encrypted exports",
    .enabled(if: PackageFolder.shared != nil, "needs the shared folder"))
struct TruncatedExportTests {
    private static let folders = [
        "2fas", "aegis", "andotp", "bitwarden", "ente", "freeotp", "gauth", "keepass-kdbx",
        "proton-authenticator", "stratum", "totp-authenticator",
    ]
    /// Files that take several seconds for each password.
    private static let slow = ["maximum_argon2id", "nominalcomplexity"]

    static func exports() throws -> [SharedExport] {
        try SharedExport.all(in: folders).filter { export in
            let password = try export.answer.password
            return password != nil && !slow.contains { export.path.contains($0) }
        }
    }

    @Test("an encrypted file that lacks its end is refused", arguments: try exports())
    func truncated(export: SharedExport) throws {
        let password = try export.answer.password
        let content = try export.content
        for count in [4, 12, 40, 100, content.count / 2, content.count - 1] {
            #expect(throws: ExportError.self) {
                _ = try readExport(content.part(0..<count), password: password)
            }
        }
    }
}

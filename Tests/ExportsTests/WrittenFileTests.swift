import ExportReading
import Exports
import Foundation
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

/// Files that this program wrote; every later version reads them.
@Suite("Files of earlier versions")
struct WrittenFileTests {
    /// The same entries in each format.
    static let files = [
        "aegis-encrypted.json", "aegis-plain.json", "2fas-encrypted.2fas", "2fas-plain.2fas",
        "otpauth.txt", "google.txt", "sheet.html",
    ]

    private func read(_ file: String) throws -> [String] {
        let url = PackageFolder.root.appending(path: "Vectors/exports/written/\(file)")
        let content = SecretBytes(copying: [UInt8](try Data(contentsOf: url)).span)
        let export = try readExport(content, password: SecretBytes(text: "seven wooden ducks"))
        #expect(export.refusals.isEmpty)
        return export.entries.map { entry in
            guard case .oneTimePassword(let credential) = entry.content else { return "" }
            return KeyURI.format(credential).text
        }
    }

    @Test("each file yields the same entries as the list of key URIs", arguments: files)
    func entries(file: String) throws {
        let key = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
        var expected = [
            "otpauth://totp/GitHub:alice?secret=\(key)&issuer=GitHub&algorithm=SHA1&digits=6&period=30",
            "otpauth://hotp/Bank:bob?secret=\(key)&issuer=Bank&algorithm=SHA1&digits=8&counter=7",
            "otpauth://steam/Steam:carol?secret=\(key)&issuer=Steam&algorithm=SHA1&digits=5&period=30",
            "otpauth://totp/Gr%C3%B6%C3%9Fe:%E6%97%A5%E6%9C%AC?secret=\(key)&issuer=Gr%C3%B6%C3%9Fe"
                + "&algorithm=SHA256&digits=6&period=60",
        ]
        if file == "google.txt" { expected = Array(expected.prefix(2)) }
        #expect(try read(file) == expected)
    }
}

import Exports
import Foundation
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import ExportReading

/// A real export in the shared folder, with the entries that an independent program found.
struct SharedExport: CustomTestStringConvertible, Sendable {
    /// The path in the folder of exports, such as `aegis/plain.json`.
    let path: String
    let file: URL
    private let expected: URL

    var testDescription: String { path }

    /// The exports of these folders; empty if there is no shared folder.
    static func all(in folders: [String]) throws -> [SharedExport] {
        guard let root = PackageFolder.shared?.appending(path: "exports") else { return [] }
        return try folders.flatMap { folder in
            let folder = root.appending(path: folder)
            return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
                .filter { $0 != "expected" }
                .map { name in
                    SharedExport(
                        path: "\(folder.lastPathComponent)/\(name)",
                        file: folder.appending(path: name),
                        expected: folder.appending(path: "expected/\(name).json"))
                }
        }
    }

    var content: SecretBytes {
        get throws { SecretBytes(copying: Array(try Data(contentsOf: file)).span) }
    }

    /// The file with the expected entries.
    var answer: (password: SecretBytes?, entries: [Any]) {
        get throws {
            let json = try JSONSerialization.jsonObject(with: Data(contentsOf: expected))
            let answer = try #require(json as? [String: Any])
            let password = (answer["password"] as? String).map { SecretBytes(text: $0) }
            return (password, try #require(answer["entries"] as? [Any]))
        }
    }
}

/// An entry in a form that can be compared and printed.
///
/// The secrets come from public test files.
struct EntrySummary: Hashable, CustomStringConvertible {
    var type = ""
    var issuer = ""
    var account = ""
    var secret = ""
    var algorithm = "SHA1"
    var digits = 6
    var factor: UInt64 = 30
    var tags: Set<String> = []
    var state = ExportedEntry.State.active

    var description: String {
        "\(type) \(issuer)|\(account) \(secret) \(algorithm) \(digits) \(factor) "
            + "\(tags.sorted()) \(state)"
    }

    init(_ entry: ExportedEntry) {
        tags = Set(entry.tags)
        state = entry.state
        switch entry.content {
        case .oneTimePassword(let credential):
            issuer = credential.issuer
            account = credential.account
            secret = credential.key.hex
            algorithm = credential.algorithm.rawValue
            digits = credential.style.length
            switch credential.movingFactor {
            case .time(let step):
                type = credential.style == .steam ? "steam" : "totp"
                factor = UInt64(step.period)
            case .counter(let counter):
                type = "hotp"
                factor = counter
            }
        case .notComputed(let code):
            type = code.kind == .yandex ? "yandex" : "motp"
            issuer = code.issuer
            account = code.account
            secret = code.kind == .motp ? code.secret.text : code.secret.hex
            factor = 0
            digits = 0
        }
    }

    init() {}
}

/// The entry that an expected row becomes by the rules of `ExportReading`.
enum ExpectedRow {
    case entry(EntrySummary)
    case refused

    /// - Parameter folder: the folder of the export, which decides how its values are stated.
    init(_ row: Any, in folder: String) throws {
        let row = try #require(row as? [String: Any])
        func text(_ names: String...) -> String {
            names.compactMap { row[$0] as? String }.first { !$0.isEmpty } ?? ""
        }
        var entry = EntrySummary()
        let bare = text("bare")
        entry.type = bare.isEmpty ? text("type") : "totp"
        entry.issuer = text("issuer", "item_name", "item_title", "title").trimmed
        entry.account = text("account", "item_username", "username").trimmed
        if folder == "proton-authenticator", !text("name").isEmpty { entry.account = text("name") }
        if entry.account.hasPrefix(entry.issuer + ":"), !entry.issuer.isEmpty {
            entry.account = String(entry.account.dropFirst(entry.issuer.count + 1)).trimmed
        }
        if folder == "keepass-kdbx" {
            // KeePassXC writes "none" for an empty name, and Steam has its own encoder.
            if entry.account == "none" { entry.account = text("username") }
            if row["digits"] as? Int == 5 { entry.type = "steam" }
        }
        entry.algorithm = text("algorithm").isEmpty ? "SHA1" : text("algorithm")
        if let digits = row["digits"] as? Int { entry.digits = digits }
        if let period = row["period"] as? UInt64 { entry.factor = period }
        if entry.type == "hotp" {
            entry.factor = UInt64(max(0, try #require(row["counter"] as? Int64)))
        }
        if let tags = (row["groups"] ?? row["tags"] ?? row["categories"]) as? [String] {
            entry.tags = Set(tags)
        }
        if !text("folder").isEmpty, folder == "bitwarden" { entry.tags = [text("folder")] }
        let secret = SecretBytes(text: bare.isEmpty ? text("secret") : bare)
        entry.secret =
            (row["base"] as? Int) == 16
            ? secret.text.lowercased() : secret.decodedBase32()?.secret.hex ?? "?"
        switch entry.type {
        case "steam":
            entry.digits = 5
            entry.factor = 30
        case "motp", "yandex":
            if entry.type == "motp", folder == "stratum" {
                // The secret is the text itself.
                entry.secret = secret.text
            }
            if entry.type == "motp", folder == "andotp" {
                entry.secret = try SecretBytes(hex: entry.secret).text
            }
            entry.algorithm = "SHA1"
            entry.digits = 0
            entry.factor = 0
        default: break
        }
        let isComputed = entry.type == "totp" || entry.type == "hotp"
        if entry.secret.isEmpty || (isComputed && (entry.digits == 0))
            || (entry.type == "totp" && entry.factor == 0)
        {
            self = .refused
        } else {
            self = .entry(entry)
        }
    }
}

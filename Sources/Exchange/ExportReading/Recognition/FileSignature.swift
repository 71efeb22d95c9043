internal import Exports
internal import OneTimePassword
internal import WatchwordCryptography

/// Formats that begin with fixed bytes.
enum FileSignature: CaseIterable {
    case sqlite, zip, kdbx, keePass1, javaObject, stratum, stratumLegacy, otpClient, salted
    case pgpMessage, pgpArmour, pgpPublicKey, age, utf16

    init?(_ file: Span<UInt8>) {
        for signature in Self.allCases
        where signature.prefixes.contains(where: { file.hasPrefix($0) }) {
            self = signature
            return
        }
        return nil
    }

    private var prefixes: [[UInt8]] {
        switch self {
        case .sqlite: [Array("SQLite format 3\0".utf8)]
        // The second is an archive without members.
        case .zip: [Array("PK".utf8) + [3, 4], Array("PK".utf8) + [5, 6]]
        case .kdbx: [[0x03, 0xD9, 0xA2, 0x9A, 0x67, 0xFB, 0x4B, 0xB5]]
        case .keePass1: [[0x03, 0xD9, 0xA2, 0x9A, 0x65, 0xFB, 0x4B, 0xB5]]
        case .javaObject: [[0xAC, 0xED, 0x00, 0x05]]
        case .stratum: [Array("AUTHENTICATORPRO".utf8)]
        case .stratumLegacy: [Array("AuthenticatorPro".utf8)]
        case .otpClient: [Array("OTPClient".utf8)]
        case .salted: [Array("Salted__".utf8)]
        case .pgpMessage: [[0xC3], [0x8C]]
        case .pgpArmour: [Array("-----BEGIN PGP MESSAGE-----".utf8)]
        case .pgpPublicKey: [[0xC1], [0x84], [0x85]]
        case .age:
            [
                Array("age-encryption.org/v1".utf8),
                Array("-----BEGIN AGE ENCRYPTED FILE-----".utf8),
            ]
        case .utf16: [[0xFF, 0xFE], [0xFE, 0xFF]]
        }
    }

    func read(
        _ source: ExportSource, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        let file = source.file
        switch self {
        case .sqlite: return try DatabaseFormat.read(file)
        case .zip: return try ArchiveReading.read(source, password: password)
        case .pgpMessage, .pgpArmour:
            return try ProtonPassFormat.read(encrypted: file, password: password)
        case .stratum, .stratumLegacy:
            return try StratumFormat.read(
                try ExportFormat.stratum.decrypted(file, password, StratumContainer.open))
        case .otpClient:
            return try JSONFormat.otpClient.read(
                try ExportFormat.otpClient.decrypted(file, password, OTPClientContainer.open), nil)
        case .salted:
            guard let password else { throw .passwordNeeded(.gauth) }
            return try GauthFormat.read(try GauthContainer.open(file, password: password))
        case .kdbx: return try KeePassFormat.read(source, password: password)
        case .javaObject: return try FreeOTP2Format.read(file, password: password)
        case .keePass1: throw .unreadable(.keePass, .keePass1)
        case .pgpPublicKey, .age: throw .unreadable(nil, .publicKeyEncryption)
        case .utf16: throw .unreadable(nil, .utf16)
        }
    }
}

extension Span<UInt8> {
    /// Whether the file begins with exactly these bytes.
    func hasPrefix(_ prefix: [UInt8]) -> Bool {
        count >= prefix.count && prefix.indices.allSatisfy { self[$0] == prefix[$0] }
    }
}

/// Exports that are zip archives, recognised by their members.
struct ArchiveReading {
    private let archive: ZipArchive
    private let source: ExportSource
    private let password: SecretBytes?

    static func read(
        _ source: ExportSource, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        let file = source.file
        // A damaged archive is recognised by the names of members, which also precede their
        // content.
        let archive = try reading(
            file.firstFormat(of: [
                ("export.data", .onePassword), ("proton pass/data.json", .protonPass),
                ("raivo-otp-export.json", .raivo), ("accounts.txt", .authenticatorPlus),
            ])
        ) { () throws(ContainerError) in try ZipArchive(file) }
        return try ArchiveReading(archive: archive, source: source, password: password).rows()
    }

    private func rows() throws(ExportError) -> ExportRows {
        if let document = try content("export.data", .onePassword) {
            return try OnePasswordFormat.read(
                try readExportJSON(document, .onePassword), attachmentCount: attachmentCount)
        }
        if let document = try content("Proton Pass/data.json", .protonPass) {
            return try ProtonPassFormat.read(try readExportJSON(document, .protonPass))
        }
        if let document = try content("raivo-otp-export.json", .raivo) {
            return try JSONFormat.raivo.read(try readExportJSON(document, .raivo), nil)
        }
        if let list = try content("Accounts.txt", .authenticatorPlus) {
            return try URIListFormat.read(list.withoutByteOrderMark, format: .authenticatorPlus)
        }
        if let name = onlyName(endingIn: ".pgp"),
            let message = try content(name, .protonPass)
        {
            return try ProtonPassFormat.read(encrypted: message, password: password)
        }
        if let document = try content("data.json", .bitwarden) {
            return try BitwardenFormat.read(
                try readExportJSON(document, .bitwarden), password: password)
        }
        let steamNames = names { $0.hasSuffix(".mafile") }
        if !steamNames.isEmpty { return try steamRows(steamNames) }
        guard !archive.members.isEmpty else { throw .unreadable(.zipArchive, .emptyArchive) }
        // Any export that the user has zipped; WinAuth zips a list of key URIs.
        guard let name = onlyName(endingIn: ""), let member = try content(name, .zipArchive) else {
            throw .unreadable(.zipArchive, .unknownMembers)
        }
        let inner = ExportSource(member, name: Self.lastPart(of: name), keyFile: source.keyFile)
        return try readRows(inner, password: password, isMember: true)
    }

    /// Reads the files of Steam Desktop Authenticator, with the manifest that is needed to decrypt
    /// them.
    ///
    /// A file that cannot be read is refused, and the error names the file; the other files are
    /// read.
    private func steamRows(_ names: [String]) throws(ExportError) -> ExportRows {
        var manifest: SecretBytes?
        if let name = self.names(where: { $0 == "manifest.json" }).first {
            manifest = try content(name, .steam)
        }
        var rows = ExportRows(.steam)
        var undecrypted = 0
        var isPasswordRight = false
        for name in names {
            switch try steamFile(name, manifest) {
            case .rows(let found, let wasEncrypted):
                isPasswordRight = isPasswordRight || wasEncrypted
                for row in found { try rows.append(row) }
            case .unreadable(let isWrongPassword):
                if isWrongPassword { undecrypted += 1 }
                try rows.append { row throws(ExportRowRefusal) in
                    row.account = Self.lastPart(of: name)
                    throw .unreadableFile
                }
            }
        }
        // If the password opens another file, this file is damaged.
        guard undecrypted == 0 || isPasswordRight else { throw .wrongPassword(.steam) }
        return rows
    }

    private enum SteamFile {
        case rows([ExportRow], wasEncrypted: Bool)
        case unreadable(isWrongPassword: Bool)
    }

    /// Reads a file without the password, and again with it if the file needs one.
    private func steamFile(
        _ name: String, _ manifest: SecretBytes?, password used: SecretBytes? = nil
    ) throws(ExportError) -> SteamFile {
        do {
            let rows = try steamRows(of: name, manifest, password: used)
            return .rows(rows, wasEncrypted: used != nil)
        } catch {
            switch error {
            case .passwordNeeded(.steam):
                guard used == nil, let password else { throw error }
                return try steamFile(name, manifest, password: password)
            case .overLimit, .outOfMemory: throw error
            default: return .unreadable(isWrongPassword: error == .wrongPassword(.steam))
            }
        }
    }

    private func steamRows(
        of name: String, _ manifest: SecretBytes?, password: SecretBytes?
    ) throws(ExportError) -> [ExportRow] {
        guard let file = try content(name, .steam, password: password) else { return [] }
        let inner = ExportSource(file, name: Self.lastPart(of: name), manifest: manifest)
        let found = try readRows(inner, password: password, isMember: true)
        // Without its manifest, an encrypted file looks like a file of a different app.
        guard found.format == .steam else { throw .damaged(.steam) }
        return found.rows
    }

    /// The names of members whose last part, in lower case, meets `condition`.
    private func names(where condition: (String) -> Bool) -> [String] {
        archive.members.map(\.name).filter { condition(Self.lastPart(of: $0).asciiLowercased) }
    }

    private static func lastPart(of name: String) -> String {
        name.split(separator: "/").last.map(String.init) ?? ""
    }

    /// The content of the member with exactly this name; `nil` if there is none.
    private func content(
        _ name: String, _ format: ExportFormat
    ) throws(ExportError) -> SecretBytes? {
        try content(name, format, password: password)
    }

    private func content(
        _ name: String, _ format: ExportFormat, password: SecretBytes?
    ) throws(ExportError) -> SecretBytes? {
        try reading(format) { () throws(ContainerError) in
            guard let member = try archive.member(named: name) else { return nil }
            return try archive.read(member, password: password, limit: ExportLimits.current.bytes)
        }
    }

    /// The name of the archive's member, if it is the only one and ends in `ending`.
    private func onlyName(endingIn ending: String) -> String? {
        let files = archive.members.filter { !$0.name.hasSuffix("/") }
        guard files.count == 1, let name = files.first?.name else { return nil }
        return name.asciiLowercased.hasSuffix(ending) ? name : nil
    }

    private var attachmentCount: Int {
        archive.members.count { $0.name.hasPrefix("files/") && $0.length > 0 }
    }
}

public import WatchwordCryptography

/// The formats in which other apps export their entries.
public enum ExportFormat: String, CaseIterable, Hashable, Sendable {
    case aegis, twoFAS, andOTP, authenticatorPlus, authy, battleNet, bitwarden
    case bitwardenAuthenticator, cotp, duo, ente, freeOTP, freeOTPPlus, gauth, googleAuthenticator
    case googlePAM, keePass, keePassXCCSV, lastPass, microsoftAuthenticator, oathUsersFile
    case onePassword, otpClient, passwordManagerCSV, protonAuthenticator, protonPass, pskc, raivo
    case steam, stratum, totpAuthenticator, uriList, watchwordSheet
    case watchwordVault, winAuth, zipArchive

    /// The name that users know, such as "Aegis".
    public var name: String {
        switch self {
        case .aegis: "Aegis"
        case .twoFAS: "2FAS"
        case .andOTP: "andOTP"
        case .authenticatorPlus: "Authenticator Plus"
        case .authy: "Authy"
        case .battleNet: "Battle.net"
        case .bitwarden: "Bitwarden"
        case .bitwardenAuthenticator: "Bitwarden Authenticator"
        case .cotp: "cotp"
        case .duo: "Duo"
        case .ente: "Ente Auth"
        case .freeOTP: "FreeOTP"
        case .freeOTPPlus: "FreeOTP+"
        case .gauth: "gauth"
        case .googleAuthenticator: "Google Authenticator"
        case .googlePAM: "google-authenticator (PAM)"
        case .keePass: "KeePass"
        case .keePassXCCSV: "KeePassXC"
        case .lastPass: "LastPass Authenticator"
        case .microsoftAuthenticator: "Microsoft Authenticator"
        case .oathUsersFile: "OATH users file"
        case .onePassword: "1Password"
        case .otpClient: "OTPClient"
        case .passwordManagerCSV: "CSV"
        case .protonAuthenticator: "Proton Authenticator"
        case .protonPass: "Proton Pass"
        case .pskc: "PSKC"
        case .raivo: "Raivo"
        case .steam: "Steam"
        case .stratum: "Stratum"
        case .totpAuthenticator: "TOTP Authenticator"
        case .uriList: "list of key URIs"
        case .watchwordSheet: "Watchword sheet"
        case .watchwordVault: "Watchword vault"
        case .winAuth: "WinAuth"
        case .zipArchive: "zip archive"
        }
    }
}

/// Why an export could not be read.
///
/// It names the format and the limit, never the content.
public enum ExportError: Error, Hashable, Sendable {
    /// The content has no known format.
    case unknownFormat
    /// The file is encrypted, and no password was given.
    ///
    /// The format is `nil` if only the password can reveal it: andOTP, Authenticator Plus'
    /// database, OTPClient 1.
    case passwordNeeded(ExportFormat?)
    /// The password is wrong, or the file is damaged; these are indistinguishable.
    case wrongPassword(ExportFormat?)
    /// The file breaks its format's rules.
    case damaged(ExportFormat)
    /// The file begins like JSON, but it is not JSON, or it is truncated.
    case notJSON
    /// The file has a newer version of the format.
    case newerVersion(ExportFormat)
    /// The file cannot be read here.
    ///
    /// The format is `nil` if the obstacle hides it.
    case unreadable(ExportFormat?, ExportObstacle)
    /// A number in the file exceeds what Watchword accepts.
    ///
    /// The format is `nil` if the limit was exceeded before the format was known.
    case overLimit(ExportFormat?, ExportLimit, found: UInt64, allowed: UInt64)
    /// The file has no entry with a one-time password.
    case noEntries(ExportFormat)
    /// There is not enough memory.
    case outOfMemory
}

/// Why a file of a known format cannot be read by this program, or by any program on this machine.
public enum ExportObstacle: UInt8, CaseIterable, Hashable, Sendable {
    /// Bitwarden: the key is in the account; export again with "password protected".
    case accountRestricted
    /// Aegis: the file has no password slot and opens only in the app.
    case noPasswordSlot
    /// OpenPGP or age with a public key: decrypt it first.
    case publicKeyEncryption
    /// KeePass 1, which KeePass 2 and KeePassXC convert.
    case keePass1
    /// UTF-16 text: convert it to UTF-8.
    case utf16
    /// The file uses an algorithm that Watchword does not support.
    case unsupportedAlgorithm
    /// KeePass: the key file is damaged.
    case badKeyFile
    /// The file contains no entries, but is needed to read the files next to it.
    case manifest
    /// A zip archive without members.
    case emptyArchive
    /// A zip archive whose members do not form a known export.
    case unknownMembers
    /// Comma-separated values without a column for one-time passwords that Watchword recognises.
    case unknownColumns
}

/// A limit that a file exceeds.
public enum ExportLimit: UInt8, CaseIterable, Hashable, Sendable {
    case fileSize, documentSize, compressionRatio, archiveMembers, rows, depth
    case iterations, memory, blockSize, parallelism
}

/// A file that may be another app's export, and what is needed to read it.
public struct ExportSource: Sendable {
    /// The content of the file, which may be encrypted.
    public let file: SecretBytes
    /// The file's name without its folder; empty if it has none.
    ///
    /// It is needed only to find the file in a manifest; formats are recognised by their content.
    public let name: String
    /// The manifest next to the file, which Steam Desktop Authenticator needs to decrypt it.
    public let manifest: SecretBytes?
    /// The key file of a KeePass database.
    public let keyFile: SecretBytes?

    /// Combines a file and the files that belong to it.
    public init(
        _ file: SecretBytes, name: String = "", manifest: SecretBytes? = nil,
        keyFile: SecretBytes? = nil
    ) {
        self.file = file
        self.name = name
        self.manifest = manifest
        self.keyFile = keyFile
    }
}

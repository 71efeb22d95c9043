internal import OneTimePassword
public import WatchwordCryptography

/// Entries in the format of another program.
public struct WrittenExport: Sendable {
    /// The file's content; a Google Authenticator export has one URI for each QR code.
    public let documents: [SecretBytes]
    /// The entries that were left out, by their index, with the reason.
    public let omissions: [(entry: Int, reason: EntryOmission)]
    /// The properties that were left out, by the entry's index.
    public let losses: [(entry: Int, property: LostProperty)]
}

/// Writes entries in the format `target`.
///
/// The documents contain keys, in plain text unless there is a password.
///
/// - Parameters:
///   - password: Encrypts the file; for formats that ``ExportTarget/canBeEncrypted`` only.
///   - now: Unix seconds, for formats that state when they were written.
/// - Throws: the error of drawing a QR code, or the failure of OpenSSL.
public func writeExport(
    _ entries: [ExportedEntry], as target: ExportTarget, password: SecretBytes? = nil, now: Int64
) throws -> WrittenExport {
    precondition(password == nil || target.canBeEncrypted, "the format can be encrypted")
    var held: [ExportedEntry] = []
    var omissions: [(entry: Int, reason: EntryOmission)] = []
    var losses: [(entry: Int, property: LostProperty)] = []
    for (index, entry) in entries.enumerated() {
        if let reason = target.omission(of: entry) {
            omissions.append((index, reason))
            continue
        }
        held.append(entry)
        losses += target.losses(of: entry).map { (entry: index, property: $0) }
    }
    return WrittenExport(
        documents: try documents(of: held, target, password, now), omissions: omissions,
        losses: losses)
}

/// The key URI of an entry, as in the format ``ExportTarget/keyURIs``.
public func keyURI(of entry: ExportedEntry) -> SecretBytes { KeyURIWriting.uri(of: entry) }

private func documents(
    of entries: [ExportedEntry], _ target: ExportTarget, _ password: SecretBytes?, _ now: Int64
) throws -> [SecretBytes] {
    switch target {
    case .aegis: [try AegisWriting.document(entries, password: password)]
    case .twoFAS: [try TwoFASWriting.document(entries, password: password, now: now)]
    case .keyURIs: [KeyURIWriting.lines(entries)]
    case .google: MigrationWriting.uris(entries)
    case .sheet: [try SheetWriting.document(entries, now: now)]
    }
}

/// A format in which entries are written for other programs or for printing.
public enum ExportTarget: String, CaseIterable, Hashable, Sendable {
    /// Aegis' JSON, version 1 of the file and version 3 of the content.
    case aegis
    /// 2FAS' JSON, schema 4.
    case twoFAS = "2fas"
    /// One key URI per line.
    case keyURIs = "otpauth"
    /// Google Authenticator's migration URIs, each of which becomes a QR code.
    case google
    /// An HTML page with a QR code and the text of each entry, for printing.
    case sheet

    /// The name that users know.
    public var name: String {
        switch self {
        case .aegis: "Aegis"
        case .twoFAS: "2FAS"
        case .keyURIs: "otpauth"
        case .google: "Google Authenticator"
        case .sheet: "the sheet"
        }
    }

    /// Whether a password can protect the file.
    public var canBeEncrypted: Bool { self == .aegis || self == .twoFAS }
}

extension ExportedEntry {
    /// The issuer; may be empty.
    var issuer: String {
        switch content {
        case .oneTimePassword(let credential): credential.issuer
        case .notComputed(let code): code.issuer
        }
    }

    /// The account; may be empty.
    var account: String {
        switch content {
        case .oneTimePassword(let credential): credential.account
        case .notComputed(let code): code.account
        }
    }
}

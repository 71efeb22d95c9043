/// A format in which entries are written for other programs or for printing.
public enum ExportTarget: String, CaseIterable, Hashable, Sendable {
    /// Aegis' JSON.
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

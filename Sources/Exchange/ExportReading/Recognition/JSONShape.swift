internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

/// The formats of JSON exports, which are recognised by their keys.
enum JSONShape {
    case aegis, twoFAS, andOTP, raivo, duo, authy, freeOTPPlus, ente, uriList, bitwarden
    case cotp, protonAuthenticator, protonPass, lastPass, steam, steamManifest, stratum
    case totpAuthenticator

    init?(_ document: JSONValue) {
        if let elements = document.elements {
            // A row of another shape must not hide the format.
            for element in elements {
                if let shape = Self(element: element) {
                    self = shape
                    return
                }
            }
            return nil
        }
        func has(_ names: String...) -> Bool { names.allSatisfy { document[$0] != nil } }
        if has("version", "header", "db") || Self.isAegisDatabase(document) {
            self = .aegis
        } else if has("schemaVersion", "services") || has("schemaVersion", "servicesEncrypted") {
            self = .twoFAS
        } else if has("tokens", "tokenOrder") {
            self = .freeOTPPlus
        } else if has("kdfParams", "encryptedData", "encryptionNonce") {
            self = .ente
        } else if has("nonce", "salt", "cipher") || has("version", "elements") {
            self = .cotp
        } else if Self.isURIList(document["items"]) {
            self = .uriList
        } else if Self.contains("steamid", in: document["entries"]?.elements),
            Self.contains("filename", in: document["entries"]?.elements)
        {
            self = .steamManifest
        } else if document["vaults"]?.members != nil {
            // Before Bitwarden: Proton Pass, too, states whether the file is encrypted.
            self = .protonPass
        } else if document["encrypted"]?.truth != nil || has("items", "folders")
            || has("items", "collections")
        {
            self = .bitwarden
        } else if Self.isProtonAuthenticator(document) {
            self = .protonAuthenticator
        } else if Self.contains("issuerName", in: document["accounts"]?.elements) {
            self = .lastPass
        } else if has("shared_secret")
            || Self.contains("shared_secret", in: document["accounts"]?.members?.map(\.1))
        {
            self = .steam
        } else if has("Authenticators") {
            self = .stratum
        } else if let members = document.members, members.count == 1,
            members[0].0.utf8.first == UInt8(ascii: "[")
        {
            self = .totpAuthenticator
        } else {
            return nil
        }
    }

    /// Recognises the format of a list by one of its elements.
    private init?(element: JSONValue) {
        func has(_ names: String...) -> Bool { names.allSatisfy { element[$0] != nil } }
        if has("otpGenerator") {
            self = .duo
        } else if has("otp", "secret") {
            self = .twoFAS
        } else if has("kind", "timer", "secret") {
            self = .raivo
        } else if has("secret", "label", "type", "algorithm") {
            self = .andOTP
        } else if has("encryptedSecret") || has("decryptedSecret") || has("secretSeed") {
            self = .authy
        } else {
            return nil
        }
    }

    private static func isURIList(_ items: JSONValue?) -> Bool {
        items?.elements?.contains { $0.secretText != nil || $0["rawData"] != nil } ?? false
    }

    private static func contains(_ name: String, in list: [JSONValue]?) -> Bool {
        list?.contains { $0[name] != nil } ?? false
    }

    /// Whether the document is the database of an Aegis export, without the export around it.
    private static func isAegisDatabase(_ document: JSONValue) -> Bool {
        document["version"] != nil
            && document["entries"]?.elements?.contains { $0["info"]?["secret"] != nil } ?? false
    }

    private static func isProtonAuthenticator(_ document: JSONValue) -> Bool {
        if let entries = document["entries"]?.elements {
            return entries.contains { $0["content"]?["uri"] != nil }
        }
        return document["salt"] != nil && document["content"] != nil
    }

    func read(_ document: JSONValue, password: SecretBytes?) throws(ExportError) -> ExportRows {
        switch self {
        case .aegis: try AegisFormat.read(document, password: password)
        case .twoFAS: try TwoFASFormat.read(document, password: password)
        case .andOTP: try AndOTPFormat.read(document)
        case .raivo: try RaivoJSON.read(document)
        case .duo: try DuoFormat.read(document)
        case .freeOTPPlus: try FreeOTPPlusFormat.read(document)
        case .cotp: try CotpFormat.read(document, password: password)
        case .ente: try EnteFormat.read(document, password: password)
        case .uriList: try URIListFormat.read(document)
        case .bitwarden: try BitwardenFormat.read(document, password: password)
        case .protonAuthenticator:
            try ProtonAuthenticatorFormat.read(document, password: password)
        case .lastPass: try LastPassFormat.read(document)
        case .steam: try SteamFormat.read(document)
        case .steamManifest: throw .unreadable(.steam, .manifest)
        case .stratum: try StratumFormat.read(document)
        case .totpAuthenticator: try TOTPAuthenticatorJSON.read(document)
        case .authy: try AuthyFormat.read(document, password: password)
        case .protonPass: try ProtonPassFormat.read(document)
        }
    }
}

internal import Exports
internal import OneTimePassword
internal import WatchwordCryptography

/// A preferences file of an Android app: names and texts; other values are left out.
struct AndroidPreferences {
    /// The texts in their order; the names may contain those of accounts.
    let texts: [(name: String, value: SecretBytes)]

    init(_ map: XMLElement) {
        texts = map.children(named: "string").compactMap { element in
            element.attributeString("name").map { ($0, element.text) }
        }
    }

    /// The text whose name is `name`, or ends in it.
    subscript(ending name: String) -> SecretBytes? {
        texts.first { $0.name.hasSuffix(name) }?.value
    }

    func read(password: SecretBytes?) throws(ExportError) -> ExportRows {
        if let tokens = authyTokens {
            return try AuthyFormat.read(tokens, password: password)
        }
        if texts.contains(where: { $0.name.hasPrefix("com.blizzard.messenger.AUTHENTICATOR_") }) {
            return try BattleNetFormat.read(self)
        }
        if let list = self[ending: "STATIC_TOTP_CODES_LIST"] {
            return try TOTPAuthenticatorJSON.readItems(
                try readExportJSON(list, .totpAuthenticator))
        }
        if texts.contains(where: { $0.name == "masterKey" }) {
            return try FreeOTP2Format.read(
                members: texts.map { ($0.name, $0.value) }, password: password)
        }
        guard FreeOTPPreferences.isRecognised(self) else { throw .unknownFormat }
        return try FreeOTPPreferences.read(self)
    }

    private var authyTokens: SecretBytes? {
        texts.first { text in
            text.name.hasPrefix("com.authy.storage.tokens.")
                && (text.name.hasSuffix("authenticator.key") || text.name.hasSuffix("authy.key"))
        }?.value
    }
}

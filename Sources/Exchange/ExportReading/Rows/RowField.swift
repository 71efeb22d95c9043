internal import Exports
internal import WatchwordCoding
internal import WatchwordCryptography

/// One value of a row, and the member or column that states it.
///
/// A list of these is the map of a simple format: the fields are read in its order, so that a
/// refused row is reported with the values before the one that was refused. `info.secret` is the
/// member `secret` of the object `info`. An absent value is empty; only a name that was read before
/// stays.
enum RowField: Sendable {
    /// A name; of several, the first that is not empty.
    ///
    /// - Parameter unless: A member whose presence hides this name, even if it is empty.
    case issuer(String, unless: String? = nil)
    case account(String, unless: String? = nil)
    /// An account that is preceded by the issuer and this separator, unless the file has another
    /// member for the issuer.
    case label(String, String, unless: String)
    /// A name that the file does not state.
    case fixedIssuer(String)
    case note(String)
    /// The name of an icon; a value of a different type is left out.
    case icon(String)
    /// A list of tags.
    case tags(String)
    /// The only tag of the row.
    case tag(String)
    case favourite(String)
    /// The same as the text "true"; a value of a different type is left out.
    case favouriteText(String)

    /// The word for a type; unknown if it is absent.
    case type(String)
    /// The word for a type; TOTP if it is absent or empty.
    case optionalType(String)
    /// A number that stands for one of these types, the first of which stands for 0 or `null`.
    case numberedType(String, [ExportRow.Kind])
    /// A type that the file does not state.
    case fixedType(ExportRow.Kind)

    case base32(String)
    case base64(String)
    case hex(String)
    /// A list of signed or unsigned numbers.
    case bytes(String)
    /// A complete field: a key URI, or a bare secret.
    case uri(String)
    case pin(String)

    case algorithm(String)
    /// A number that stands for one of these algorithms, the first of which stands for 0 or `null`.
    case numberedAlgorithm(String, [String])
    case digits(String)
    case period(String)
    case counter(String)
    /// A number that the app writes as text.
    case digitsText(String)
    case periodText(String)
    case counterText(String)
    case fixedDigits(Int64)

    /// A member that must be an object.
    case object(String, isOptional: Bool = false)
    /// If the type, which was read before, is Mobile-OTP: how the secret's text is derived from the
    /// Base32 text.
    case motp(MOTPSecret)

    enum MOTPSecret {
        /// The text itself, although it looks like Base32.
        case asWritten
        /// The decoded bytes are the text.
        case decoded
        /// The decoded bytes in lower-case hexadecimal digits are the text.
        case decodedToHex
    }
}

extension ExportRow {
    /// Reads the fields in this order.
    ///
    /// - Throws: the reason for which the row is refused.
    mutating func fill(
        _ fields: [RowField], from source: some RowFields
    ) throws(ExportRowRefusal) {
        for field in fields { try fill(field, from: source) }
    }

    private mutating func fill(
        _ field: RowField, from source: some RowFields
    ) throws(ExportRowRefusal) {
        switch field {
        case .issuer(let name, let other):
            guard issuer.isEmpty, try !source.has(other) else { return }
            issuer = try source.text(name)
        case .account(let name, let other):
            guard account.isEmpty, try !source.has(other) else { return }
            account = try source.text(name)
        case .label(let name, let separator, let other):
            account = try source.text(name)
            if try !source.has(other) { splitAccount(at: separator) }
        case .fixedIssuer(let name): issuer = name
        case .note(let name): note = try source.text(name)
        case .icon(let name): icon = try source.value(name)?.string ?? ""
        case .tags(let name): tags = try source.texts(name)
        case .tag(let name): tags = [try source.text(name)]
        case .favourite(let name): isFavourite = try source.flag(name)
        case .favouriteText(let name):
            let value = try source.value(name)
            isFavourite = value?.string == "true" || value?.truth == true

        case .type(let name): kind = Kind(word: try source.text(name))
        case .optionalType(let name):
            let word = try source.text(name)
            kind = word.isEmpty ? .totp : Kind(word: word)
        case .numberedType(let name, let kinds):
            kind = source.choice(name, of: kinds) ?? .unknown
        case .fixedType(let fixed): kind = fixed

        case .base32(let name): secret = try source.secret(name).map { .base32($0) } ?? .none
        case .base64(let name): try fillBase64(try source.secret(name))
        case .hex(let name): secret = try source.secret(name).map { .hex($0) } ?? .none
        case .bytes(let name): secret = try source.bytes(name).map { .bytes($0) } ?? .none
        case .uri(let name): secret = try source.secret(name).map { .field($0) } ?? .none
        case .pin(let name): pin = try source.secret(name)

        case .algorithm(let name): algorithm = try source.text(name)
        case .numberedAlgorithm(let name, let algorithms):
            guard let choice = source.choice(name, of: algorithms) else { throw .unknownAlgorithm }
            algorithm = choice
        case .digits(let name): digits = source.number(name)
        case .period(let name): period = source.number(name)
        case .counter(let name): counter = source.number(name)
        case .digitsText(let name): digits = try source.numberText(name)
        case .periodText(let name): period = try source.numberText(name)
        case .counterText(let name): counter = try source.numberText(name)
        case .fixedDigits(let number): digits = .value(number)

        case .object(let name, let isOptional):
            guard let value = try source.value(name) else {
                if isOptional { return }
                throw .malformed
            }
            guard value.members != nil else { throw .malformed }
        case .motp(let form): if kind == .motp { try useText(form) }
        }
    }

    /// Takes a secret in Base64.
    private mutating func fillBase64(_ text: SecretBytes?) throws(ExportRowRefusal) {
        guard let text else { throw .noSecret }
        guard let bytes = text.decodedBase64() else { throw .badSecret }
        secret = .bytes(bytes)
    }

    /// Replaces a Base32 secret by the text that Mobile-OTP hashes.
    private mutating func useText(_ form: RowField.MOTPSecret) throws(ExportRowRefusal) {
        guard case .base32(let text) = secret else {
            if case .asWritten = form { return }
            throw .noSecret
        }
        if case .asWritten = form {
            secret = .text(text)
            return
        }
        guard let bytes = text.decodedBase32()?.secret else { throw .badSecret }
        if case .decoded = form {
            secret = .text(bytes)
        } else {
            secret = .text(bytes.encodedHex())
        }
    }
}

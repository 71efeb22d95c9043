import Courier
import DeviceLogin
import Devices
import OneTimePassword
import QRDrawing
import SecretVault

// Keys, codes and QR codes.
extension Messages {
    /// The length of the codes of the entry with this name; without a name, of codes with the
    /// options' parameters.
    static func sentence(forCodesIn style: CodeStyle, _ name: EntryName?) -> String {
        let count = style.length
        let characters = style == .steam ? "character" : "digit"
        let form = "\(count) \(characters)\(count == 1 ? "" : "s")"
        return name.map { "a code of “\($0.visible)” has \(form)" }
            ?? "a code must have \(form); see --digits"
    }

    static func sentence(for error: OneTimePasswordError) -> String {
        switch error {
        case .notBase32(let position): "character \(position + 1) is not Base32 (A–Z, 2–7)"
        case .notHexadecimal(let position):
            "character \(position + 1) is not a hexadecimal digit (0–9, a–f)"
        case .oddDigitCount: "an odd number of hexadecimal digits; the key may be incomplete"
        case .notStrict(let warning): sentence(for: warning)
        case .emptyKey: "the key is empty"
        case .spaceAround(let part):
            "\(name(of: part)) begins or ends with a space or a character that looks like one; "
                + "remove it"
        case .tooLong: "the issuer, account and key are too long for one otpauth:// URI"
        case .parameter(let position): "parameter \(position) is reserved or a duplicate"
        case .notAKeyURI: "not an otpauth:// URI"
        case .unknownType: "the URI has an unknown type; use totp, hotp or steam"
        case .doubled(let part): "the URI contains \(name(of: part)) twice"
        case .unknownAlgorithm: "unknown algorithm; use SHA-1, SHA-256 or SHA-512"
        case .unknownEncoder: "the URI has an unknown encoder"
        case .notANumber(let part): "\(name(of: part)) is not a number"
        case .outOfRange(let part): "\(name(of: part)) is out of range"
        case .otherMovingFactor: "--at and --next do not apply to a counter-based entry"
        case .beforeStart: "the time is before the first period; see --t0"
        }
    }

    /// The reason why a key URI was refused.
    static func sentence(forURI error: OneTimePasswordError) -> String {
        switch error {
        case .notBase32: "the key in the URI: " + sentence(for: error)
        case .emptyKey: "the URI has no key"
        case .tooLong: "the URI is too long"
        case .notHexadecimal, .oddDigitCount, .notStrict, .spaceAround, .parameter, .notAKeyURI,
            .unknownType, .doubled, .unknownAlgorithm, .unknownEncoder, .notANumber, .outOfRange,
            .otherMovingFactor, .beforeStart:
            sentence(for: error)
        }
    }

    static func sentence(for error: QRDrawingError) -> String {
        switch error {
        case .empty: "no text to encode"
        case .tooLong(let limit): "the text is too long; a QR code holds \(limit) bytes"
        case .libraryMissing(let name): sentence(forMissing: name)
        case .encodingFailed: "libqrencode failed; the system may be out of memory"
        case .noMemoryForPicture: "libpng failed; the system may be out of memory"
        }
    }

    /// The sentence for a missing system library.
    static func sentence(forMissing library: String) -> String {
        "the library \(library) is missing; on Debian, run apt install libqrencode4 libpng16-16"
    }

    /// The warning for a deviation that may mean that the key is incomplete; `nil` for a harmless
    /// one.
    static func warning(of tolerance: Base32Deviation) -> String? {
        switch tolerance {
        case .nonzeroTrailingBits, .strayCharacter:
            name(of: tolerance) + "; the key may be incomplete"
        case .lowerCase, .spaces, .dashes, .padding: nil
        }
    }

    static func name(of tolerance: Base32Deviation) -> String {
        switch tolerance {
        case .lowerCase: "lower-case letters"
        case .spaces: "spaces"
        case .dashes: "dashes"
        case .padding: "padding"
        case .nonzeroTrailingBits: "leftover bits at the end"
        case .strayCharacter: "a leftover character at the end"
        }
    }

    static func name(of part: KeyURIPart) -> String {
        switch part {
        case .scheme: "the scheme"
        case .type: "the type"
        case .label: "the label"
        case .issuer: "the issuer"
        case .account: "the account"
        case .secret: "the key"
        case .algorithm: "the algorithm"
        case .digits: "the number of digits"
        case .period: "the period"
        case .counter: "the counter"
        case .start: "the start (t0)"
        case .encoder: "the encoder"
        case .parameter(let position): "parameter \(position)"
        }
    }

    /// A deviation that was tolerated in a key URI.
    static func sentence(for warning: KeyURIWarning) -> String {
        switch warning {
        case .appleScheme: "the scheme is apple-otpauth"
        case .spacesAroundURI: "spaces around the URI were removed"
        case .spacesAround(let part): "spaces around \(name(of: part)) were removed"
        case .rawSpace(let part): "a space in \(name(of: part)) is not percent-encoded"
        case .rawNonASCII(let part): "a character in \(name(of: part)) is not percent-encoded"
        case .readAsLatin1(let part): "\(name(of: part)) is not UTF-8; it was read as Latin-1"
        case .rawHash(let part): "“#” in \(name(of: part)) is not percent-encoded"
        case .rawPercent(let part): "“%” in \(name(of: part)) is not percent-encoded"
        case .plusAsSpace(let part): "“+” in \(name(of: part)) was read as a space"
        case .plusKept(let part): "“+” in \(name(of: part)) was kept as a plus sign"
        case .emptyLabel: "the URI has no label"
        case .emptyIssuer: "the issuer is empty"
        case .severalColons: "the label has several colons; the first one ends the issuer"
        case .issuersDiffer: "the label and the issuer parameter differ; the parameter was used"
        case .parameterName(let part): "the name of \(name(of: part)) is not in lower case"
        case .emptyValue(let part): "\(name(of: part)) has no value and was ignored"
        case .emptyParameter: "the URI has an empty parameter"
        case .key(let tolerance): "the key has " + name(of: tolerance)
        case .algorithmSpelling: "the algorithm's name has an unusual spelling"
        case .missingCounter: "the URI has no counter; it was read as 0"
        case .steamByIssuer: "read as Steam Guard because of the issuer"
        case .steamByEncoder: "read as Steam Guard because of the encoder"
        case .unknownParameter(let part):
            "\(name(of: part)) is unknown; it was kept but is not used"
        case .misnamedParameter(let misnomer):
            "“\(misnomer.name)” is not a known parameter and is not used; if it means "
                + "\(name(of: misnomer.part)), codes will be wrong"
        case .otherType(let part): "\(name(of: part)) does not apply to this type; it is not used"
        }
    }

    /// A deviation from the standards that issuers use in practice.
    static func sentence(for warning: CredentialWarning) -> String {
        switch warning {
        case .shortKey(let bits): "the key has \(bits) bits; RFC 4226 requires 128"
        case .digits(let digits): "codes have \(digits) digits; RFC 4226 allows 6 to 8"
        case .longPeriod(let seconds):
            "a code is valid for \(seconds) s; more than 120 s is too long"
        }
    }
}

// Signing in with a device key.
extension Messages {
    static func sentence(forKey error: DeviceLoginError) -> String {
        switch error {
        case .otherKind, .deviceKey: "not a device key; see watchword key enrol --help"
        case .unregistered:
            "the server has not confirmed the key; run watchword key enrol again, with the same "
                + "ticket or a different one"
        case .otherPlace:
            "an earlier run with this ticket made the key elsewhere, or without a PIN; use the same options "
                + "as that run, or request a new ticket"
        case .adoptedElsewhere:
            "the server has registered the key that an earlier run made elsewhere, or without a PIN; that "
                + "key is in use now, and the ticket was not used; to replace the key, run the command "
                + "again"
        case .unreadable:
            "the key was stored by a different version of Watchword; enrol the device again"
        case .denied:
            "the server denied the signature; the key was kept; try again, or enrol the device again"
        case .wipeNotObeyed:
            "the server denied the signature and ordered a wipe without a valid reason; the key "
                + "was kept"
        case .wiped(let reason): sentence(forWiped: reason, "key")
        case .unexpectedResponse: "the server sent an invalid response; the key was kept"
        case .otherTPM:
            "the system agent uses only this computer's TPM (device:/dev/tpmrm0); run the command "
                + "without --tpm"
        case .token(.otherDevice):
            "the key was made by a different TPM, or this one was cleared; enrol the device again"
        case .token(.badRequest):
            "the TPM does not accept the stored key; enrol the device again"
        default: sentence(for: error)
        }
    }

    /// The location of a device key.
    static func place(of key: KeyState) -> String {
        let place =
            switch key.custody {
            case .vault: "the vault"
            case .tpm: "the TPM"
            case .attestedTPM: "the TPM (verified by the server)"
            }
        return key.requiresPIN ? "\(place); it requires the PIN" : place
    }

    /// The note if an enrolment found the key of an earlier run.
    static let adoptedKey =
        "This is the key of an earlier run, which the server has registered, so the ticket was not "
        + "used. To replace the key, run the command again."
}

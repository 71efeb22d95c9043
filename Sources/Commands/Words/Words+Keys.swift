import OneTimePassword
import SymbolDrawing

// Keys, codes, symbols.
extension Words {
    static func sentence(for error: CredentialError) -> String {
        switch error {
        case .emptyKey: "the key is empty"
        case .spaceAround(.issuer):
            "the issuer begins or ends with a space, or with a character that looks like one; leave it out"
        case .spaceAround(.account):
            "the account begins or ends with a space, or with a character that looks like one; leave it out"
        case .tooLong: "the names and the key are too long together for a key URI"
        case .parameter(let position): "parameter \(position) is one that is known, or a double"
        }
    }

    static func sentence(for error: SymbolDrawingError) -> String {
        switch error {
        case .empty: "there is no text to draw"
        case .tooLong(let limit): "the text is too long; a symbol holds \(limit) bytes"
        case .libraryMissing(let name): sentence(forMissing: name)
        case .libraryFailed: "libqrencode could not draw the symbol; is there memory left?"
        }
    }

    /// A library of the system is missing.
    static func sentence(forMissing library: String) -> String {
        "the library \(library) is missing; on Debian: apt install libqrencode4 libpng16-16"
    }

    static func sentence(for error: Base32Error) -> String {
        switch error {
        case .character(let position):
            "character \(position + 1) does not belong to Base32 (A to Z, 2 to 7)"
        case .notStrict(let tolerance): "not Base32 as it should be: " + name(of: tolerance)
        }
    }

    /// What is worth a warning about a key that was read; the rest harms nobody.
    static func warning(of tolerance: Base32Tolerance) -> String? {
        switch tolerance {
        case .looseBits, .strayCharacter: name(of: tolerance) + "; was all of the key copied?"
        case .lowerCase, .spaces, .dashes, .padding: nil
        }
    }

    static func name(of tolerance: Base32Tolerance) -> String {
        switch tolerance {
        case .lowerCase: "small letters"
        case .spaces: "spaces"
        case .dashes: "dashes"
        case .padding: "padding"
        case .looseBits: "bits are left at the end"
        case .strayCharacter: "a character is left at the end"
        }
    }

    static func sentence(for error: KeyURIError) -> String {
        switch error {
        case .notAKeyURI: "this is no otpauth:// address"
        case .tooLong: "the address is longer than any that is read"
        case .unknownType: "the address is of another type than totp, hotp or steam"
        case .doubled(let part): "\(name(of: part)) is there twice in the address"
        case .missingKey: "there is no key in the address"
        case .key(let error): "the key in the address: " + sentence(for: error)
        case .unknownAlgorithm: "the algorithm is none of SHA-1, SHA-256 and SHA-512"
        case .unknownEncoder: "the address asks for an unknown form of codes"
        case .notANumber(let part): "\(name(of: part)) is no number"
        case .outOfRange(let part): "\(name(of: part)) is out of range"
        case .notStrict(let warning): sentence(for: warning)
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

    /// What an address left to be understood.
    static func sentence(for warning: KeyURIWarning) -> String {
        switch warning {
        case .appleScheme: "the scheme is Apple's own, apple-otpauth"
        case .spacesAroundURI: "there are spaces around the address"
        case .spacesAround(let part): "there are spaces around \(name(of: part)); they are dropped"
        case .rawSpace(let part): "a space in \(name(of: part)) is not encoded"
        case .rawNonASCII(let part): "a character in \(name(of: part)) is not encoded"
        case .readAsLatin1(let part): "\(name(of: part)) is no UTF-8; it was read as Latin-1"
        case .rawHash(let part): "“#” in \(name(of: part)) is not encoded"
        case .rawPercent(let part): "“%” in \(name(of: part)) is not encoded"
        case .plusAsSpace(let part): "“+” in \(name(of: part)) was read as a space"
        case .plusKept(let part): "“+” in \(name(of: part)) was read as itself"
        case .emptyLabel: "there is no label"
        case .emptyIssuer: "the issuer is empty"
        case .severalColons: "the label has several colons; the first one ends the issuer"
        case .issuersDiffer: "the label names another issuer; the parameter counts"
        case .parameterName(let part): "the name of \(name(of: part)) is not in small letters"
        case .emptyValue(let part): "\(name(of: part)) has no value and counts as absent"
        case .emptyParameter: "there is an empty parameter"
        case .key(.looseBits): "bits are left at the end of the key"
        case .key(.strayCharacter): "a character is left at the end of the key"
        case .key(let tolerance): "the key has " + name(of: tolerance)
        case .algorithmSpelling: "the algorithm's name is written in another way"
        case .missingCounter: "there is no counter; it was read as 0"
        case .steamByIssuer: "read as Steam Guard because of the issuer"
        case .steamByEncoder: "read as Steam Guard because of the encoder"
        case .unknownParameter(let part): "\(name(of: part)) is not known; it is kept and not used"
        case .misnamedParameter(let misnomer):
            "“\(misnomer.name)” is no known parameter and is not used; if it means "
                + "\(name(of: misnomer.part)), codes will be wrong"
        case .otherType(let part): "\(name(of: part)) belongs to the other type; it is not used"
        }
    }

    /// What the standards do not allow, though issuers hand it out.
    static func sentence(for warning: CredentialWarning) -> String {
        switch warning {
        case .shortKey(let bits): "the key has \(bits) bits; RFC 4226 asks for 128"
        case .digits(let digits): "codes have \(digits) digits; RFC 4226 has 6 to 8"
        case .longPeriod(let seconds): "a code lasts \(seconds) s; more than 120 is too long"
        }
    }
}

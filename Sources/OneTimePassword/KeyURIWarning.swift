/// A part of a key URI, for warnings and errors.
public enum KeyURIPart: Hashable, Sendable {
    case scheme, type, label, issuer, account
    case secret, algorithm, digits, period, counter, start, encoder
    /// A parameter without a meaning here, by its place among all, counted from one.
    case parameter(Int)
}

/// How a key URI strays from the format, and is understood all the same.
public enum KeyURIWarning: Hashable, Sendable {
    /// `apple-otpauth:`, which only Apple's own programs ask for.
    case appleScheme
    /// Spaces, tabs or line breaks around the whole.
    case spacesAroundURI
    /// Spaces around a name, which are dropped.
    case spacesAround(KeyURIPart)
    /// A space that is not percent-encoded.
    case rawSpace(KeyURIPart)
    /// A character beyond ASCII that is not percent-encoded.
    case rawNonASCII(KeyURIPart)
    /// Bytes that are no UTF-8 and were read as Latin-1.
    case readAsLatin1(KeyURIPart)
    /// `#`, which begins a fragment in any other URI and is taken as itself.
    case rawHash(KeyURIPart)
    /// `%` without two hexadecimal digits behind it, which is taken as itself.
    case rawPercent(KeyURIPart)
    /// `+` in a parameter, which is read as a space, as forms write it, unless the label has the
    /// plus sign.
    case plusAsSpace(KeyURIPart)
    /// `+` in a parameter, which is read as itself, since the label has it, too.
    case plusKept(KeyURIPart)
    /// No label at all.
    case emptyLabel
    /// An issuer that is there and empty, which counts as none.
    case emptyIssuer
    /// More than one bare colon in the label; the first one ends the issuer.
    case severalColons
    /// The issuer parameter says something else than the label; the parameter counts.
    case issuersDiffer
    /// A parameter's name is not in small letters.
    case parameterName(KeyURIPart)
    /// A parameter has no value and counts as absent.
    case emptyValue(KeyURIPart)
    /// Two `&` side by side, or one at the end.
    case emptyParameter
    /// The key is not Base32 as it should be.
    case key(Base32Tolerance)
    /// The algorithm's name is written in another way, such as `SHA-1`, `sha256` or `HmacSHA512`.
    case algorithmSpelling
    /// HOTP without its counter, which is taken as 0.
    case missingCounter
    /// Steam Guard is meant, told by the issuer alone.
    case steamByIssuer
    /// Steam Guard is meant, told by `encoder=steam`.
    case steamByEncoder
    /// A parameter that belongs to the other type, such as a period for HOTP; it is kept and not
    /// used.
    case otherType(KeyURIPart)
    /// A parameter whose name means nothing here; it is kept and not used.
    ///
    /// Its name is not said: a stray `&` makes a name out of a piece of the key.
    case unknownParameter(KeyURIPart)
    /// A parameter that stands for a known one in other programs or by a mishap, such as `step` or
    /// `amp;digits`; it is kept and not used, and so codes may differ.
    case misnamedParameter(name: KeyURIMisnomer)
}

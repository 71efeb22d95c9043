/// A part of a key URI, for warnings and errors.
public enum KeyURIPart: Hashable, Sendable {
    case scheme, type, label, issuer, account
    case secret, algorithm, digits, period, counter, start, encoder
    /// A parameter that is not interpreted here, by its position among all parameters, counted from
    /// one.
    case parameter(Int)
}

/// A deviation from the key URI format, accepted by a lenient reading.
public enum KeyURIWarning: Hashable, Sendable {
    /// `apple-otpauth:`, which only Apple's software uses.
    case appleScheme
    /// Spaces, tabs or line breaks around the URI.
    case spacesAroundURI
    /// Spaces around a name; they are removed.
    case spacesAround(KeyURIPart)
    /// A space that is not percent-encoded.
    case rawSpace(KeyURIPart)
    /// A non-ASCII character that is not percent-encoded.
    case rawNonASCII(KeyURIPart)
    /// Bytes that are not UTF-8 and were read as Latin-1.
    case readAsLatin1(KeyURIPart)
    /// `#`, which begins a fragment in any other URI; it is read literally.
    case rawHash(KeyURIPart)
    /// `%` that is not followed by two hexadecimal digits; it is read literally.
    case rawPercent(KeyURIPart)
    /// `+` in a parameter, read as a space as in forms, unless the label contains the plus sign.
    case plusAsSpace(KeyURIPart)
    /// `+` in a parameter, read literally because the label also contains it.
    case plusKept(KeyURIPart)
    /// The label is missing.
    case emptyLabel
    /// An empty issuer, which is treated as absent.
    case emptyIssuer
    /// More than one unencoded colon in the label; the first one ends the issuer.
    case severalColons
    /// The issuer parameter differs from the label; the parameter takes precedence.
    case issuersDiffer
    /// A parameter's name is not in lower case.
    case parameterName(KeyURIPart)
    /// A parameter has no value and is treated as absent.
    case emptyValue(KeyURIPart)
    /// Two consecutive `&`, or one at the end.
    case emptyParameter
    /// The key deviates from Base32.
    case key(Base32Deviation)
    /// The algorithm's name has another spelling, such as `SHA-1`, `sha256` or `HmacSHA512`.
    case algorithmSpelling
    /// HOTP without a counter, which is treated as 0.
    case missingCounter
    /// Steam Guard, identified only by the issuer.
    case steamByIssuer
    /// Steam Guard, identified by `encoder=steam`.
    case steamByEncoder
    /// A parameter of the other type, such as a period for HOTP; it is kept but not used.
    case otherType(KeyURIPart)
    /// An unknown parameter; it is kept but not used.
    ///
    /// Its name is not reported, because a stray `&` can turn part of the key into a name.
    case unknownParameter(KeyURIPart)
    /// A name that other programs use, or that an error produced, for a known parameter, such as
    /// `step` or `amp;digits`; it is kept but not used, so codes may be wrong.
    case misnamedParameter(name: KeyURIParameterAlias)
}

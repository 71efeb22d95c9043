/// The parameters that are interpreted here.
enum KeyURIParameter: String, CaseIterable {
    case secret, issuer, algorithm, digits, encoder, period, counter
    /// The start of the time steps (T0). The name is ours; the format has none for it.
    case start = "t0"

    /// Recognises a lowercase name.
    init?(_ name: String) { self.init(rawValue: name) }

    var part: KeyURIPart {
        switch self {
        case .secret: .secret
        case .issuer: .issuer
        case .algorithm: .algorithm
        case .digits: .digits
        case .encoder: .encoder
        case .period: .period
        case .counter: .counter
        case .start: .start
        }
    }

    /// Whether the parameter applies to HOTP (`isHOTP`) or to TOTP.
    func belongs(isHOTP: Bool) -> Bool {
        switch self {
        case .counter: isHOTP
        case .period, .start: !isHOTP
        default: true
        }
    }
}

/// A wrong name for a known parameter.
///
/// The list is fixed, so that reporting a name never reveals other content of a URI.
public struct KeyURIParameterAlias: Hashable, Sendable {
    /// The name in lower case.
    public let name: String
    /// The part that the wrong name most likely stands for.
    public let part: KeyURIPart

    private static let synonyms: [String: KeyURIPart] = [
        "algo": .algorithm, "alg": .algorithm, "hash": .algorithm, "digest": .algorithm,
        "digit": .digits, "length": .digits, "step": .period, "steps": .period,
        "timestep": .period, "interval": .period, "seconds": .period, "count": .counter,
        "offset": .start, "epoch": .start,
    ]
    /// The rest of `&amp;`, which is `&` in HTML.
    private static let entity = "amp;"

    /// Recognises a lowercase name.
    public init?(_ name: String) {
        let part: KeyURIPart?
        if name.hasPrefix(KeyURIParameterAlias.entity) {
            part = KeyURIParameter(String(name.dropFirst(KeyURIParameterAlias.entity.count)))?.part
        } else {
            part = KeyURIParameterAlias.synonyms[name]
        }
        guard let part else { return nil }
        self.name = name
        self.part = part
    }
}

/// The parameters of a key URI: the positions of known values, and the other parameters unchanged.
struct KeyURIQuery {
    /// Whether the type is HOTP.
    ///
    /// This determines whether a period or a counter applies.
    let isHOTP: Bool
    private(set) var values: [KeyURIParameter: Range<Int>] = [:]
    private(set) var others: [Credential.Parameter] = []
    private var otherNames: Set<String> = []
    private var known: Set<KeyURIParameter> = []
    private var count = 0

    /// Parameters that other programs use for display and that do not affect codes.
    private static let decorations: Set<String> = [
        "image", "imageurl", "icon", "logo", "color", "colour", "foreground", "background", "group",
        "tag", "tags", "note",
    ]

    init(isHOTP: Bool) { self.isHOTP = isHOTP }

    /// Reads the `name=value` pair at `piece`.
    mutating func take(
        _ piece: Range<Int>, of text: Span<UInt8>, for parser: inout KeyURIParser
    ) throws(OneTimePasswordError) {
        guard !piece.isEmpty else {
            parser.warnings.append(.emptyParameter)
            return
        }
        count += 1
        let place = KeyURIPart.parameter(count)
        let equals = text.firstIndex(of: UInt8(ascii: "="), in: piece)
        let value = (equals.map { $0 + 1 } ?? piece.upperBound)..<piece.upperBound
        let name = parser.text(
            text.extracting(piece.lowerBound..<(equals ?? piece.upperBound)), place, plus: .space)
        let plainName = name.asciiLowercased
        guard let parameter = KeyURIParameter(plainName) else {
            guard otherNames.insert(plainName).inserted else { throw .doubled(place) }
            let value = parser.text(text.extracting(value), place, plus: .space)
            others.append(Credential.Parameter(name: name, value: value))
            if let misnomer = KeyURIParameterAlias(plainName) {
                parser.warnings.append(.misnamedParameter(name: misnomer))
            } else if !KeyURIQuery.decorations.contains(plainName) {
                parser.warnings.append(.unknownParameter(place))
            }
            return
        }
        guard known.insert(parameter).inserted else { throw .doubled(parameter.part) }
        if name != parameter.rawValue { parser.warnings.append(.parameterName(parameter.part)) }
        if !parameter.belongs(isHOTP: isHOTP) {
            parser.warnings.append(.otherType(parameter.part))
            let value = parser.text(text.extracting(value), parameter.part, plus: .space)
            others.append(Credential.Parameter(name: name, value: value))
        } else if value.isEmpty {
            parser.warnings.append(
                parameter == .issuer ? .emptyIssuer : .emptyValue(parameter.part))
        } else {
            values[parameter] = value
        }
    }
}

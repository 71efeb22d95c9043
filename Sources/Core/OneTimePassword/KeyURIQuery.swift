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
    ) throws(KeyURIError) {
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

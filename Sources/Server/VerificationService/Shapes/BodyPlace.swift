internal import WatchwordCryptography

/// A value in a body: its path for messages, and its position in the text.
struct BodyPlace: Sendable {
    /// The path, such as `codes[1]`; `nil` if it contains a name that may be a secret.
    let field: String?
    /// For each level, the number of members or elements before the value or its container.
    let ordinals: [Int]

    /// The place of the entire body.
    static let body = BodyPlace(field: "", ordinals: [])

    private init(field: String?, ordinals: [Int]) {
        self.field = field
        self.ordinals = ordinals
    }

    /// A member of this object; `name` is `nil` if it may be a secret.
    func member(_ name: String?, at ordinal: Int) -> BodyPlace {
        BodyPlace(field: path(of: name), ordinals: ordinals + [ordinal])
    }

    /// A member that this object lacks; the text contains only the object.
    func missing(_ name: String) -> BodyPlace {
        BodyPlace(field: path(of: name), ordinals: ordinals)
    }

    /// An element of this list.
    func element(_ ordinal: Int) -> BodyPlace {
        BodyPlace(field: field.map { "\($0)[\(ordinal)]" }, ordinals: ordinals + [ordinal])
    }

    private func path(of name: String?) -> String? {
        guard let field, let name else { return nil }
        return field.isEmpty ? name : "\(field).\(name)"
    }

    /// The byte offset of the value in the text of the body, or of the value's name if it has one;
    /// `nil` for the whole body.
    func position(in body: SecretBytes) -> Int? {
        body.places().first { $0.place.ordinals == ordinals }?.position
    }
}

/// The fault of a body, and its place.
struct BodyFault {
    enum Kind {
        case unknown, missing, invalid
    }

    let kind: Kind
    let place: BodyPlace
    let expected: String

    init(_ kind: Kind, _ place: BodyPlace, _ expected: String) {
        self.kind = kind
        self.place = place
        self.expected = expected
    }

    /// The problem in the response, with the position of the field if the text contains the field.
    func problem(in body: SecretBytes) -> Problem {
        let position = kind == .missing ? nil : place.position(in: body)
        let fault = FieldFault(place.field, at: position, expected: expected)
        return switch kind {
        case .unknown: .unknownField(fault)
        case .missing: .missingField(fault)
        case .invalid: .invalidField(fault)
        }
    }
}

/// A name that the sender chose, if a response may repeat it; otherwise `nil`.
///
/// Clients sometimes send a secret as a name by mistake. A one-time password begins with a digit, a
/// key and a recovery code have at least 16 characters without an underscore, and a token has more
/// than 32.
func repeatableName(_ name: String) -> String? {
    func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
    let bytes = Array(name.utf8)
    let isRepeatable =
        bytes.count <= 32 && bytes.first.map(isLetter) ?? false
        && bytes.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
        && bytes.split(separator: 0x5F).allSatisfy { $0.count < 16 }
    return isRepeatable ? name : nil
}

extension SecretBytes {
    /// The members and elements of a JSON text in their order, each with the byte offset of its
    /// start.
    ///
    /// - Parameter end: the offset up to which the text is known to be valid; by default, the end
    ///   of the text.
    func places(before end: Int = .max) -> [(place: BodyPlace, position: Int)] {
        withBytes { text in
            var found: [(place: BodyPlace, position: Int)] = []
            var open: [(place: BodyPlace, isObject: Bool, count: Int)] = []
            var current = BodyPlace.body
            var isNext = false
            var index = 0
            while index < min(end, text.count) {
                let byte = text[index]
                if isNext, !byte.isWhiteSpace, !byte.closesContainer, var container = open.popLast()
                {
                    isNext = false
                    let name = container.isObject ? text.name(at: index) : nil
                    current =
                        container.isObject
                        ? container.place.member(name, at: container.count)
                        : container.place.element(container.count)
                    found.append((current, index))
                    container.count += 1
                    open.append(container)
                }
                switch byte {
                case UInt8(ascii: "\""): index = text.endOfText(at: index)
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    open.append((current, byte == UInt8(ascii: "{"), 0))
                    isNext = true
                case UInt8(ascii: ","): isNext = true
                case _ where byte.closesContainer:
                    _ = open.popLast()
                    isNext = false
                default: break
                }
                index += 1
            }
            return found
        }
    }
}

extension Span<UInt8> {
    /// The index of the quotation mark at the end of the text that begins here.
    fileprivate func endOfText(at start: Int) -> Int {
        var index = start + 1
        while index < count, self[index] != UInt8(ascii: "\"") {
            index += self[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return index
    }

    /// The name that begins here, if a response may repeat it.
    fileprivate func name(at start: Int) -> String? {
        let end = Swift.min(endOfText(at: start), count)
        guard start + 1 < end else { return nil }
        let name = extracting((start + 1)..<end)
        return repeatableName(String(decoding: [UInt8](copying: name), as: UTF8.self))
    }
}

extension UInt8 {
    fileprivate var isWhiteSpace: Bool { [0x20, 0x09, 0x0A, 0x0D].contains(self) }
    fileprivate var closesContainer: Bool { self == UInt8(ascii: "]") || self == UInt8(ascii: "}") }
}

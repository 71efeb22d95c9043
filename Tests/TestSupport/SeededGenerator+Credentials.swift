public import OneTimePassword
public import WatchwordCryptography

extension SeededGenerator {
    /// A credential of any kind, with names that are hard to encode in a URI.
    public mutating func credential() throws -> Credential {
        let movingFactor: MovingFactor =
            Bool.random(using: &self)
            ? .counter(number())
            : .time(
                TimeStep(
                    period: Int64(number() >> 1) | 1,
                    start: Bool.random(using: &self) ? 0 : Int64(bitPattern: number()))
                    ?? .standard)
        let style: CodeStyle =
            Int.random(in: 0..<4, using: &self) == 0
            ? .steam
            : .decimal(CodeLength(digits: Int.random(in: 1...10, using: &self)) ?? .six)
        return try Credential(
            issuer: Int.random(in: 0..<4, using: &self) == 0 ? "Steam" : name(), account: name(),
            key: key(), algorithm: HashAlgorithm.allCases.randomElement(using: &self) ?? .sha1,
            style: style, movingFactor: movingFactor,
            otherParameters: parameters(isHOTP: movingFactor.isHOTP))
    }

    /// A credential that Google's export format can represent.
    public mutating func simpleCredential() throws -> Credential {
        try Credential(
            issuer: name(), account: name(), key: key(),
            algorithm: HashAlgorithm.allCases.randomElement(using: &self) ?? .sha1,
            style: .decimal(Bool.random(using: &self) ? .six : .eight),
            movingFactor: Bool.random(using: &self) ? .time(.standard) : .counter(number() >> 1))
    }

    /// Between 1 and 70 bytes.
    public mutating func key() -> SecretBytes {
        let bytes = (0..<Int.random(in: 1...70, using: &self)).map { _ in
            UInt8.random(in: 0...255, using: &self)
        }
        return SecretBytes(copying: bytes.span)
    }

    /// A number of any magnitude.
    public mutating func number() -> UInt64 { next() >> UInt64.random(in: 0...63, using: &self) }

    /// Up to eight of these pieces of text, without a space at either end.
    private mutating func name() -> String {
        let pieces = [
            "a", "Z", "0", ":", "%", "%3A", "+", " ", "#", "&", "=", "?", "/", "@", "ü", "日", "😀",
            "\u{301}", "\n", "\0", "\"", ".",
        ]
        var text = ""
        for _ in 0..<Int.random(in: 0...8, using: &self) {
            text += pieces.randomElement(using: &self) ?? ""
        }
        while text.utf8.first == UInt8(ascii: " ") {
            text = String(decoding: Array(text.utf8.dropFirst()), as: UTF8.self)
        }
        while text.utf8.last == UInt8(ascii: " ") {
            text = String(decoding: Array(text.utf8.dropLast()), as: UTF8.self)
        }
        return text
    }

    private mutating func parameters(isHOTP: Bool) -> [Credential.Parameter] {
        let names =
            ["image", "x y", "ü", "&", "", "Secret2"] + (isHOTP ? ["period"] : ["counter"])
        return names.shuffled(using: &self).prefix(Int.random(in: 0...3, using: &self)).map {
            Credential.Parameter(name: $0, value: name())
        }
    }
}

extension MovingFactor {
    var isHOTP: Bool {
        switch self {
        case .time: false
        case .counter: true
        }
    }
}

/// The parameters that mean something here.
enum KeyURIParameter: String, CaseIterable {
    case secret, issuer, algorithm, digits, encoder, period, counter
    /// The start of time's steps: our own, since the format has no name for it.
    case start = "t0"

    /// Recognises a name in small letters.
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

    /// Whether it means something for HOTP (`isCounted`) or for TOTP.
    func belongs(isCounted: Bool) -> Bool {
        switch self {
        case .counter: isCounted
        case .period, .start: !isCounted
        default: true
        }
    }
}

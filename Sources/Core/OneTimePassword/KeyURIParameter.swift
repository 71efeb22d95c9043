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

/// What changes from code to code (RFC 4226, section 5.1; RFC 6238, section 4).
public enum MovingFactor: Hashable, Sendable {
    /// The step of time: TOTP.
    case time(TimeStep)
    /// A counter, here the one of the next code: HOTP.
    case counter(UInt64)

    /// Whether it is a counter.
    var isCounter: Bool {
        switch self {
        case .time: false
        case .counter: true
        }
    }
}

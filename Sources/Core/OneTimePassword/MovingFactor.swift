/// The moving factor, which changes from code to code (RFC 4226, section 5.1; RFC 6238, section 4).
public enum MovingFactor: Hashable, Sendable {
    /// The time step: TOTP.
    case time(TimeStep)
    /// A counter, with the value for the next code: HOTP.
    case counter(UInt64)

    /// Whether it is a counter.
    var isCounter: Bool {
        switch self {
        case .time: false
        case .counter: true
        }
    }
}

/// How many time steps around the expected one are accepted (RFC 6238, sections 5.2 and 6).
public enum WindowProfile: String, CaseIterable, Hashable, Sendable {
    /// The expected step alone.
    case strict
    /// One step behind as well, which RFC 6238 recommends as the most for the transmission.
    case rfc
    /// One step behind and one ahead.
    case wide

    /// Steps behind the expected one.
    public var behind: Int { self == .strict ? 0 : 1 }
    /// Steps ahead of the expected one.
    public var ahead: Int { self == .wide ? 1 : 0 }
    /// How many codes are right at any moment.
    public var codeCount: Int { behind + 1 + ahead }
}

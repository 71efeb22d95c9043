/// How much a presence check is worth; it is shown and never blurred.
public enum PresenceGrade: String, Sendable {
    /// The factor yields the key: without it nothing opens.
    case cryptographic
    /// The system says yes or no; whoever controls the system can say yes.
    case advisory
}

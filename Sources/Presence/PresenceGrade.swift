/// How much a presence check is worth; it is part of each proof's type, shown, and never blurred.
///
/// What needs a factor that yields the key demands a `PresenceProof<Cryptographic>`, and no program
/// that hands it an advisory proof compiles.
public protocol PresenceGrade: Sendable {
    /// The grade's name, as it is shown.
    static var name: String { get }
}

/// The factor yields the key: without it nothing opens.
public enum Cryptographic: PresenceGrade {
    /// The grade's name, as it is shown.
    public static let name = "cryptographic"
}

/// The system says yes or no; whoever controls the system can say yes.
public enum Advisory: PresenceGrade {
    /// The grade's name, as it is shown.
    public static let name = "advisory"
}

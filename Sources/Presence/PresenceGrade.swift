/// The strength of a presence check, which is part of each proof's type.
///
/// Code that needs a factor that yields the key requires a `PresenceProof<Cryptographic>`. A
/// program that passes an advisory proof to it does not compile.
public protocol PresenceGrade: Sendable {
    /// The grade's name for display.
    static var name: String { get }
}

/// The factor yields the key: nothing can be opened without it.
public enum Cryptographic: PresenceGrade {
    /// The grade's name for display.
    public static let name = "cryptographic"
}

/// The system decides; anyone who controls the system can override it.
public enum Advisory: PresenceGrade {
    /// The grade's name for display.
    public static let name = "advisory"
}

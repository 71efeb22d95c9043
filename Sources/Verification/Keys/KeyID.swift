/// The number of a key version: 1 and up, in the order in which they were made.
public struct KeyID: Hashable, Comparable, Sendable {
    /// 1 to 4,294,967,295.
    public let number: UInt32

    /// Takes a number from 1 on; nothing for 0.
    public init?(_ number: UInt32) {
        guard number > 0 else { return nil }
        self.number = number
    }

    /// Tells which was made first.
    public static func < (left: KeyID, right: KeyID) -> Bool { left.number < right.number }
}

/// A use of a credential whose login ticket the application may redeem.
protocol OpenUse: Hashable, Sendable {
    /// The id of the decision.
    var verification: VerificationID { get }
    func write(into writer: inout ByteWriter)
    init(from reader: inout ByteReader) throws(ByteReaderError)
}

/// The uses of a credential whose login tickets have not been redeemed yet, oldest first.
///
/// The credential's own row records them, so that nobody who can write to the database can open one.
struct OpenUses<Use: OpenUse>: Hashable, Sendable {
    private var uses: [Use] = []

    /// The maximum number of open uses; a further one closes the oldest.
    private static var limit: Int { SecretChain.maximumOpenLogins }

    init() {}

    mutating func open(_ use: Use) { uses = (uses + [use]).suffix(Self.limit) }

    /// Closes a use when its ticket is redeemed.
    ///
    /// - Returns: the use; `nil` if it is not open.
    mutating func close(_ verification: VerificationID) -> Use? {
        guard let index = uses.firstIndex(where: { $0.verification == verification }) else {
            return nil
        }
        return uses.remove(at: index)
    }

    func write(into writer: inout ByteWriter) {
        writer.write(UInt8(uses.count))
        for use in uses { use.write(into: &writer) }
    }

    init(from reader: inout ByteReader) throws(ByteReaderError) {
        let count = Int(try reader.read(UInt8.self))
        guard count <= Self.limit else { throw .malformed }
        for _ in 0..<count { uses.append(try Use(from: &reader)) }
    }
}

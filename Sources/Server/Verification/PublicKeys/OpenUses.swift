/// A use of a credential whose login ticket the application may redeem.
protocol OpenUse: Hashable, Sendable {
    /// The id of the decision.
    var verification: VerificationID { get }
    func write(into writer: inout ByteWriter)
    init(from reader: inout ByteReader) throws(VerifierError)
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

    init(from reader: inout ByteReader) throws(VerifierError) {
        let count = Int(try reader.read(UInt8.self))
        guard count <= Self.limit else { throw .damagedRow }
        for _ in 0..<count { uses.append(try Use(from: &reader)) }
    }
}

/// A valid signature of a passkey whose login ticket has not been redeemed yet.
struct PasskeyUse: OpenUse {
    /// The id of the decision.
    let verification: VerificationID
    /// Whether the user was verified.
    let isUserVerified: Bool
    /// Why the policy requires a second proof; empty if it does not.
    let stepUp: [StepUpReason]

    func write(into writer: inout ByteWriter) {
        writer.write(verification.bytes)
        writer.write(isUserVerified)
        writer.write(UInt8(stepUp.count))
        for reason in stepUp { writer.write(reason.rawValue) }
    }

    init(from reader: inout ByteReader) throws(VerifierError) {
        guard let id = VerificationID(bytes: try reader.readBytes()) else { throw .damagedRow }
        verification = id
        isUserVerified = try reader.readFlag()
        var reasons: [StepUpReason] = []
        for _ in 0..<(try reader.read(UInt8.self)) { reasons.append(try reader.readChoice()) }
        stepUp = reasons
    }

    init(verification: VerificationID, isUserVerified: Bool, stepUp: [StepUpReason]) {
        self.verification = verification
        self.isUserVerified = isUserVerified
        self.stepUp = stepUp
    }
}

/// Why an assertion whose signature is valid needs a second proof.
public enum StepUpReason: String, CaseIterable, Hashable, Sendable {
    /// The passkey was not used in this browser before.
    case newDevice = "new-device"
    /// The passkey was bound to its device, and can now be copied.
    case becameSyncable = "became-syncable"
    /// The passkey could be copied, and is now bound to its device.
    case backupFlags = "backup-flags"
    /// The user was verified for the first time.
    case firstVerification = "first-verification"
    /// The signature counter did not increase.
    case counter
}

/// What the application learns about a passkey's signature when it redeems a login ticket.
public struct PasskeyFacts: Hashable, Sendable {
    /// Whether the user was verified.
    public let isUserVerified: Bool
    /// Why the policy requires a second proof; empty if it does not.
    public let stepUp: [StepUpReason]
}

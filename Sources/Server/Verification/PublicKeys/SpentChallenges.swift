/// The challenges that a public key has answered and that could still be open.
///
/// A challenge's row is deleted when the challenge is spent. An attacker who can write to the
/// database could put the row back, so that a recorded signature would be accepted again. The key's
/// own row therefore records the challenges. If an earlier version of that row is put back as well,
/// an audit detects this.
struct SpentChallenges: Hashable, Sendable {
    /// The recent challenges, by the time at which they were created.
    private var recent: [Spent] = []
    /// Challenges that were created at this time or earlier count as spent.
    private var floor: UnixTime?

    /// The maximum number of recent challenges.
    ///
    /// A further challenge raises the floor, so that an answer to an even older challenge is
    /// denied, and its sender has to repeat the ceremony.
    static let maximumCount = 16

    fileprivate struct Spent: Hashable, Sendable {
        /// The first half of the challenge's keyed digest.
        let digest: [UInt8]
        let createdAt: UnixTime

        init(_ challenge: Challenge) {
            digest = Array(challenge.digest.prefix(16))
            createdAt = challenge.createdAt
        }
    }

    init() {}

    /// Whether the challenge was spent, or is too old to be recorded.
    func contain(_ challenge: Challenge, at now: UnixTime) -> Bool {
        // A floor in the future was set while the clock was wrong. Such a floor must not lock
        // anyone out.
        if let floor, floor <= Self.latest(now), challenge.createdAt <= floor { return true }
        return recent.contains { $0.digest == Spent(challenge).digest }
    }

    /// Records an accepted answer, and forgets challenges that have expired.
    mutating func add(_ challenge: Challenge, at now: UnixTime) {
        recent.removeAll { $0.createdAt > Self.latest(now) }
        if let floor, floor > Self.latest(now) { self.floor = nil }
        recent.append(Spent(challenge))
        recent.sort { $0.createdAt < $1.createdAt }
        // All challenges that are at most as old as the last removed challenge have expired, too.
        let expired = now.adding(
            milliseconds: -Challenge.conditionalLifetime - Policy.clockSkew)
        while let oldest = recent.first,
            oldest.createdAt <= expired || recent.count > Self.maximumCount
        {
            floor = oldest.createdAt
            recent.removeFirst()
        }
    }

    /// The latest time that a correct clock may have written.
    private static func latest(_ now: UnixTime) -> UnixTime {
        now.adding(milliseconds: Policy.clockSkew)
    }
}

extension SpentChallenges {
    func write(into writer: inout ByteWriter) {
        writer.writeOptional(floor) { $0.write($1) }
        writer.write(UInt8(recent.count))
        for challenge in recent {
            writer.write(challenge.digest)
            writer.write(challenge.createdAt)
        }
    }

    /// Reads the end of a row; a row that an earlier version of the program wrote has none.
    init(fromEndOf reader: inout ByteReader) throws(VerifierError) {
        guard !reader.isAtEnd else { return }
        floor = try reader.readOptionalTime()
        let count = Int(try reader.read(UInt8.self))
        guard count <= Self.maximumCount else { throw .damagedRow }
        for _ in 0..<count { recent.append(try Spent(from: &reader)) }
    }
}

extension SpentChallenges.Spent {
    fileprivate init(from reader: inout ByteReader) throws(VerifierError) {
        digest = try reader.readBytes()
        createdAt = try reader.readTime()
    }
}

/// A use of a credential whose login ticket the application may redeem.
protocol OpenUse: Hashable, Sendable {
    /// The id of the decision.
    var verification: VerificationID { get }
    func write(into writer: inout ByteWriter)
    init(from reader: inout ByteReader) throws(VerifierError)
}

/// The uses of a credential whose login tickets have not been redeemed yet, oldest first.
///
/// The credential's own row records the uses, so that an attacker who can write to the database
/// cannot open one.
struct OpenUses<Use: OpenUse>: Hashable, Sendable {
    private var uses: [Use] = []

    /// The maximum number of open uses; a further use closes the oldest.
    private static var limit: Int { SecretChain.maximumOpenLogins }

    init() {}

    mutating func open(_ use: Use) { uses = (uses + [use]).suffix(Self.limit) }

    /// Closes a use when its ticket is redeemed.
    ///
    /// - Returns: the use; `nil` if the use is not open.
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
    /// The reasons for a second proof; empty if the policy requires none.
    let stepUp: [StepUpReason]

    func write(into writer: inout ByteWriter) {
        writer.write(verification.bytes)
        writer.write(isUserVerified)
        writer.write(UInt8(stepUp.count))
        for reason in stepUp { writer.write(reason.rawValue) }
    }

    init(from reader: inout ByteReader) throws(VerifierError) {
        verification = try reader.readID()
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
    /// The passkey had not been used in this browser before.
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

/// The facts about a passkey's signature, for the application that redeems a login ticket.
public struct PasskeyFacts: Hashable, Sendable {
    /// Whether the user was verified.
    public let isUserVerified: Bool
    /// The reasons for a second proof; empty if the policy requires none.
    public let stepUp: [StepUpReason]
}

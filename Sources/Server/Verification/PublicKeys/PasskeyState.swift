internal import WatchwordCryptography

/// The stored state of a registered passkey: its sealed registration, and the values that its uses
/// change.
package struct PasskeyState: Hashable, Sendable {
    private var registration: SealedRowData
    /// The flags of the last accepted ceremony.
    package private(set) var flags: PasskeyFlags
    /// Whether the passkey could be copied in an accepted ceremony.
    private var wasBackupEligible = false
    /// Whether a ceremony that verified the user was ever accepted.
    package var wasUserVerified: Bool
    /// The highest accepted signature counter.
    ///
    /// The value never decreases.
    package private(set) var count: UInt32
    /// The devices on which the passkey was accepted, the most recently used device last.
    private(set) var devices: [KnownDevice] = []
    /// The accepted ceremony that still needs a second proof; `nil` if no ceremony does.
    package var stepUp: OpenStepUp?
    /// The uses whose login tickets have not been redeemed yet, oldest first.
    var openUses = OpenUses<PasskeyUse>()
    /// The challenges that the passkey answered recently.
    var spent = SpentChallenges()

    /// The maximum number of known devices.
    ///
    /// A further device replaces the least recently used one.
    static let maximumDevices = 8

    /// A browser, recognised by a token that the application keeps there.
    struct KnownDevice: Hashable, Sendable {
        /// The keyed digest of the token.
        let digest: [UInt8]
        /// When the passkey was last accepted there.
        let usedAt: UnixTime
    }

    /// A ceremony whose signature was valid, but which needs a second proof.
    ///
    /// Its changes are stored here until the proof is reported.
    package struct OpenStepUp: Hashable, Sendable {
        /// The id of the decision.
        package let verification: VerificationID
        /// The time of the decision.
        package let time: UnixTime
        /// The flags of the ceremony.
        let flags: PasskeyFlags
        let count: UInt32
        /// The device's digest, if the device is to become known.
        let device: [UInt8]?

        package init(
            verification: VerificationID, time: UnixTime, flags: PasskeyFlags, count: UInt32,
            device: [UInt8]?
        ) {
            self.verification = verification
            self.time = time
            self.flags = flags
            self.count = count
            self.device = device
        }
    }

    package init(
        sealing passkey: RegisteredPasskey, count: UInt32, for row: SealingContext,
        under key: KeyVersion
    ) {
        var writer = ByteWriter()
        passkey.write(into: &writer)
        registration = SealedRowData(
            sealing: writer.bytes, as: Self.purpose, for: row, under: key)
        flags = passkey.flags
        wasUserVerified = passkey.flags.isUserVerified
        self.count = count
    }

    private static let purpose = "watchword passkey"

    /// The registration, if it was sealed for this row under this key.
    package func open(
        for row: SealingContext, under key: KeyVersion
    ) throws(VerifierError) -> RegisteredPasskey {
        var reader = ByteReader(try registration.open(as: Self.purpose, for: row, under: key))
        let passkey = try RegisteredPasskey(from: &reader)
        try reader.end()
        return passkey
    }

    /// The facts for the list of credentials.
    func summary(of passkey: RegisteredPasskey) -> PasskeySummary {
        PasskeySummary(
            isDeviceBound: !wasEverBackupEligible(passkey), isBackedUp: flags.isBackedUp,
            wasUserVerified: wasUserVerified, attestation: passkey.attestation.rawValue,
            model: passkey.knownModel, transports: passkey.transports)
    }

    /// The same passkey, sealed under another key.
    func resealed(
        for row: SealingContext, from old: KeyVersion, to new: KeyVersion
    ) throws(VerifierError) -> PasskeyState {
        var state = self
        state.registration = try registration.resealed(
            as: Self.purpose, for: row, from: old, to: new)
        return state
    }

    /// Whether the passkey could be copied when it was registered, or in an accepted ceremony
    /// since.
    package func wasEverBackupEligible(_ passkey: RegisteredPasskey) -> Bool {
        // Rows of earlier versions have only the flags.
        wasBackupEligible || flags.isBackupEligible || passkey.flags.isBackupEligible
    }

    /// Records the flags of an accepted ceremony.
    mutating func record(flags: PasskeyFlags) {
        wasBackupEligible =
            wasBackupEligible || self.flags.isBackupEligible || flags.isBackupEligible
        self.flags = flags
    }

    /// Records a signature counter; a lower counter than before changes nothing.
    mutating func record(count: UInt32) { self.count = max(self.count, count) }

    /// Records that the passkey was accepted on a device.
    mutating func record(device: [UInt8], at now: UnixTime) {
        devices.removeAll { $0.digest == device }
        devices = (devices + [KnownDevice(digest: device, usedAt: now)])
            .suffix(Self.maximumDevices)
    }

    /// Records an accepted use.
    ///
    /// - Parameter verifies: whether the policy relies on the verification of the user.
    package mutating func apply(_ use: OpenStepUp, at now: UnixTime, verifies: Bool) {
        record(flags: use.flags)
        record(count: use.count)
        if verifies, use.flags.isUserVerified { wasUserVerified = true }
        if let device = use.device { record(device: device, at: now) }
        stepUp = nil
    }

    /// Whether the passkey was accepted on this device before.
    package func knows(_ device: [UInt8]) -> Bool {
        // The digests are keyed, so that their comparison reveals nothing.
        devices.contains { $0.digest == device }
    }

    /// Records a valid signature whose login ticket the application may redeem.
    package mutating func openLogin(
        _ verification: VerificationID, isUserVerified: Bool, stepUp: [StepUpReason]
    ) {
        openUses.open(
            PasskeyUse(
                verification: verification, isUserVerified: isUserVerified, stepUp: stepUp))
    }

    /// Whether the passkey answered the challenge, or may have answered it.
    package func hasSpent(_ challenge: Challenge, at now: UnixTime) -> Bool {
        spent.contain(challenge, at: now)
    }

    /// Records that the passkey answered the challenge.
    package mutating func spend(_ challenge: Challenge, at now: UnixTime) {
        spent.add(challenge, at: now)
    }

    /// Closes all uses and the step-up, because some of them may have been completed.
    mutating func closeAll() {
        openUses = OpenUses()
        stepUp = nil
    }

    func write(into writer: inout ByteWriter) {
        registration.write(into: &writer)
        flags.write(into: &writer)
        writer.write((wasUserVerified ? 1 : 0) | (wasBackupEligible ? 2 : 0) as UInt8)
        writer.write(count)
        writer.write(UInt8(devices.count))
        for device in devices {
            writer.write(device.digest)
            writer.write(device.usedAt)
        }
        writer.writeOptional(stepUp) { $1.write(into: &$0) }
        openUses.write(into: &writer)
        spent.write(into: &writer)
    }

    init(from reader: inout ByteReader) throws(VerifierError) {
        registration = try SealedRowData(from: &reader)
        flags = try PasskeyFlags(from: &reader)
        let history = try reader.read(UInt8.self)
        guard history < 4 else { throw .damagedRow }
        wasUserVerified = history & 1 != 0
        wasBackupEligible = history & 2 != 0
        count = try reader.read()
        let deviceCount = Int(try reader.read(UInt8.self))
        guard deviceCount <= Self.maximumDevices else { throw .damagedRow }
        for _ in 0..<deviceCount {
            devices.append(
                KnownDevice(digest: try reader.readBytes(), usedAt: try reader.readTime()))
        }
        stepUp = try reader.readFlag() ? OpenStepUp(from: &reader) : nil
        openUses = try OpenUses(from: &reader)
        spent = try SpentChallenges(fromEndOf: &reader)
    }
}

extension PasskeyState.OpenStepUp {
    fileprivate func write(into writer: inout ByteWriter) {
        writer.write(verification.bytes)
        writer.write(time)
        flags.write(into: &writer)
        writer.write(count)
        writer.writeOptional(device) { $0.write($1) }
    }

    fileprivate init(from reader: inout ByteReader) throws(VerifierError) {
        verification = try reader.readID()
        time = try reader.readTime()
        flags = try PasskeyFlags(from: &reader)
        count = try reader.read()
        device = try reader.readOptionalBytes()
    }
}

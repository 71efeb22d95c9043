internal import Devices
internal import Synchronization
internal import VaultService
internal import WatchwordCryptography
internal import WatchwordSystem

/// Uses a TPM through `watchword-token`, which the supervisor starts.
///
/// This process cannot open the device. It sends the helper only the data that one key needs to
/// sign.
struct RelayedToken: TokenRequestHandler {
    private let context: RelayContext
    /// The person who enters the PIN of a key that has one; `nil` if no person is asked.
    private let person: RemotePerson?
    /// The user whose wrong PINs are limited, and the limit; `nil` if they are not limited.
    private let limit: (PINLimit, user: UInt32)?
    /// The timeout for each step of the device.
    private let timeout: Duration

    init(
        _ context: RelayContext, asking person: RemotePerson? = nil,
        _ limit: (PINLimit, user: UInt32)? = nil, timeout: Duration
    ) {
        self.context = context
        self.person = person
        self.limit = limit
        self.timeout = timeout
    }

    func carryOut(
        _ request: TokenRequest, with person: inout some TokenHelper.Person
    ) throws(TokenFailure) -> TokenResponse {
        try context.using { helpers throws(SystemCallFailure) in
            try helpers.startToken()
        } otherwise: { refusal in
            switch refusal {
            case .notFound: TokenFailure.helper(.notFound)
            case .locked: .timedOut
            case .system(let failure): .helper(.system(failure))
            }
        } _: { connection throws(TokenFailure) in
            // When the vault is locked, the connection ends, and the question with it.
            guard let remote = self.person else {
                return try TokenHelper.carryOut(
                    request, with: &person, over: connection, timeout: timeout)
            }
            let clock = context.vaults.clock
            var pin = RemotePIN(
                person: remote, end: .reading(connection), limit: limit, now: { clock().sinceBoot })
            do throws(TokenFailure) {
                let result = try TokenHelper.carryOut(
                    request, with: &pin, over: connection, timeout: timeout)
                pin.takeBack()
                return result
            } catch {
                guard let wait = pin.wait else { throw error }
                throw .lockedOut(seconds: UInt32(clamping: wait.wholeSeconds))
            }
        }
    }
}

/// The person at a client, who enters the PIN of a device key.
private struct RemotePIN: TokenHelper.Person {
    let person: RemotePerson
    /// Becomes ready when the PIN is no longer needed.
    let end: Polling.Interest
    let limit: (PINLimit, user: UInt32)?
    /// The current time on the boot clock.
    let now: () -> Duration
    /// How long to wait before the next PIN.
    private(set) var wait: Duration?
    /// Whether the last PIN is counted as wrong.
    private var isCounted = false

    init(
        person: RemotePerson, end: Polling.Interest, limit: (PINLimit, user: UInt32)?,
        now: @escaping () -> Duration
    ) {
        self.person = person
        self.end = end
        self.limit = limit
        self.now = now
    }

    mutating func pin(isRepeated: Bool, left: UInt32?) -> SecretBytes? {
        if let (limit, user) = limit {
            wait = limit.count(of: user, at: now())
            guard wait == nil else { return nil }
            isCounted = true
        }
        let pin = ifPossible(try person.askPIN(isRepeated: isRepeated, left: left, for: end))
        if let pin, pin.count > 0 { return pin }
        // Without an answer, no PIN is returned, and the key does not sign.
        takeBack()
        return nil
    }

    /// The last PIN was correct, or was not entered.
    mutating func takeBack() {
        guard isCounted, let (limit, user) = limit else { return }
        limit.takeBack(of: user)
        isCounted = false
    }

    // A TPM needs no touch.
    func touch(number: Int, of count: Int) {}
}

/// A placeholder for the person: ``RelayedToken`` asks the real one.
struct AbsentPerson: TokenHelper.Person {
    func pin(isRepeated: Bool, left: UInt32?) -> SecretBytes? { nil }
    func touch(number: Int, of count: Int) {}
}

/// Limits the wrong PINs that users of the system agent send to the TPM, which counts the wrong
/// PINs of all users together and then refuses every PIN.
///
/// A restart forgets the counts. After a restart, only the TPM's own count limits the PINs, of
/// which `watchword-token` leaves a part unused.
final class PINLimit: Sendable {
    /// After this time, one wrong PIN is forgotten; a TPM often does the same.
    private static let time = Duration.seconds(7200)
    /// The maximum number of remembered wrong PINs, of one user and of all users; a TPM often
    /// permits 32.
    private static let (mostOfUser, mostOfAll) = (4, 16)

    /// When the last wrong PIN will be forgotten, by user; `nil` stands for all users.
    private let ends = Mutex<[UInt32?: Duration]>([:])

    /// Counts a PIN as wrong until it is taken back.
    ///
    /// - Parameter now: the time on the boot clock.
    /// - Returns: how long to wait; `nil` if the PIN may be tried.
    func count(of user: UInt32, at now: Duration) -> Duration? {
        ends.withLock { ends in
            ends = ends.filter { $0.value > now }
            func wait(_ user: UInt32?, _ most: Int) -> Duration {
                (ends[user] ?? now) - now - PINLimit.time * (most - 1)
            }
            let wait = max(
                wait(user, PINLimit.mostOfUser), wait(nil, PINLimit.mostOfAll))
            guard wait <= .zero else { return wait }
            for key in [user, nil] { ends[key] = (ends[key] ?? now) + PINLimit.time }
            return nil
        }
    }

    /// Takes back a PIN that was correct or was not entered.
    func takeBack(of user: UInt32) {
        ends.withLock { ends in
            for key in [user, nil] {
                guard let end = ends[key] else { continue }
                ends[key] = end - PINLimit.time
            }
        }
    }
}

internal import Synchronization

/// Limits the wrong PINs that the users of the system agent give the TPM, which counts those of all
/// users together, and then refuses every PIN.
///
/// A restart forgets the counts. Then the TPM's own count remains, of which `watchword-token` spares a
/// part.
final class PINLimit: Sendable {
    /// After this time, one wrong PIN is forgotten; a TPM often does the same.
    private static let time = Duration.seconds(7200)
    /// How many are remembered, of one user and of all users; a TPM often permits 32.
    private static let (mostOfUser, mostOfAll) = (4, 16)

    /// When the last wrong PIN will be forgotten, by user; `nil` stands for all users.
    private let ends = Mutex<[UInt32?: Duration]>([:])

    /// Counts a PIN as a wrong one, until it is taken back.
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

    /// Takes a PIN back that was right, or was not given.
    func takeBack(of user: UInt32) {
        ends.withLock { ends in
            for key in [user, nil] {
                guard let end = ends[key] else { continue }
                ends[key] = end - PINLimit.time
            }
        }
    }
}

internal import Synchronization
internal import WatchwordSystem

/// How large a request is.
struct RequestSize: Sendable {
    /// The size of its frame.
    let frame: Int
    /// The size of the largest file, of the vault or its previous generation, that it may read.
    let largestFile: Int
    /// The memory that it may take.
    let memory: Int
}

/// The memory that a request may take, until it has been answered.
final class RequestTurn: Sendable {
    let user: UInt32
    let size: RequestSize
    private let turns: MemoryTurns
    /// Whether the client still waits for the response.
    private let isWanted: @Sendable () -> Bool
    /// Whether the memory is charged at the moment.
    private let isCharged = Mutex(true)

    /// A turn that has begun.
    init(
        of user: UInt32, _ size: RequestSize, from turns: MemoryTurns,
        while isWanted: @escaping @Sendable () -> Bool
    ) {
        self.user = user
        self.size = size
        self.turns = turns
        self.isWanted = isWanted
    }

    /// Ends the turn.
    func end() {
        isCharged.withLock { isCharged in
            if isCharged { turns.end(of: user, size: size.memory) }
            isCharged = false
        }
    }

    /// Runs `body`, which waits for a person, a server or another request, and lets others have the
    /// memory meanwhile.
    func paused<Result: ~Copyable, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        end()
        defer { resume() }
        return try body()
    }

    /// Waits until it is the request's turn again.
    ///
    /// If the client has gone, there is no turn: what is left is little, and soon ends.
    private func resume() {
        do throws(SystemCallFailure) {
            let hasBegun = try turns.begin(
                of: user, size: size.memory, timeout: .seconds(3600), while: isWanted)
            isCharged.withLock { $0 = hasBegun }
        } catch {
            // This process cannot wait. The vault's state must be recorded all the same.
        }
    }
}

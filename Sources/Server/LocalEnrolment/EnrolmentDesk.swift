package import LocalSockets
internal import Synchronization
package import Verification
package import WatchwordSystem

/// What conversations about credentials depend on.
package struct EnrolmentServices: Sendable {
    let verifier: Verifier
    let realm: Realm
    let limiter: OwnNameLimiter
    let checkPassword: @Sendable (borrowing FileDescriptor) -> Bool?
    let tell: @Sendable (EnrolmentNews) -> Void

    /// - Parameters:
    ///   - limiter: limits how often each user presents codes and passwords.
    ///   - checkPassword: has the system's modules check the login password of the user at the
    ///     other end of a connection; returns `nil` if they cannot.
    ///   - tell: learns what happens.
    package init(
        verifier: Verifier, realm: Realm, limiter: OwnNameLimiter,
        checkPassword: @escaping @Sendable (borrowing FileDescriptor) -> Bool?,
        tell: @escaping @Sendable (EnrolmentNews) -> Void
    ) {
        self.verifier = verifier
        self.realm = realm
        self.limiter = limiter
        self.checkPassword = checkPassword
        self.tell = tell
    }
}

/// What happens in conversations about credentials.
package enum EnrolmentNews: Equatable, Sendable {
    /// The user with this name has changed the user's own credentials.
    case changed(String, OwnChange)
    /// The verifier could not decide.
    case failed(VerifierError)
}

/// What a user has changed; with the credential's name, which may be empty.
package enum OwnChange: Hashable, Sendable {
    case added(String)
    case removed(String)
    case recoveryCodes
}

/// Performs tasks for users of this machine, each on a thread of its own, because a person takes
/// time.
package final class EnrolmentDesk: Sendable {
    private struct State {
        var connections: [Int: EnrolmentConnection] = [:]
        var count = 0
        var isStopping = false
    }

    private let services: EnrolmentServices
    private let state = Mutex(State())

    /// The maximum number of conversations at a time.
    static let most = 64
    /// The maximum number of open files for them: the connection twice, and the one to the check of
    /// the login password.
    package static let mostFiles = 3 * most
    /// The maximum number of conversations of one user.
    static let mostPerUser = 2

    package init(_ services: EnrolmentServices) { self.services = services }

    /// Takes over a connection, which is non-blocking, and returns at once.
    package func begin(_ file: consuming FileDescriptor, peer: LocalSocket.Peer) {
        let connection: EnrolmentConnection
        // Without a further open file, there is no conversation.
        do { connection = try EnrolmentConnection(file, user: peer.user) } catch { return }
        guard let number = enter(connection) else { return connection.end(with: .refused(.busy)) }
        let thread = WorkerThread {
            let last = self.serve(connection)
            // The user's program may begin another conversation as soon as this one is over.
            self.leave(number)
            if let last { connection.end(with: last) }
        }
        if let thread {
            thread.detach()
        } else {
            leave(number)
            connection.end(with: .refused(.busy))
        }
    }

    /// Ends all conversations.
    ///
    /// - Parameter grace: how long to wait for what they have begun.
    /// - Returns: whether all have ended.
    package func stop(grace: Duration) async -> Bool {
        let open = state.withLock { state in
            state.isStopping = true
            return Array(state.connections.values)
        }
        for connection in open { connection.shutDown() }
        let end = ContinuousClock.now + grace
        while count > 0, .now < end {
            do { try await Task.sleep(for: .milliseconds(5)) } catch { break }
        }
        return count == 0
    }

    /// The number of conversations.
    var count: Int { state.withLock { $0.connections.count } }

    /// Performs the task of a program.
    ///
    /// - Returns: the last response; `nil` if there is nobody to receive it.
    private func serve(_ connection: EnrolmentConnection) -> EnrolmentResponse? {
        do throws(EnrolmentEnd) {
            // First the user's name: an ID without one keeps no place while its program is silent.
            let conversation = try EnrolmentConversation(connection, services)
            try conversation.perform(connection.task())
            return .done
        } catch {
            if case .refused(let refusal) = error { return .refused(refusal) }
            return nil
        }
    }

    /// Counts a conversation.
    ///
    /// - Returns: its number; `nil` if there are too many.
    private func enter(_ connection: EnrolmentConnection) -> Int? {
        state.withLock { state in
            let own = state.connections.values.count { $0.user == connection.user }
            guard !state.isStopping, state.connections.count < Self.most, own < Self.mostPerUser
            else { return nil }
            state.count += 1
            state.connections[state.count] = connection
            return state.count
        }
    }

    private func leave(_ number: Int) {
        state.withLock { state in state.connections[number] = nil }
    }
}

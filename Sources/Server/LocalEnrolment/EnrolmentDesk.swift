package import LocalSockets
internal import Synchronization
package import Verification
package import WatchwordSystem

/// The dependencies of the conversations about credentials.
package struct EnrolmentServices: Sendable {
    let verifier: Verifier
    let realm: Realm
    let limiter: OwnNameLimiter
    let checkPassword: @Sendable (borrowing FileDescriptor) -> Bool?
    let tell: @Sendable (EnrolmentNews) -> Void

    /// - Parameters:
    ///   - limiter: limits how often each user presents codes and passwords.
    ///   - checkPassword: makes the system's modules check the login password of the user at the
    ///     other end of a connection; returns `nil` if they cannot.
    ///   - tell: receives each event.
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

/// An event in a conversation about credentials.
package enum EnrolmentNews: Equatable, Sendable {
    /// The user with this name has changed a credential.
    case changed(String, OwnChange)
    /// The verifier could not decide.
    case failed(VerifierError)
}

/// A change that a user made, with the credential's name, which may be empty.
package enum OwnChange: Hashable, Sendable {
    case added(String)
    case removed(String)
    case recoveryCodes
}

/// Performs tasks for users of this machine, each on a separate thread, because a person takes
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
    /// The maximum number of open files for the conversations.
    ///
    /// Each conversation needs three: two for the connection and one for the check of the login
    /// password.
    package static let mostFiles = 3 * most
    /// The maximum number of conversations of one user.
    static let mostPerUser = 2

    package init(_ services: EnrolmentServices) { self.services = services }

    /// Takes over a connection, which is non-blocking, and returns at once.
    package func begin(_ file: consuming FileDescriptor, peer: LocalSocket.Peer) {
        let connection: EnrolmentConnection
        // If no more files can be opened, the program gets no conversation.
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
    /// - Parameter grace: how long to wait for the tasks that have begun.
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

    var count: Int { state.withLock { $0.connections.count } }

    /// Performs the task of a program.
    ///
    /// - Returns: the last response; `nil` if no program can receive it.
    private func serve(_ connection: EnrolmentConnection) -> EnrolmentResponse? {
        do throws(EnrolmentEnd) {
            // The user's name comes first: an ID without a name must not occupy a place while its
            // program is silent.
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

internal import LocalSockets
internal import Verification
internal import WatchwordCryptography
internal import WatchwordSystem

/// Performs a task for the user at the other end of a connection.
///
/// A program that runs as the user can send everything that the user can. Each change therefore
/// requires a proof that such a program does not have: a code, the login password, which the
/// system's modules check in another process, or an administrator's ticket.
struct EnrolmentConversation {
    private let connection: EnrolmentConnection
    private let services: EnrolmentServices
    private let account: String
    private let subject: Subject

    init(
        _ connection: EnrolmentConnection, _ services: EnrolmentServices
    ) throws(EnrolmentEnd) {
        guard let account = UserDatabase.name(of: connection.user),
            let subject = Subject(services.realm.subject(of: account))
        else { throw .refused(.noName) }
        self.connection = connection
        self.services = services
        self.account = account
        self.subject = subject
    }

    func perform(_ task: EnrolmentTask) throws(EnrolmentEnd) {
        switch task {
        case .list: try connection.send(.credentials(credentials().map(OwnCredential.init)))
        case .add(let name): try add(named: name)
        case .addWithTicket: try finishAdding(redeemTicket(), onlyAsFirst: false)
        case .remove(let id): try remove(id)
        case .recoveryCodes:
            try proveByCode()
            try issueRecoveryCodes()
        }
    }
}

extension EnrolmentConversation {
    private func add(named name: String) throws(EnrolmentEnd) {
        if try takesCode() {
            try proveByCode()
            try finishAdding(enrol(named: name), onlyAsFirst: false)
        } else {
            try requireNeverConfirmed()
            try proveByPassword()
            try finishAdding(enrol(named: name), onlyAsFirst: true)
        }
    }

    private func redeemTicket() throws(EnrolmentEnd) -> OneTimePasswordGrant {
        var redeemed: OneTimePasswordGrant?
        try connection.ask(.ticket) { answer throws(EnrolmentEnd) in
            let ticket = answer.withBytes { Token(.enrolmentTicket, text: $0) }
            guard let ticket else { return false }
            let outcome = try decide { verifier, origin throws(VerifierError) in
                try await verifier.redeemOneTimePassword(
                    ticket, of: subject, issuer: services.realm.text, account: account,
                    origin: origin)
            }
            guard case .redeemed(let grant) = outcome else { return false }
            redeemed = grant
            return true
        }
        guard let redeemed else { throw .refused(.denied) }
        return redeemed
    }

    private func enrol(named name: String) throws(EnrolmentEnd) -> OneTimePasswordGrant {
        let outcome = try decide { verifier, origin throws(VerifierError) in
            try await verifier.enrolOneTimePassword(
                OneTimePasswordEnrolment(
                    issuer: services.realm.text, account: account, name: name),
                for: subject, origin: origin)
        }
        return try granted(outcome)
    }

    /// Shows the key, asks for its first code, and issues recovery codes if there are none.
    ///
    /// - Parameter onlyAsFirst: whether the login password was the proof. It proves nothing once
    ///   the user has a second factor.
    private func finishAdding(
        _ grant: OneTimePasswordGrant, onlyAsFirst: Bool
    ) throws(EnrolmentEnd) {
        // Looked up first, because the user is told about the change whatever happens afterwards.
        let name = try credentials().first { $0.id == grant.credential }?.name ?? ""
        try connection.send(.key(grant.uri))
        try connection.ask(.firstCode) { answer throws(EnrolmentEnd) in
            guard let code = ifPossible(try PresentedCode(answer)) else { return false }
            let outcome = try decide { verifier, origin throws(VerifierError) in
                try await onlyAsFirst
                    ? verifier.confirmFirst(
                        grant.credential, of: subject, code: code, origin: origin)
                    : verifier.confirm(grant.credential, code: code, origin: origin)
            }
            if onlyAsFirst, !outcome.isAccepted { try requireNeverConfirmed() }
            return outcome.isAccepted
        }
        tell(.added(name))
        let own = ifPossible(try credentials())
        let hasCodes = own?.contains { $0.kind == .recovery && $0.state == .active }
        guard let hasCodes, hasCodes || ifPossible(try issueRecoveryCodes()) != nil else {
            throw .refused(.noRecoveryCodes)
        }
    }

    private func remove(_ id: String) throws(EnrolmentEnd) {
        let all = try credentials()
        guard let credential = all.first(where: { $0.id.text == id }) else {
            throw .refused(.unknownCredential)
        }
        let authenticators = all.filter { $0.state == .active && [.totp, .hotp].contains($0.kind) }
        guard authenticators != [credential] else { throw .refused(.lastAuthenticator) }
        try proveByCode()
        let outcome = try decide { verifier, origin throws(VerifierError) in
            try await verifier.revoke(
                credential.id, keepingAuthenticatorOf: subject, origin: origin)
        }
        switch outcome {
        case .done: tell(.removed(credential.name))
        case .refused: throw .refused(.lastAuthenticator)
        case .unknown: throw .refused(.unknownCredential)
        }
    }

    /// Issues recovery codes, which replace earlier ones.
    private func issueRecoveryCodes() throws(EnrolmentEnd) {
        let outcome = try decide { verifier, origin throws(VerifierError) in
            // The user may replace the codes that an application has issued.
            try await verifier.enrolRecoveryCodes(for: subject, canManage: true, origin: origin)
        }
        let codes = try granted(outcome).codes
        // The codes are replaced, even if the program does not receive the new ones.
        tell(.recoveryCodes)
        try connection.send(.recoveryCodes(codes))
    }
}

extension EnrolmentConversation {
    /// The credentials that are not revoked.
    private func credentials() throws(EnrolmentEnd) -> [CredentialSummary] {
        try decide { verifier, _ throws(VerifierError) in
            try await verifier.credentials(of: subject, limit: 1).credentials
        }.filter { $0.state != .revoked }
    }

    /// Whether the user has a credential whose code can be requested.
    private func takesCode() throws(EnrolmentEnd) -> Bool {
        try credentials().contains {
            $0.state == .active && [.totp, .hotp, .recovery].contains($0.kind)
        }
    }

    /// A user who once had a second factor, and now has none that works, needs an administrator.
    ///
    /// Otherwise a hundred wrong codes would reduce the proof to the login password.
    private func requireNeverConfirmed() throws(EnrolmentEnd) {
        let wasConfirmed = try decide { verifier, _ throws(VerifierError) in
            try await verifier.hasEverConfirmed(subject)
        }
        guard !wasConfirmed else { throw .refused(.needsTicket) }
    }

    private func proveByPassword() throws(EnrolmentEnd) {
        try takeAttempt()
        switch try connection.checkPassword(services.checkPassword) {
        case true?: services.limiter.giveBack(connection.user)
        case false?: throw .refused(.denied)
        case nil: throw .refused(.noPasswordCheck)
        }
    }

    /// Without a limit, any program of the user could use up the user's attempts, or guess the
    /// password.
    private func takeAttempt() throws(EnrolmentEnd) {
        if let seconds = services.limiter.take(connection.user, now: .now) {
            throw .refused(.mustWait(seconds: seconds))
        }
    }

    private func proveByCode() throws(EnrolmentEnd) {
        guard try takesCode() else {
            try requireNeverConfirmed()
            throw .refused(.notEnrolled)
        }
        try connection.ask(.code) { answer throws(EnrolmentEnd) in
            guard let code = ifPossible(try PresentedCode(answer)) else { return false }
            try takeAttempt()
            let outcome = try decide { verifier, origin throws(VerifierError) in
                try await verifier.verify(code, subject: subject, origin: origin)
            }
            if outcome.isAccepted { services.limiter.giveBack(connection.user) }
            return outcome.isAccepted
        }
    }

    private func granted<Grant>(
        _ outcome: EnrolmentOutcome<Grant>
    ) throws(EnrolmentEnd) -> Grant {
        switch outcome {
        case .granted(let grant): return grant
        case .refused(.tooMany): throw .refused(.tooMany)
        case .refused: throw .refused(.unavailable)
        }
    }

    private func tell(_ change: OwnChange) { services.tell(.changed(account, change)) }

    /// Waits for the verifier's decision.
    private func decide<Value: Sendable>(
        _ body: @escaping @Sendable (Verifier, Origin) async throws(VerifierError) -> Value
    ) throws(EnrolmentEnd) -> Value {
        let origin = Origin(address: "", userAgent: "watchword-enrol (\(account))")
        let verifier = services.verifier
        do throws(VerifierError) {
            return try waitForTask { () throws(VerifierError) in try await body(verifier, origin) }
        } catch {
            services.tell(.failed(error))
            throw .refused(.unavailable)
        }
    }
}

extension VerificationOutcome {
    fileprivate var isAccepted: Bool { if case .accepted = result { true } else { false } }
}

extension OwnCredential {
    fileprivate init(_ summary: CredentialSummary) {
        self.init(
            id: summary.id.text, kind: summary.kind.rawValue, state: summary.state.rawValue,
            name: summary.name, createdAt: summary.createdAt.text,
            lastUsedAt: summary.lastUsedAt?.text, remaining: summary.remaining)
    }
}

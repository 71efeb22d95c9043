package import LocalSockets
internal import Verification
package import WatchwordCryptography
internal import WatchwordSystem

/// A socket on which programs of this machine request checks of codes; the raw value is its name.
package enum LoginSocket: String, Sendable {
    /// The socket for root's programs, which may ask about any user.
    case pam
    /// The socket for the programs of any user, which may ask about this user only.
    case own = "self"
}

extension Service {
    /// Responds to a request on a socket for logins (`LocalSockets/LoginProtocol.md`).
    ///
    /// Like ``respond(to:)``, the method never accepts a code if the decision failed.
    ///
    /// - Parameter user: the user ID of the program.
    /// - Returns: `nil` if the request is malformed.
    package func respond(
        toLogin message: SecretBytes, on socket: LoginSocket, of user: UInt32
    ) async -> [UInt8]? {
        var exchange = begin(on: socket)
        do throws(Refusal) {
            guard let request = message.withBytes({ LoginRequest($0) }) else {
                throw Refusal(.malformedRequest)
            }
            // Any program can claim a remote host; only the claims of root's programs are trusted.
            if socket == .pam { exchange.address = request.remoteHost }
            guard exchange.id != nil else { throw Refusal(.failed) }
            guard let subject = try await subject(of: request, on: socket, of: user) else {
                return end(exchange, request.responseToNobody, outcome: "foreign-name")
            }
            switch request.operation {
            case .status:
                let isEnrolled = try await deciding(
                    await unlimited.verifier.hasEverConfirmed(subject))
                return isEnrolled
                    ? end(exchange, .enrolled, outcome: "enrolled")
                    : end(exchange, .neverEnrolled, outcome: "never-enrolled")
            case .verify(let text):
                let tellsReason = socket == .pam && request.wantsReasons
                let origin = Origin(
                    address: exchange.address, userAgent: "\(socket.rawValue)/\(request.service)")
                guard let code = ifPossible(try PresentedCode(text)) else {
                    if socket == .pam { try await denyNobody(origin) }
                    return end(
                        exchange, .denied(tellsReason ? .malformed : nil),
                        outcome: "malformed-code")
                }
                if socket == .own { try take(from: ownAttempts, of: user) }
                let outcome = try await deciding(
                    await unlimited.verifier.verify(code, subject: subject, origin: origin))
                watch(outcome, for: subject)
                switch outcome.result {
                case .accepted:
                    if socket == .own { ownAttempts.giveBack(user) }
                    return end(exchange, .accepted, outcome: "accepted")
                case .denied(let denial):
                    let reason = tellsReason ? LoginResponse.Reason(denial) : nil
                    return end(exchange, .denied(reason), outcome: Self.name(of: denial))
                }
            }
        } catch {
            return endLogin(exchange, error)
        }
    }

    /// Counts a connection of a program on this machine that was closed before anything was read.
    ///
    /// - Parameter socket: the name of its socket.
    package func noteClosed(_ cause: ClosingCause, on socket: String) {
        metrics.close(operation: socket, outcome: cause.rawValue)
    }

    /// Limits the requests of a user's programs.
    private func take(from limiter: OwnNameLimiter, of user: UInt32) throws(Refusal) {
        if let seconds = limiter.take(user, now: dependencies.instant()) {
            throw Refusal(.tooManyRequests(retryAfter: seconds))
        }
    }

    /// The subject of the account that the request names; `nil` if the program may not ask about
    /// it, or if no subject can have the name.
    private func subject(
        of request: LoginRequest, on socket: LoginSocket, of user: UInt32
    ) async throws(Refusal) -> Subject? {
        guard let realm = settings.realm, let account = request.user else { return nil }
        if socket == .own {
            guard let own = await dependencies.accountName(user) else { return nil }
            // The limiter comes after the lookup: a user's other IDs, which have no account, could
            // fill the limiter.
            try take(from: ownRequests, of: user)
            guard own.utf8.elementsEqual(account.utf8) else { return nil }
        }
        return Subject(realm.subject(of: account))
    }

    /// Takes the same time as the denial of a code for an unknown user (V-06).
    ///
    /// If people may not log in, sshd replaces their input with a text that is not a code.
    private func denyNobody(_ origin: Origin) async throws(Refusal) {
        let zeros = Array("000000".utf8)
        guard let nobody = settings.realm.flatMap({ Subject($0.nobody) }),
            let code = ifPossible(try PresentedCode(zeros.span))
        else { return }
        _ = try await deciding(
            await unlimited.verifier.verify(code, subject: nobody, origin: origin))
    }
}

extension LoginRequest {
    /// The response about a name without an account, or about a name that is not the asker's own.
    fileprivate var responseToNobody: LoginResponse {
        switch operation {
        case .verify: .denied(nil)
        case .status: .unavailable
        }
    }
}

extension LoginResponse.Reason {
    /// The reason for a denial; `nil` if it would help an attacker to guess.
    fileprivate init?(_ denial: VerificationOutcome.Denial) {
        switch denial {
        case .replayed: self = .replayed
        case .throttled(let wait):
            self = .mustWait(seconds: UInt32(clamping: max(1, (wait + 999) / 1_000)))
        case .disabled: self = .locked
        case .wrong, .unknown: return nil
        }
    }
}

internal import Courier
internal import SecretVault

/// Where a device stores its enrolled secret; each change is durable when the call returns.
protocol SecretEntry {
    /// Replaces the stored state.
    func keep(_ state: EnrolledSecret) throws(DeviceLoginError)
    /// Records what is about to be presented, so that an older secret is never presented after it.
    func record(_ presented: PresentedSecret) throws(DeviceLoginError)
    /// Wipes the secret.
    func wipe(because reason: Tombstone.Reason, now: Int64) throws(DeviceLoginError)
}

/// The steps of a sign-in, independent of the vault so that a test can stop between any two.
struct SignIn<Entry: SecretEntry> {
    /// The stored state.
    private(set) var state: EnrolledSecret
    private let entry: Entry
    private let nonces: () -> RotationNonce
    private let now: Int64

    /// A sign-in takes one exchange, or two if it resumes an earlier one.
    ///
    /// The limit stops a misbehaving server.
    private var maximumRoundCount: Int { 3 }

    /// - Parameters:
    ///   - state: the state stored in `entry`.
    ///   - nonces: generates a fresh nonce.
    ///   - now: Unix seconds.
    init(
        state: EnrolledSecret, entry: Entry,
        nonces: @escaping () -> RotationNonce, now: Int64
    ) {
        self.state = state
        self.entry = entry
        self.nonces = nonces
        self.now = now
    }

    mutating func run(
        over sender: inout some RequestSender
    ) throws(DeviceLoginError) -> LoginTicket {
        for _ in 0..<maximumRoundCount {
            let (presentation, written) = state.presentation(with: nonces(), now: now)
            // Store the nonce before sending it, so that a lost response can be requested again.
            if let written { try keep(written) }
            let (next, acceptance, isRepeated) = try present(presentation, over: &sender)
            try keep(next)
            // The ticket of a repeated response may have expired; presenting the successor yields a
            // new one.
            if isRepeated { continue }
            return LoginTicket(
                text: acceptance.login, expiresAt: acceptance.expiresAt.text,
                verification: acceptance.verification.text)
        }
        throw .unexpectedResponse
    }

    private func present(
        _ presentation: Presentation, over sender: inout some RequestSender
    ) throws(DeviceLoginError) -> (EnrolledSecret, HelperResponse.Acceptance, isRepeated: Bool) {
        try entry.record(state.record(of: presentation))
        let answer = try ask(presentation, over: &sender)
        switch state.consequence(of: answer, to: presentation, now: now) {
        case .signedIn(let next, let acceptance):
            return (next, acceptance, presentation.isRepeated)
        case .askAgain(let other):
            return try present(other, over: &sender)
        case .denied:
            if case .denied(wipe: .unlisted) = answer { throw .wipeNotObeyed }
            throw .denied
        case .wipe(let order):
            guard let reason = Tombstone.Reason(order) else { throw .wipeNotObeyed }
            try entry.wipe(because: reason, now: now)
            throw .wiped(reason)
        case .unexpectedResponse:
            if case .problem(let problem) = answer { throw .problem(problem) }
            throw .unexpectedResponse
        }
    }

    private func ask(
        _ presentation: Presentation, over sender: inout some RequestSender
    ) throws(DeviceLoginError) -> HelperResponse {
        let login = HelperRequest.Login(
            credential: state.credential, secret: presentation.secret, nonce: presentation.nonce)
        let request = HelperRequest(
            server: state.server, authorities: state.authorities,
            idempotencyKey: EnrolledLogin.key(
                of: "watchword login", presentation.secret, presentation.nonce.bytes),
            operation: .login(login))
        return try EnrolledLogin.send(request, over: &sender)
    }

    private mutating func keep(_ state: EnrolledSecret) throws(DeviceLoginError) {
        try entry.keep(state)
        self.state = state
    }
}

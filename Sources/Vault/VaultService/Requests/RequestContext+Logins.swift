internal import Courier
internal import DeviceLogin
internal import Devices
internal import SecretVault
internal import WatchwordCryptography
internal import WatchwordSystem

// Signs in with enrolled secrets and device keys, which never leave the process that holds the
// vault.
extension RequestContext {
    /// Performs a request in the encoding of `DeviceLogin`, after the check that the entry
    /// requires.
    func response(toLogin encoded: SecretBytes) throws -> AgentResponse {
        let request = try encoded.withBytes { bytes throws(FieldReader.Unreadable) in
            try LoginRequest(parsing: bytes)
        }
        let response: LoginResponse
        do {
            response = try self.response(to: request)
        } catch let error as DeviceLoginError {
            // Locking the vault interrupts a sign-in; the next one resumes it.
            try expectHeld()
            response = .failed(error)
        }
        if let id = request.signing, case .ticket = response { noteUse(of: id) }
        var mayHaveSaved = request.mayChangeVault
        if case .pinNeeded = response { mayHaveSaved = false }
        return .login(try SecretBytes(encoding: response), mayHaveSaved ? vault.saveReports : [])
    }

    private func response(to request: LoginRequest) throws -> LoginResponse {
        switch request {
        case .signIn(let id): return try signIn(id)
        case .status(let id):
            let content = try enrolledContent(id, reusing: false).content
            return .state(try LoginState(of: EnrolledSecret(content), in: vault))
        case .wipe(let id): return try wipe(id)
        case .key(let request): return try response(to: request)
        case .enrol(let enrolment):
            let confirmations = Confirmations(confirmed)
            forgetConfirmed()
            return try enrol(enrolment, confirmations)
        }
    }

    private func signIn(_ id: RecordID) throws -> LoginResponse {
        let turn = try loginTurn()
        // Acquiring the lock has read the vault again.
        let content = try enrolledContent(id, reusing: true).content
        var sender = try sender()
        var login = try EnrolledLogin(content, of: id, in: vault)
        let ticket = try login.signIn(turn: turn, over: &sender, now: now)
        // At this point, the new secret is saved in any case.
        try expectHeld()
        return .ticket(ticket)
    }

    private func enrol(
        _ enrolment: Enrolment, _ confirmations: Confirmations
    ) throws -> LoginResponse {
        let turn = try loginTurn()
        let earlier = vault.entries.filter(enrolment.replaces)
        guard earlier.allSatisfy({ $0.kind == .enrolled }) else { return .nameTaken }
        let confirmed = Set(earlier.filter(confirmations.cover).map(\.id))
        // The key is stored on disk before the ticket is redeemed.
        try loadKeys(of: vault.entries.filter { $0.kind == .enrolled })
        var enrolment = enrolment
        enrolment.device = try enrolment.binding.map(deviceKey)
        enrolment.secure = keepingFingers(of: earlier)
        var sender = try sender()
        let secret = try enrolment.redeem(
            in: vault, turn: turn, over: &sender, now: now, confirmed: confirmed)
        countUse()
        let entry = vault.entries.last(where: enrolment.replaces)
        return .enrolled(
            credential: secret.credential, server: secret.server.address,
            bound: entry?.binding?.binding)
    }

    private func wipe(_ id: RecordID) throws -> LoginResponse {
        // The turn is taken first, to wait for a login in progress.
        let turn = try loginTurn()
        guard try vault.entry(id).kind == .enrolled else { throw VaultError.otherKind }
        let isWiped = try vault.update { changes throws(VaultError) -> Bool in
            // The save may have waited for another writer.
            guard isHeld else { return false }
            try changes.erase(id)
            return true
        }
        turn.end()
        guard isWiped else { throw RequestRefusal(.notHeld) }
        return .wiped
    }

    /// Opens an enrolled secret or a device key after the check that it requires.
    func enrolledContent(_ id: RecordID, reusing: Bool) throws -> CheckedContent {
        let entry = try vault.entry(id)
        try entry.requireEnrolledSecret()
        let found = try opened(entry, reusing: reusing)
        countUse()
        return found
    }
}

// Signs with device keys. Neither a private key nor the object that a TPM needs to use it leaves
// the process that holds the vault.
extension RequestContext {
    /// Performs a request, after the check that the entry requires.
    func response(to request: KeyRequest) throws -> LoginResponse {
        switch request {
        case .server(let id): return .server(try server(of: id))
        case .status(let id):
            let content = try enrolledContent(id, reusing: false).content
            return .key(KeyState(of: try EnrolledKey(content)))
        case .signIn(let id, let order): return try sign(id, nil, order)
        case .confirm(let id, let text, let order): return try sign(id, text, order)
        case .enrol(let order): return try enrol(order)
        }
    }

    /// The server's address, which is not a secret.
    private func server(of id: RecordID) throws -> ServerAddress {
        let entry = try vault.entry(id)
        try entry.requireEnrolledSecret()
        try loadKey(of: entry)
        guard let server = try vault.server(of: id).flatMap(ServerAddress.init) else {
            throw DeviceLoginError.unreadable
        }
        return server
    }

    /// Signs `text` to confirm it; without a text, signs in.
    private func sign(
        _ id: RecordID, _ text: KeyConfirmation?, _ order: SigningOrder
    ) throws -> LoginResponse {
        let turn = try loginTurn()
        // This server was shown to the person; another process may have replaced the key since.
        guard try server(of: id) == order.server else { throw VaultError.changedMeanwhile }
        let tpm = try tpm(at: order.tpm, asks: true)
        // Each text requires its own check.
        let opened = try enrolledContent(id, reusing: text == nil)
        var sender = try sender()
        var person = pinEntry()
        let login = try KeyLogin(
            opened.content, of: id, in: vault, presence: opened.presence, tpm: tpm)
        let ticket =
            if let text {
                try login.confirm(text, turn: turn, over: &sender, asking: &person, now: now)
            } else {
                try login.signIn(turn: turn, over: &sender, asking: &person, now: now)
            }
        try expectHeld()
        return .ticket(ticket)
    }
}

extension RequestContext {
    /// Creates a key and registers it, or continues an interrupted enrolment.
    ///
    /// A new key that requires a check at each use also requires a check for its registration,
    /// because the key signs it; a check for the replacement counts.
    private func enrol(_ order: KeyOrder) throws -> LoginResponse {
        let turn = try loginTurn()
        let entries = vault.entries.filter(order.enrolment.replaces)
        guard entries.allSatisfy({ $0.kind == .enrolled }) else { return .nameTaken }
        // Checks for other entries do not count here.
        let checks = confirmed.filter { check in entries.contains { $0.id == check.id } }
        try loadKeys(of: entries)
        let earlier = try contents(of: entries, confirmedBy: checks)
        // The contents do not include an entry that has vanished.
        try vault.rehearse { changes throws(VaultError) in
            for entry in entries { try changes.requireHome(of: entry.id) }
        }
        // A replacement for a key stays on the same device.
        let order = order.bound(
            to: entries.last?.binding?.device, securing: keepingFingers(of: entries))
        if let left = entries.first(where: { $0.requiresCheckPerUse && earlier[$0.id] == nil }) {
            throw DeviceLoginError.vault(left.hasVanished ? .vanishedEntries : .presenceNeeded)
        }
        let tpm = try order.tpm.map { try self.tpm(at: $0, asks: false) }
        let isMade = try order.made(in: earlier) != nil
        if !isMade, order.needsPIN { return .pinNeeded }
        // A key from an earlier run has already signed its registration.
        var checked = DeviceKeyTranscript.Presence.none
        if !isMade {
            let enrolment = KeyEnrolment(order, tpm: tpm) { _ in .none }
            let access = enrolment.access(replacing: earlier, in: vault)
            checked = try checkForNewKey(order.enrolment.name, under: access, after: checks)
        }
        forgetConfirmed()
        var sender = try sender()
        let enrolment = KeyEnrolment(order, tpm: tpm) { [checked] _ in checked }
        let outcome = try enrolment.register(
            replacing: earlier, in: vault, turn: turn, over: &sender, now: now)
        countUse()
        return switch outcome {
        case .registered(let key): .key(KeyState(of: key))
        case .adopted(let key): .adopted(KeyState(of: key))
        }
    }

    /// The contents of earlier enrolments; one of them may be a key whose registration was
    /// interrupted.
    private func contents(
        of entries: [EntrySummary], confirmedBy checks: [ConfirmedEntry]
    ) throws(VaultError) -> [RecordID: EntryContent] {
        let confirmations = Confirmations(checks)
        var contents: [RecordID: EntryContent] = [:]
        for entry in entries where entry.tombstone == nil && confirmations.cover(entry) {
            contents[entry.id] =
                entry.requiresCheckPerUse
                ? try vault.open(entry.id, proof: try vault.proofOfConfirmation(for: entry.id))
                : try vault.open(entry.id, proof: try vault.proofOfUnlocking(for: entry.id))
        }
        return contents
    }
}

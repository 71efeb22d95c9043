internal import WatchwordCryptography

extension CodeAttempt {
    /// The results of an attempt for each credential.
    private struct Findings {
        var right: [(record: CredentialRecord, offset: Int64)] = []
        var spent: [(record: CredentialRecord, isChanged: Bool)] = []
        var wrong: [CredentialRecord] = []
        /// Credentials that still have to wait, and the remaining milliseconds.
        var waiting: [(record: CredentialRecord, wait: Int64)] = []
        var disabled: [CredentialRecord] = []

        /// All credentials for which the code was checked.
        var checked: [CredentialRecord] { right.map(\.record) + spent.map(\.record) + wrong }
    }

    /// Decides on the code for these credentials, after checking their states.
    ///
    /// A code that matches several credentials is spent on all of them. A code that matches none
    /// counts against all of them.
    func decide(
        _ candidates: [CredentialRecord], subject: Subject?, credential: CredentialID?
    ) throws(VerifierError) -> Decision<VerificationOutcome> {
        var findings = Findings()
        for var record in candidates where accepts(record) {
            guard record.state != .disabled else {
                findings.disabled.append(record)
                continue
            }
            if !isTrusted, let wait = record.throttle.remainingWait(at: context.now) {
                findings.waiting.append((record, wait))
                continue
            }
            switch try check(&record) {
            case .right(let offset): findings.right.append((record, offset))
            case .spent(let further): findings.spent.append((record, further))
            case .wrong: findings.wrong.append(record)
            }
        }
        let dummyCredential = try pad(beyond: findings.checked)
        guard findings.right.isEmpty else {
            return accepted(
                findings.right,
                listing: candidates.first { $0.isOneTimePassword && $0.state == .active })
        }
        let dummy = StoreChange.writeDummy(
            context.dummy(dummyCredential ?? findings.checked.first?.row.body))
        return denied(findings, dummy, subject: subject, credential: credential)
    }

    /// Whether a known device presents the code, and may do so while strangers have to wait.
    ///
    /// Recovery codes have separate waits, which a known device does not bypass.
    private var isTrusted: Bool {
        code.form == .oneTimePassword
            && device.map { $0.holder.devices.trust($0.digest, at: context.now) } ?? false
    }

    /// Whether the credential has the kind and the state that the attempt requires.
    private func accepts(_ record: CredentialRecord) -> Bool {
        let isOfForm =
            switch code.form {
            case .oneTimePassword: record.kind == .totp || record.kind == .hotp
            case .recovery: record.kind == .recovery
            }
        let isInState =
            switch purpose {
            case .verification, .resynchronization:
                record.state == .active || record.state == .disabled
            case .confirmation: record.state == .pending && !record.isLapsed(at: context.now)
            }
        return isOfForm && isInState
    }

    /// - Parameter listing: the credential that lists a new device if a recovery code was accepted.
    private func accepted(
        _ right: [(record: CredentialRecord, offset: Int64)], listing: CredentialRecord?
    ) -> Decision<VerificationOutcome> {
        var records = right.map(\.record)
        // The code is also spent for the other credentials, but they do not count as used.
        use(&records[0])
        let (record, offset) = (records[0], right[0].offset)
        var newDevice: Token?
        var holder: CredentialRecord?
        if let device {
            change(device.holder, in: &records) { $0.succeed(device.digest) }
        } else if remembersDevice, record.state == .active {
            holder = record.isOneTimePassword ? record : listing
        }
        if let holder {
            let token = Token(
                .knownDevice, context.randomSecret(Token.Kind.knownDevice.count))
            let digest = context.keys.lookup.digest(of: token.bytes, as: token.kind)
            change(holder, in: &records) { $0.add(digest) }
            newDevice = token
        }
        var changes: [StoreChange] = []
        for (index, record) in records.enumerated() {
            changes +=
                record.state == .disabled
                ? record.changesAtEnd : [.updateCredential(record.row)]
            guard index == 0 else { continue }
            // The first use confirms that the user has received the enrolment's response.
            if right[0].record.lastUsedAt == nil { changes.append(.endAnswers(of: record.id)) }
            changes += events(of: record, offset: offset)
        }
        var remaining: Int?
        if case .recovery(let set) = record.material { remaining = set.remaining }
        return Decision(
            outcome: VerificationOutcome(
                verification: context.verification,
                result: .accepted(
                    VerificationOutcome.Acceptance(
                        credential: record.id, kind: record.kind, offset: offset,
                        remaining: remaining)), device: newDevice),
            changes: changes, secretsOf: holder?.id)
    }

    /// Changes the known devices of a credential, whose record is added if the decision does not
    /// already change it.
    private func change(
        _ holder: CredentialRecord, in records: inout [CredentialRecord],
        _ body: (inout KnownDevices) -> Void
    ) {
        let index = records.firstIndex { $0.id == holder.id } ?? records.endIndex
        if index == records.endIndex { records.append(holder) }
        body(&records[index].devices)
    }

    /// Records the use of the credential, and its consequences.
    private func use(_ record: inout CredentialRecord) {
        record.throttle.succeed(
            at: context.now, limits: limits(of: record), byKnownDevice: isTrusted)
        record.lastUsedAt = context.now
        if case .confirmation = purpose {
            record.state = .active
            record.confirmedAt = context.now
            record.lapsesAt = nil
        }
        if case .counter(let password) = record.material, password.counter == HOTPState.end {
            record.end(as: .disabled, because: .counterExhausted, at: context.now)
        }
    }

    private func events(of record: CredentialRecord, offset: Int64) -> [StoreChange] {
        var events: [StoreChange] = []
        switch (purpose, record.material) {
        case (.confirmation, _): events.append(context.event(.enrolled, of: record))
        case (.resynchronization, _):
            events.append(context.event(.resynchronised, of: record, number: offset))
        case (.verification, .recovery(let set)):
            events.append(
                context.event(
                    .accepted, .recoveryCode, of: record, number: Int64(set.remaining)))
        case (.verification, _):
            events.append(context.event(.accepted, of: record, number: offset))
        }
        if record.state == .disabled {
            events.append(context.event(.disabled, .counterExhausted, of: record))
        }
        return events
    }

    private func denied(
        _ findings: Findings, _ dummy: StoreChange, subject: Subject?, credential: CredentialID?
    ) -> Decision<VerificationOutcome> {
        let denial: VerificationOutcome.Denial
        var changes: [StoreChange] = []
        let event: Event
        func unwritten(_ kind: Event.Kind, _ reason: Event.Reason) -> Event {
            let tried = findings.checked
            return context.unwritten(
                kind, reason, subject: subject,
                credential: credential ?? (tried.count == 1 ? tried[0].id : nil))
        }
        if !findings.spent.isEmpty {
            // A replay is not a guess, so it is not counted: a form that is submitted twice does
            // not lock anyone out.
            denial = .replayed
            let changed = findings.spent.filter(\.isChanged)
            changes = changed.map { .updateCredential($0.record.row) }
            if changes.isEmpty { changes = [dummy] }
            event = unwritten(.replayed, .spent)
        } else if !findings.wrong.isEmpty {
            denial = .wrong
            changes = failed(findings.wrong)
            event = unwritten(.denied, .wrong)
        } else if let shortest = findings.waiting.map(\.wait).min() {
            denial = .throttled(retryAfter: shortest)
            changes = restartedWaits(findings.waiting.map(\.record), dummy)
            event = unwritten(.denied, .throttled)
        } else if !findings.disabled.isEmpty {
            denial = .disabled
            changes = [dummy]
            event = unwritten(.denied, .disabled)
        } else {
            denial = .unknown
            changes = [dummy]
            event = unwritten(.denied, .unknown)
        }
        // A commit that writes a credential's row needs an event that names it.
        if changes != [dummy] { changes.append(.appendEvent(event)) }
        let decision = Decision(
            outcome: VerificationOutcome(
                verification: context.verification, result: .denied(denial)),
            changes: changes)
        return changes == [dummy] ? decision.counting(event, by: nil) : decision
    }

    /// Counts a failure against each of these credentials, and against the known device.
    private func failed(_ wrong: [CredentialRecord]) -> [StoreChange] {
        var records = wrong
        var events: [StoreChange] = []
        for index in wrong.indices {
            switch records[index].throttle.fail(
                at: context.now, limits: limits(of: wrong[index]), byKnownDevice: isTrusted)
            {
            case .none, .waiting: break
            case .locked: events.append(context.event(.locked, .tooManyFailures, of: wrong[index]))
            case .disabled:
                records[index].end(as: .disabled, because: .tooManyFailures, at: context.now)
                events.append(context.event(.disabled, .tooManyFailures, of: wrong[index]))
            }
            let count = records[index].throttle.dayFailures
            guard count == GuessLimits.reportedFailures else { continue }
            events.append(
                context.event(
                    .guessing, .tooManyFailures, of: wrong[index], number: Int64(count)))
        }
        if isTrusted, let device {
            change(device.holder, in: &records) { $0.fail(device.digest, at: context.now) }
        }
        let updates = records.flatMap { record -> [StoreChange] in
            record.state == .disabled ? record.changesAtEnd : [.updateCredential(record.row)]
        }
        return updates + events
    }

    /// Restarts waits that appear to start in the future because the clock was set back.
    private func restartedWaits(
        _ records: [CredentialRecord], _ dummy: StoreChange
    ) -> [StoreChange] {
        let ahead = records.filter { $0.throttle.isAhead(of: context.now) }
        guard !ahead.isEmpty else { return [dummy] }
        return ahead.map { record in
            var record = record
            record.throttle.restart(at: context.now)
            return .updateCredential(record.row)
        }
    }
}

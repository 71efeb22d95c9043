import CommandLineInterface
import OneTimePassword
import SecretVault
import VaultService
import WatchwordSystem

// Codes and secrets of entries, after the confirmation that each requires.
extension Session {
    /// The code of a time-based entry, `offset` steps after the time that `--at` names, or after
    /// now, and that time.
    func code(
        of entry: EntrySummary, in vault: any OpenVault, offset: UInt64, for use: EntryUse
    ) throws -> (text: String, step: TimeStep, moment: Int64) {
        guard let step = entry.timeStep else { throw OneTimePasswordError.otherMovingFactor }
        if let found = vault.code, found.offset == offset {
            return (found.text, step, found.moment)
        }
        let asked = try moment()
        let first = try step.number(at: asked)
        let time = CodeTime.moment(asked, offset: offset, isRefresh: false)
        let code = try issuedCode(of: entry, at: time, by: vault, for: use)
        // The confirmation may have taken a while.
        let now = try moment()
        guard try step.number(at: now) != first else { return (code.text, step, now) }
        // The code changed during the confirmation, which also counts for the next code.
        let later = CodeTime.moment(now, offset: offset, isRefresh: true)
        let request = AgentRequest.code(vault.place, entry.id, later, .none)
        guard case .code(let next) = try vault.send(request) else {
            throw CommandFailure.agentLocked(nil)
        }
        return (next.text, step, now)
    }

    /// The next code of a counter-based entry, whose counter is saved first.
    func nextCode(
        of entry: EntrySummary, in vault: any OpenVault, for use: EntryUse
    ) throws -> (text: String, counter: UInt64) {
        let code = try issuedCode(of: entry, at: .counter, by: vault, for: use)
        guard let counter = code.counter else { throw AgentFailure.malformed }
        return (code.text, counter)
    }

    private func issuedCode(
        of entry: EntrySummary, at time: CodeTime, by vault: any OpenVault, for use: EntryUse
    ) throws -> IssuedCode {
        let response = try response(for: entry, in: vault, for: use) { presence in
            .code(vault.place, entry.id, time, presence)
        }
        guard case .code(let code) = response else { throw AgentFailure.malformed }
        return code
    }

    /// Compares a code with those in a window.
    func match(
        _ comparison: CodeComparison, of entry: EntrySummary, by vault: any OpenVault
    ) throws -> Int? {
        let response = try response(for: entry, in: vault, for: .verify) { presence in
            .verify(vault.place, entry.id, comparison, presence)
        }
        guard case .match(let offset) = response else { throw AgentFailure.malformed }
        return offset
    }

    /// Opens `entry`.
    func content(
        of entry: EntrySummary, in vault: any OpenVault, for use: EntryUse
    ) throws -> EntryContent {
        let response = try response(for: entry, in: vault, for: use) {
            .contents(vault.place, [entry.id], $0, isUse: use == .show)
        }
        guard case .contents(let contents) = response, contents.count == 1 else {
            throw AgentFailure.malformed
        }
        return contents[0]
    }

    /// Opens `entry`, which has codes.
    func credential(
        of entry: EntrySummary, in vault: any OpenVault, for use: EntryUse
    ) throws -> Credential {
        guard
            case .oneTimePassword(let credential) = try content(of: entry, in: vault, for: use)
        else { throw CommandFailure.noCodes(entry.name.visible, entry.kind) }
        return credential
    }

    /// Opens entries that require no check of their own.
    func contents(of entries: [EntrySummary], in vault: any OpenVault) throws -> [EntryContent] {
        var contents: [EntryContent] = []
        while contents.count < entries.count {
            let next = entries[contents.count...].prefix(AgentRequest.mostContents)
            let request = AgentRequest.contents(
                vault.place, next.map(\.id), .none, isUse: false)
            guard
                case .contents(let opened) = try expected(
                    vault.send(request), by: vault),
                opened.count == next.count
            else { throw AgentFailure.malformed }
            contents += opened
        }
        return contents
    }

    /// Records that `entry` was used, after what it was used for is printed.
    func recordUse(of entry: EntrySummary, in vault: any OpenVault) throws {
        // A code that is used up must not be lost if a later entry fails.
        try printer.flush()
        vault.recordUse(of: entry.id, at: SystemClock.unixTime())
    }
}

extension TimeStep {
    /// The number of the step at `moment`.
    func number(at moment: Int64) throws -> UInt64 {
        guard let number = step(at: moment) else { throw OneTimePasswordError.beforeStart }
        return number
    }
}

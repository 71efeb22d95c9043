import CommandLineInterface
import OneTimePassword
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordSystem

/// A code of an entry, with the facts about it.
struct EntryCode {
    let entry: EntrySummary
    let text: String
    /// The JSON members that describe the code; empty without `--json`.
    let facts: Record
    /// The Unix time when the code changes; `nil` for a counter-based entry.
    let end: Int64?

    var record: Record { record(with: [("code", .text(text))]) }

    /// A record of the action with the code, without the code itself.
    func record(with fields: Record) -> Record {
        let names: Record = [("account", .text(entry.account)), ("issuer", .text(entry.issuer))]
        return (fields + facts + names).filling(["counter", "period", "remaining", "valid_until"])
            .byName
    }
}

extension Session {
    /// Refuses an entry whose code the command cannot compute.
    func requireCode(of entry: EntrySummary) throws {
        switch entry.kind {
        case .totp: return
        case .hotp:
            for option in [Option.at, .next] where arguments.has(option) {
                throw OneTimePasswordError.otherMovingFactor
            }
        case .secret, .enrolled, .motp, .yandex:
            throw CommandFailure.noCodes(entry.name.visible, entry.kind)
        }
    }

    /// The offset of the code in steps from the current one; 1 with `--next`.
    var codeOffset: UInt64 { arguments.has(.next) ? 1 : 0 }

    /// The code of `entry`, after the check that the entry requires.
    func entryCode(of entry: EntrySummary, in vault: any OpenVault, for use: EntryUse)
        throws -> EntryCode
    {
        try requireCode(of: entry)
        guard entry.kind == .totp else {
            let code = try nextCode(of: entry, in: vault, for: use)
            return EntryCode(
                entry: entry, text: code.text,
                facts: [("counter", .counter(code.counter)), ("type", .text("hotp"))], end: nil)
        }
        let offset = codeOffset
        let code = try code(of: entry, in: vault, offset: offset, for: use)
        // Without JSON, the C library need not load the time zone.
        let facts =
            wantsJSON ? CodeFacts.timeBased(code.step, at: code.moment, offset: offset) : []
        return EntryCode(
            entry: entry, text: code.text, facts: facts,
            end: CodeFacts.end(code.step, at: code.moment, offset: offset))
    }
}

/// The JSON members of a time-based code, except the code.
enum CodeFacts {
    /// `period`, `remaining`, `type` and `valid_until` of the code `offset` steps after `moment`.
    static func timeBased(_ step: TimeStep, at moment: Int64, offset: UInt64 = 0)
        -> Record
    {
        let end = end(step, at: moment, offset: offset)
        // A time that overflows 64 bits or that RFC 3339 cannot represent is `null`.
        let until = end.map(Timestamp.init(unixTime:)).flatMap { $0.isWritable ? $0.text : nil }
        return [
            ("period", .number(step.period)),
            ("remaining", end.map { .number($0 - moment) } ?? .null), ("type", .text("totp")),
            ("valid_until", until.map { .text($0) } ?? .null),
        ]
    }

    /// The Unix time when the code ends; `nil` if it overflows.
    static func end(_ step: TimeStep, at moment: Int64, offset: UInt64) -> Int64? {
        guard let remaining = step.remaining(at: moment),
            let steps = Int64(exactly: offset)
        else { return nil }
        let (later, tooLong) = steps.multipliedReportingOverflow(by: step.period)
        let (distance, tooFar) = later.addingReportingOverflow(remaining)
        let (end, tooLate) = moment.addingReportingOverflow(distance)
        return tooLong || tooFar || tooLate ? nil : end
    }
}

extension TimeStep {
    /// The number of the step that contains `moment`.
    func number(at moment: Int64) throws -> UInt64 {
        guard let number = step(at: moment) else { throw OneTimePasswordError.beforeStart }
        return number
    }
}

// Codes and secrets of entries, after the check that each requires.
extension Session {
    /// The code of a time-based entry, `offset` steps after the time of `--at` or, without the
    /// option, after now; and that time.
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
        // Time may have passed during the check.
        let now = try moment()
        guard try step.number(at: now) != first else { return (code.text, step, now) }
        // The code changed during the check, which also counts for the next code.
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

    /// Compares a code with the codes in a window.
    func match(
        _ comparison: CodeComparison, of entry: EntrySummary, by vault: any OpenVault
    ) throws -> Int? {
        let response = try response(for: entry, in: vault, for: .verify) { presence in
            .verify(vault.place, entry.id, comparison, presence)
        }
        guard case .match(let offset) = response else { throw AgentFailure.malformed }
        return offset
    }

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

    /// Opens entries that require no separate check.
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

    /// Records that `entry` was used, after the result of the use is printed.
    func recordUse(of entry: EntrySummary, in vault: any OpenVault) throws {
        // A spent code must not be lost if a later entry fails.
        try printer.flush()
        vault.recordUse(of: entry.id, at: SystemClock.unixTime())
    }
}

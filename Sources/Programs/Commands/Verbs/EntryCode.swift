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
    /// The JSON members that describe the code; empty unless JSON is printed.
    let facts: [(String, JSONValue)]
    /// The Unix time when the code changes; `nil` for a counter-based entry.
    let end: Int64?

    /// The code as JSON.
    var json: JSONValue { json(with: [("code", .text(text))]) }

    /// What was done with the code, as JSON without the code.
    func json(with members: [(String, JSONValue)]) -> JSONValue {
        let names: [(String, JSONValue)] = [
            ("account", .text(entry.account)), ("issuer", .text(entry.issuer)),
        ]
        return .object((members + facts + names).sorted { $0.0 < $1.0 })
    }
}

// Computing codes.
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

    /// How many steps after the current one the code is: with `--next`, one.
    var codeOffset: UInt64 { arguments.has(.next) ? 1 : 0 }

    /// The code of `entry`, once the confirmation that it requires was given.
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
        // Without JSON, the C library need not read the time zone.
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
        -> [(String, JSONValue)]
    {
        var members: [(String, JSONValue)] = [("period", .number(step.period))]
        let end = end(step, at: moment, offset: offset)
        if let end { members.append(("remaining", .number(end - moment))) }
        members.append(("type", .text("totp")))
        // Omit a time that overflows 64 bits or that RFC 3339 cannot represent.
        let until = end.map(Timestamp.init(unixTime:))
        if let until, until.isWritable { members.append(("valid_until", .text(until.text))) }
        return members
    }

    /// The Unix time when the code ends; `nil` if it overflows.
    static func end(_ step: TimeStep, at moment: Int64, offset: UInt64) -> Int64? {
        guard let remaining = step.remaining(at: moment), let steps = Int64(exactly: offset) else {
            return nil
        }
        let (later, tooLong) = steps.multipliedReportingOverflow(by: step.period)
        let (distance, tooFar) = later.addingReportingOverflow(remaining)
        let (end, tooLate) = moment.addingReportingOverflow(distance)
        return tooLong || tooFar || tooLate ? nil : end
    }
}

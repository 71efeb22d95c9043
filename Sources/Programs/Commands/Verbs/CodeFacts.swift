import OneTimePassword
import WatchwordCoding

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
        let remaining: Int64
        do { remaining = try step.remaining(at: moment) } catch { return nil }
        guard let steps = Int64(exactly: offset) else { return nil }
        let (later, tooLong) = steps.multipliedReportingOverflow(by: step.period)
        let (distance, tooFar) = later.addingReportingOverflow(remaining)
        let (end, tooLate) = moment.addingReportingOverflow(distance)
        return tooLong || tooFar || tooLate ? nil : end
    }
}

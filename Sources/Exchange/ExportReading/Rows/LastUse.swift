internal import OneTimePassword

/// What a server's file says about the last code that the server accepted.
enum LastUse {
    case unknown
    /// The time step of the code.
    case step(UInt64)
    /// The code itself, and the local time, in an unknown time zone, at which it was accepted.
    case code([UInt8], time: Int64?)

    /// How many time steps early or late a server may accept a code; users rarely configure more.
    private static let window = 20
    /// The greatest offsets of local time behind and ahead of UTC, in seconds.
    private static let zones: (behind: Int64, ahead: Int64) = (12 * 3_600, 14 * 3_600)

    /// The counter of the next code; `counter` is that of the last or of the next code.
    ///
    /// After a use, liboath writes the last code and its counter; before the first use, it writes
    /// the counter of the next code.
    func nextCounter(from counter: UInt64, _ generator: borrowing CodeGenerator) -> UInt64 {
        guard case .code(let code, _) = self, counter < .max,
            generator.match(code.span, around: counter, behind: 0, ahead: 0) != nil
        else { return counter }
        return counter + 1
    }

    /// The time step of the last code; `nil` if it is unknown.
    func step(of credential: Credential) -> UInt64? {
        guard case .time(let timeStep) = credential.movingFactor else { return nil }
        switch self {
        case .unknown, .code(_, time: nil): return nil
        case .step(let step): return step
        case .code(let code, let time?):
            return Self.step(
                of: code, at: time, period: timeStep.period, credential.generator())
        }
    }

    /// The time step near `time` that has this code.
    ///
    /// If no step near that time in UTC matches, the time is in another zone. The latest matching
    /// step of any zone is then the safe choice, because no code can be accepted twice. If no step
    /// matches at all, the result is the step of `time`.
    private static func step(
        of code: [UInt8], at time: Int64, period: Int64, _ generator: borrowing CodeGenerator
    ) -> UInt64? {
        guard let written = step(at: time, period: period) else { return nil }
        if let offset = generator.match(
            code.span, around: written, behind: window, ahead: window)
        {
            return written.advanced(by: offset)
        }
        guard let first = step(at: time - zones.ahead, period: period),
            let last = step(at: time + zones.behind, period: period)
        else { return written }
        for step in stride(from: last + UInt64(window), through: first, by: -1)
        where generator.match(code.span, around: step, behind: 0, ahead: 0) != nil {
            return step
        }
        return written
    }

    private static func step(at time: Int64, period: Int64) -> UInt64? {
        UInt64(exactly: time / period)
    }
}

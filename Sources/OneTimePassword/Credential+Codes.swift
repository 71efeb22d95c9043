/// Why a credential has no code there.
public enum CodeError: Error, Hashable, Sendable {
    /// A counter's credential was asked by time, or the other way round.
    case otherMovingFactor
    /// The time lies before the first step.
    case beforeStart
}

extension Credential {
    /// A generator for many codes of this credential.
    public func generator() -> CodeGenerator {
        CodeGenerator(key: key, algorithm: algorithm, style: style)
    }

    /// The code at a Unix time.
    ///
    /// - Throws: ``CodeError/otherMovingFactor`` for HOTP, ``CodeError/beforeStart`` for a time
    ///   before T0.
    public func code(atUnixTime unixTime: Int64) throws(CodeError) -> Code {
        code(at: try step(atUnixTime: unixTime))
    }

    /// The step of a Unix time, as ``CodeGenerator`` takes it.
    ///
    /// - Throws: ``CodeError/otherMovingFactor`` for HOTP, ``CodeError/beforeStart`` for a time
    ///   before T0.
    public func step(atUnixTime unixTime: Int64) throws(CodeError) -> UInt64 {
        guard case .time(let timeStep) = movingFactor else { throw .otherMovingFactor }
        do { return try timeStep.step(at: unixTime) } catch { throw .beforeStart }
    }

    /// The code at a counter.
    ///
    /// - Throws: ``CodeError/otherMovingFactor`` for TOTP.
    public func code(counter: UInt64) throws(CodeError) -> Code {
        guard case .counter = movingFactor else { throw .otherMovingFactor }
        return code(at: counter)
    }

    private func code(at factor: UInt64) -> Code {
        CodeGenerator.code(at: factor, key: key, algorithm: algorithm, style: style)
    }
}

/// Why there is no code for a moving factor.
public enum CodeError: Error, Hashable, Sendable {
    /// The credential is HOTP and a time was given, or it is TOTP and a counter was given.
    case otherMovingFactor
    /// The time is before the first step.
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

    /// The time step of a Unix time, for ``CodeGenerator``.
    ///
    /// - Throws: ``CodeError/otherMovingFactor`` for HOTP, ``CodeError/beforeStart`` for a time
    ///   before T0.
    public func step(atUnixTime unixTime: Int64) throws(CodeError) -> UInt64 {
        guard case .time(let timeStep) = movingFactor else { throw .otherMovingFactor }
        return try timeStep.step(at: unixTime)
    }

    /// The code for a counter value.
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

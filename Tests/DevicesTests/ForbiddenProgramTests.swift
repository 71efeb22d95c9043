import TestSupport
import Testing

/// Programs that try to bypass the check, and the compiler errors that they must cause.
struct ForbiddenProgramTests {
    /// The declarations that each program may use.
    private static let around = """
        import Devices
        struct Asking: PresenceCheck {
            typealias Grade = Advisory
            func isPresent(for purpose: String) -> Bool { true }
        }
        func openVault(_ proof: consuming PresenceProof<Cryptographic>) {}

        """

    @Test("a program that spends each proof once, with a sufficient grade, compiles")
    func allowed() throws {
        let program = """
            func open(_ purpose: PresencePurpose) throws {
                var check = Asking()
                if let proof = check.prove(for: purpose, now: .zero) { _ = proof.spend(on: purpose, now: .zero) }
            }
            func pass(_ proof: consuming PresenceProof<Cryptographic>) { openVault(proof) }
            """
        #expect(try SwiftCompiler.errors(in: Self.around + program) == [])
    }

    struct Forbidden: CustomTestStringConvertible {
        let testDescription: String
        let program: String
        let error: String

        /// A program whose body has a proof called `proof`.
        static func having(_ what: String, _ body: String, _ error: String) -> Forbidden {
            let parameters =
                "_ proof: consuming PresenceProof<Advisory>, _ purpose: PresencePurpose"
            return Forbidden(
                testDescription: what, program: "func cheat(\(parameters)) throws { \(body) }",
                error: error)
        }

        static func whole(_ what: String, _ program: String, _ error: String) -> Forbidden {
            Forbidden(testDescription: what, program: program, error: error)
        }
    }

    @Test(
        "a program that bypasses the presence check does not compile",
        arguments: [
            .having(
                "copied", "let other = copy proof; _ = other.spend(on: purpose, now: .zero)",
                "'copy' cannot be applied to noncopyable types"),
            .having(
                "spent twice",
                "_ = proof.spend(on: purpose, now: .zero); _ = proof.spend(on: purpose, now: .zero)",
                "'proof' consumed more than once"),
            .having(
                "spent in a loop", "for _ in 0..<2 { _ = proof.spend(on: purpose, now: .zero) }",
                "'proof' consumed in a loop"),
            .having(
                "kept in an array", "let kept = [proof]; _ = kept",
                "generic struct 'Array' requires that 'PresenceProof<Advisory>' conform to 'Copyable'"
            ),
            .having(
                "kept as anything", "let kept: Any = proof; _ = kept",
                "value of type 'PresenceProof<Advisory>' does not conform to specified type 'Copyable'"
            ),
            .having(
                "advisory where the key is needed", "openVault(proof)",
                "cannot convert value of type 'PresenceProof<Advisory>' to expected argument type "
                    + "'PresenceProof<Cryptographic>'"),
            .having(
                "cast to the other grade", "openVault(proof as! PresenceProof<Cryptographic>)",
                "noncopyable types cannot be conditionally cast"),
            .having(
                "spent on its own word", "_ = proof.spend(on: proof.purpose, now: .zero)",
                "'purpose' is inaccessible due to 'private' protection level"),
            .whole(
                "made by hand",
                "func cheat(_ p: PresencePurpose) throws {"
                    + " _ = PresenceProof<Advisory>(of: p, until: .zero).spend(on: p, now: .zero) }",
                "'PresenceProof<Grade>' initializer is inaccessible due to 'internal' protection level"
            ),
            .whole(
                "made by an initialiser of one's own",
                "extension PresenceProof { init(late: Bool) { self.expiry = .zero } }",
                "'expiry' is inaccessible due to 'private' protection level"),
            .whole(
                "a purpose that passes for another",
                "final class Same: PresencePurpose {}",
                "inheritance from a final class 'PresencePurpose'"),
            .whole(
                "kept in a global variable", "var kept: PresenceProof<Advisory>?",
                "var 'kept' is not concurrency-safe because it is nonisolated global shared mutable "
                    + "state [#MutableGlobalVariable]"),
            .whole(
                "kept in a global constant",
                """
                let purpose = PresencePurpose("x")
                let kept: PresenceProof<Advisory>? = { var check = Asking()
                    return check.prove(for: purpose, now: .zero) }()
                func cheat() throws { if let proof = kept { _ = proof.spend(on: purpose, now: .zero) } }
                """, "'unknown' is borrowed and cannot be consumed"),
        ] as [Forbidden])
    func forbidden(_ forbidden: Forbidden) throws {
        #expect(
            try SwiftCompiler.errors(in: Self.around + forbidden.program) == [forbidden.error])
    }
}

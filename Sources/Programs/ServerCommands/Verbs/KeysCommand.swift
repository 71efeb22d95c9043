import CommandLineInterface
import Verification
import WatchwordCoding
import WatchwordSystem

/// `keys list`, `keys rotate` and `keys retire`.
enum KeysCommand {
    /// Long enough for all decisions that began with the previous keys to finish.
    private static let pause = Duration.seconds(1)

    static func list(_ session: ServerSession) async throws -> ExitCode {
        let context = try ServerContext.open(ServerPaths(session.arguments), making: false)
        let usage = try await context.verifier.keyUsage()
        let ring = context.keys.ring()
        let missing = usage.map(\.keyID).filter { id in !ring.versions.contains { $0.id == id } }
        for id in ring.versions.map(\.id) + missing {
            try print(id, usage.first { $0.keyID == id }, ring, session)
            if session.arguments.has(.credentials), id != ring.current.id {
                try await printCredentials(under: id, context.verifier, session)
            }
        }
        context.close()
        return .done
    }

    private static func printCredentials(
        under id: KeyID, _ verifier: Verifier, _ session: ServerSession
    ) async throws {
        var last: CredentialID?
        repeat {
            let after = last
            let rows = try await verifier.credentials(under: id, after: after, limit: 1_000)
            for row in rows {
                let (name, subject) = (row.id.text, row.subject.text)
                if session.wantsJSON {
                    try session.printer.line(
                        .object([
                            ("key", .number(Int64(id.number))), ("credential", .text(name)),
                            ("type", .text(row.kind.rawValue)), ("subject", .text(subject)),
                        ]))
                } else {
                    try session.printer.line(
                        "  \(name)  \(row.kind.rawValue)  \(subject)".visibleOnTerminal)
                }
            }
            last = rows.last?.id
        } while last != nil
    }

    private static func print(
        _ id: KeyID, _ usage: KeyUsage?, _ ring: KeyRing, _ session: ServerSession
    ) throws {
        let state = state(of: id, ring)
        let counts =
            CredentialKind.allCases.map { (label($0), usage?.credentials[$0] ?? 0) }
            + [("answers", usage?.answers ?? 0)]
        if session.wantsJSON {
            try session.printer.line(
                .object(
                    [("key", .number(Int64(id.number))), ("state", .text(state))]
                        + counts.map { ($0.0, .number(Int64($0.1))) }))
        } else {
            let words = counts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
            try session.printer.line(
                "key \(id.number)  \(state)  "
                    + (words.isEmpty ? "unused" : words.joined(separator: ", ")))
        }
    }

    /// The name of the kind; “key” would be ambiguous, because it is the number of the server's own
    /// key.
    private static func label(_ kind: CredentialKind) -> String {
        kind == .key ? "device_key" : kind.rawValue
    }

    private static func state(of id: KeyID, _ ring: KeyRing) -> String {
        guard ring.versions.contains(where: { $0.id == id }) else { return "missing" }
        if id == ring.current.id { return "current" }
        return id > ring.current.id ? "staged" : "retiring"
    }

    /// Creates a new key and reseals the rows under it, or resumes an interrupted rotation.
    ///
    /// With PostgreSQL, a new key is first only added to the key file, so that it can be copied to
    /// the other machines.
    static func rotate(_ session: ServerSession) async throws -> ExitCode {
        let places = try ServerPaths(session.arguments)
        let context = try ServerContext.open(places, making: false)
        let keys = context.keys
        let usage = try await context.verifier.keyUsage()
        let isInterrupted = isUnfinished(keys.ring(), usage)
        if !isInterrupted {
            // Every server must know the key before the first row uses it.
            let isNew = try stage(context, places)
            if isNew, case .postgreSQL = places.database {
                context.close()
                try adviseCopying(keys.ring(), places, session)
                return .done
            }
            await rest()
            try keys.change { ring throws(VerifierError) in
                try ring.making(current: ring.versions[ring.versions.count - 1].id)
            }
            await rest()
        }
        let rotation = try await context.verifier.rotateKeys()
        let current = keys.ring().current.id.number
        context.close()
        if session.wantsJSON {
            try session.printer.line(
                .object([
                    ("key", .number(Int64(current))),
                    ("resealed", .number(Int64(rotation.resealed))),
                    ("left", .list(rotation.left.map { .number(Int64($0.keyID.number)) })),
                ]))
        } else {
            try session.printer.line(
                "Key \(current) is now current. Credentials re-sealed: \(rotation.resealed)."
            )
        }
        return .done
    }

    /// Adds a new key to the file, unless the file already has an unused new key.
    ///
    /// - Returns: whether a key was added.
    private static func stage(
        _ context: ServerContext, _ places: ServerPaths
    ) throws -> Bool {
        let before = context.keys.ring().versions.map(\.id)
        try context.keys.change { ring throws(VerifierError) in
            ring.versions.last.map { $0.id > ring.current.id } ?? false
                ? ring : try ring.adding(makingCurrent: false)
        }
        let ring = context.keys.ring()
        let foreign = try context.store.claim(ring, places)
        guard foreign.isEmpty else {
            try context.keys.change { ring throws(VerifierError) in
                var ring = ring
                for id in foreign where id > ring.current.id { ring = try ring.retiring(id) }
                return ring
            }
            throw ServerFailure.conflictingKeys(places.keyFile, foreign.sorted())
        }
        return ring.versions.contains { !before.contains($0.id) }
    }

    /// Prints the steps that are needed before the new key can be used.
    private static func adviseCopying(
        _ ring: KeyRing, _ places: ServerPaths, _ session: ServerSession
    ) throws {
        guard let staged = ring.versions.last else { return }
        if session.wantsJSON {
            try session.printer.line(.object([("staged", .number(Int64(staged.id.number)))]))
        } else {
            try session.printer.line(
                """
                Key \(staged.id.number) was added to \(places.keyFile), but is not used yet. Copy the file to every machine
                that serves this database, run keys rotate again, and copy the file again.
                """)
        }
    }

    /// Whether sealed rows still use a key older than the current one.
    private static func isUnfinished(_ ring: KeyRing, _ usage: [KeyUsage]) -> Bool {
        usage.contains { usage in
            usage.keyID < ring.current.id
                && usage.credentials.contains { $0.key.isSealed && $0.value > 0 }
        }
    }

    static func retire(_ session: ServerSession) async throws -> ExitCode {
        let places = try ServerPaths(session.arguments)
        let context = try ServerContext.open(places, making: false)
        let usage = try await context.verifier.keyUsage()
        context.close()
        let used = Set(
            usage.filter { $0.answers > 0 || $0.credentials.values.contains { $0 > 0 } }
                .map(\.keyID))
        let before = context.keys.ring()
        let retired = before.versions.map(\.id).filter {
            $0 < before.current.id && !used.contains($0)
        }
        try context.keys.change { ring throws(VerifierError) in
            var ring = ring
            for id in retired where ring.versions.contains(where: { $0.id == id }) {
                ring = try ring.retiring(id)
            }
            return ring
        }
        for id in retired {
            if session.wantsJSON {
                try session.printer.line(.object([("retired", .number(Int64(id.number)))]))
            } else {
                try session.printer.line("Key \(id.number) is retired.")
            }
        }
        return .done
    }

    private static func rest() async {
        // This task is never cancelled.
        do { try await Task.sleep(for: pause) } catch {}
    }
}

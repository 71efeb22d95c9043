import CommandLineInterface
import Devices
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// `unlock`: has the agent open the vault and hold its key.
enum UnlockCommand {
    static func run(_ session: Session) throws -> ExitCode {
        let time = try holdingTime(session)
        if let vault = try session.systemVault() {
            return try hold(vault, for: time, session)
        }
        let path = try session.vaultPath()
        try session.requiringVault(at: path) {
            try session.correctPermissions(of: path)
        }
        let place = try session.place(of: path)
        // This comes before the prompt, so that nobody types a passphrase in vain, and only a
        // process that answers as this agent gets the passphrase.
        let client = try session.startedAgent(for: place)
        try session.expectLimits(of: client, for: place)
        switch try client.send(.list(place)) {
        case .outOfReach: throw CommandFailure.outOfReach(VisibleText.of(path))
        case .locked(let reason): session.printer.alarm(Messages.sentence(for: reason))
        default: break
        }
        let ceiling = try session.unlockCeiling()
        let slots = try Vault.slots(at: path)
        func unlock(_ opener: VaultOpener) throws -> VaultListing {
            let began = SystemClock.unixTime()
            let request = AgentRequest.unlock(place, opener, ceiling: ceiling, time)
            switch try client.send(request) {
            case .listing(let listing): return listing
            case .failed(let error):
                throw session.refusal(error, at: path) { try session.status(path, since: began) }
            case .outOfReach: throw CommandFailure.outOfReach(VisibleText.of(path))
            case .notLocked: throw CommandFailure.keyNotLocked(bySystem: false)
            // The agent is ending.
            case .notHeld: throw AgentFailure.noResponse
            default: throw AgentFailure.malformed
            }
        }
        let listing = try session.withOpener(
            of: path, among: slots, mayUseWindow: true, lockOut: { try session.lockOut(of: path) },
            unlock)
        session.printReports(listing.reports, of: listing.entries.map(\.summary))
        if session.arguments.has(.unlockedMemory), SecretBytes.lockedLimit == 0 {
            session.printer.warn(Messages.sentence(forLockedMemory: 0))
        }
        session.printer.note(Messages.sentence(for: time))
        return .done
    }

    /// Has the system agent hold the key of the vault that it keeps.
    private static func hold(
        _ vault: SystemVault, for time: HoldingTime, _ session: Session
    ) throws -> ExitCode {
        let ceiling = try session.unlockCeiling()
        let listing = try session.unlocked(vault, mayUseWindow: true) { opener in
            .unlock(vault.place, opener, ceiling: ceiling, time)
        }
        session.printReports(listing.reports, of: listing.entries.map(\.summary))
        session.printer.note(Messages.sentence(for: time))
        return .done
    }

    private static func holdingTime(_ session: Session) throws -> HoldingTime {
        let standard = HoldingTime.standard
        return HoldingTime(
            idle: try session.timeLimit(.idle, standard: standard.idle, allowsZero: false),
            total: try session.timeLimit(.atMost, standard: standard.total, allowsZero: false))
    }
}

/// `lock`: has the agent forget the vault's key.
enum LockCommand {
    static func run(_ session: Session) throws -> ExitCode {
        let all = session.arguments.has(.allVaults)
        // Send this request first, so that it gets through to a busy agent.
        if let system = all ? try SystemAgent.connect() : try session.systemAgent() {
            let response = try system.send(.lock(.ofSystem))
            guard all else { return try end(with: response, session) }
        }
        if let client = try session.runningAgent() {
            let request: AgentRequest =
                all ? .lockAll : .lock(try session.place(of: session.vaultPath()))
            if let response = try session.exchange(request, withRunning: client) {
                return try end(with: response, all: all, session)
            }
        }
        session.printer.note("The agent is not running; nothing is unlocked.")
        return .done
    }

    private static func end(
        with response: AgentResponse, all: Bool = false, _ session: Session
    ) throws -> ExitCode {
        switch response {
        case .done: session.printer.note(all ? "Locked all vaults." : "Locked the vault.")
        case .notHeld, .failed(.notFound): session.printer.note("The vault is not unlocked.")
        default: throw AgentFailure.malformed
        }
        return .done
    }
}

extension VaultPlace {
    /// The place of the vault at `path`; `nil` if its folder cannot be opened.
    static func existing(at path: String) -> VaultPlace? {
        do { return try VaultPlace(at: path) } catch { return nil }
    }
}

extension Session {
    /// The place of the vault at `path`.
    func place(of path: String) throws -> VaultPlace {
        do { return try VaultPlace(at: path) } catch {
            throw error.isMissing ? VaultError.notFound : .system(error)
        }
    }

    /// The running agent; `nil` if there is none.
    func runningAgent() throws -> AgentClient? {
        do { return try AgentClient() } catch AgentFailure.notRunning { return nil }
    }

    /// Sends a request to the running agent.
    ///
    /// - Returns: `nil` if the agent ended instead of answering.
    func exchange(
        _ request: AgentRequest, withRunning client: AgentClient
    ) throws -> AgentResponse? {
        do { return try client.send(request) } catch {
            guard [.noResponse, .notLocked].contains(error), try runningAgent() == nil else {
                throw error
            }
            return nil
        }
    }

    /// Throws if the agent, which a different program may have started, has weaker protection than
    /// this command permits.
    fileprivate func expectLimits(of client: AgentClient, for place: VaultPlace) throws {
        guard let status = try status(of: client) else { return }
        guard status.locksKeys || arguments.has(.unlockedMemory) else {
            throw CommandFailure.weakAgent
        }
        let path = place.folderPath
        for folder in status.folders
        where path != folder && (folder == "/" || path.hasPrefix(folder + "/")) {
            printer.warn(Messages.sentence(forWideAgent: folder))
        }
    }

    /// The running agent, or a new one that can reach the vault at `place` and the default vault.
    fileprivate func startedAgent(for place: VaultPlace) throws -> AgentClient {
        if let client = try runningAgent() { return client }
        var folders = [place.folderPath]
        // The agent cannot reach a default vault whose folder does not exist yet.
        if let standard = standardVaultPath().flatMap(VaultPlace.existing) {
            folders.append(standard.folderPath)
        }
        return try AgentStart.run(
            folders: folders, deviceKeys: Session.deviceKeyFolder,
            unlockedMemory: arguments.has(.unlockedMemory))
    }
}

/// `agent status` and `agent stop`.
enum AgentCommand {
    static func status(_ session: Session) throws -> ExitCode {
        let status = try session.status(of: session.runningAgent())
        let system = try session.status(of: SystemAgent.connect())
        if session.wantsJSON {
            let own = status.map { json($0, mode: "user", grade: Advisory.name) } ?? []
            let all: Record = [
                ("folders", .list([])), ("limits_files", .null), ("locks_keys", .null),
                ("mode", .null), ("pid", .null), ("running", .flag(status != nil)),
                (
                    "system",
                    system.map { .object(json($0, mode: "system", grade: Enforced.name)) } ?? .null
                ), ("vaults", .list([])),
            ]
            try session.printer.line(.object(own.filling(all)))
        } else {
            let lines =
                status.map(Messages.lines(for:))
                ?? [Messages.notRunning(hasSystem: system != nil)]
            for line in lines + (system.map(Messages.lines(ofSystem:)) ?? []) {
                try session.printer.line(line)
            }
        }
        return .done
    }

    static func stop(_ session: Session) throws -> ExitCode {
        guard let client = try session.runningAgent(),
            let response = try session.exchange(.stop, withRunning: client)
        else {
            session.printer.note("The agent is not running.")
            return .done
        }
        guard case .done = response else { throw AgentFailure.malformed }
        client.waitForEnd()
        session.printer.note("Stopped the agent.")
        return .done
    }

    private static func json(
        _ status: AgentStatus, mode: String, grade: String
    ) -> Record {
        [
            ("folders", .list(status.folders.map { .text($0) })),
            ("limits_files", .flag(status.limitsFiles)), ("locks_keys", .flag(status.locksKeys)),
            ("mode", .text(mode)), ("pid", .number(Int64(status.process))),
            (
                "vaults",
                .list(
                    status.vaults.map { vault in
                        .object([
                            ("idle_remaining", .number(vault.idle.wholeSeconds)),
                            ("pam_grade", .text(grade)), ("path", .text(vault.path)),
                            ("remaining", .number(vault.total.wholeSeconds)),
                        ])
                    })
            ),
        ]
    }
}

extension Session {
    /// The state of an agent; `nil` if the agent is not running.
    func status(of client: AgentClient?) throws -> AgentStatus? {
        guard let client else { return nil }
        guard case .status(let status) = try client.send(.status) else {
            throw AgentFailure.malformed
        }
        return status
    }
}

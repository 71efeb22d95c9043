import CommandLineInterface
import DeviceLogin
import Devices
import SecretVault
import VaultService
import WatchwordCryptography
import WatchwordSystem

/// `vault move`: moves the vault to the system agent, or back to the user's own folder.
///
/// At each moment, a complete copy exists, and at most one copy can be used. The same command
/// finishes a move that was interrupted.
enum VaultMoveCommand {
    static func run(_ session: Session) throws -> ExitCode {
        try session.arguments.forbid(.toSystem, .toUser)
        let toSystem = session.arguments.has(.toSystem)
        guard toSystem || session.arguments.has(.toUser) else {
            throw UsageError.needsOneOf([Option.toSystem, .toUser].map { "--" + $0.name })
        }
        guard let client = try SystemAgent.connect() else {
            if try SystemAgent.isStopped() { throw AgentFailure.systemStopped }
            throw CommandFailure.noSystemAgent
        }
        let path = try session.vaultPath()
        guard try Vault.isTaken(path) || session.standing(of: client) != nil else {
            throw VaultError.notFound
        }
        // While this command holds the lock, no other command can change the state that is
        // determined below.
        let lock = try VaultMoveLock(path)
        let move = VaultMoving(
            session: session, client: client, path: path,
            present: try session.standing(of: client), ceiling: try session.unlockCeiling())
        try toSystem ? move.toSystem() : move.toUser()
        lock.end()
        return .done
    }
}

private struct VaultMoving {
    let session: Session
    let client: AgentClient
    /// The path of the vault in the user's own folder.
    let path: String
    /// The system agent's copy.
    let present: VaultStanding?
    let ceiling: Int

    func toSystem() throws {
        guard try Vault.isTaken(path) else { return try finishToSystem() }
        try lockInOwnAgent()
        let source = try Vault.identity(at: path)
        if let present, !present.isMoving {
            // Only the last step, erasing the source, is left.
            guard present.identity == source else { throw twoVaults }
            let binding = try activate(present)
            try eraseOwn(in: source)
            return noteMoved(toSystem: true, binding)
        }
        if let present {
            guard source.isSameVault(as: present.identity), !source.isOlder(than: present.identity)
            else { throw twoVaults }
        }
        try session.correctPermissions(of: path)
        let (vault, opener) = try session.unlockedWithOpener(path)
        let keys = try CommandFailure.naming(path) {
            try deviceKeys.keysToMove(of: vault, through: tokens(at:))
        }
        let parcel = try deviceKeys.pack(vault, with: keys, at: path)
        try send(.receive(parcel, opener, ceiling: ceiling))
        try eraseOwn(in: parcel.identity)
        noteMoved(toSystem: true, try send(.activate(opener, ceiling: ceiling)))
    }

    private func activate(_ standing: VaultStanding) throws -> DeviceBinding? {
        let (response, _) = try ask(standing) { .activate($0, ceiling: ceiling) }
        if case .moved(let binding) = response { return binding }
        return nil
    }

    private var deviceKeys: DeviceKeyStore { session.deviceKeyStore }

    private func tokens(at address: TPMAddress) -> any TokenRequestHandler { StartedTokenHelper() }

    /// Makes the user's own agent forget the key of the vault, which moves away.
    private func lockInOwnAgent() throws {
        guard let own = try session.runningAgent(), let place = VaultPlace.existing(at: path)
        else { return }
        _ = try own.send(.lock(place))
    }

    /// Erases the vault in the user's own folder after the agent has confirmed that its copy is
    /// identical.
    private func eraseOwn(in state: VaultIdentity) throws {
        try send(.confirm(state))
        try purgeOwn(in: state)
    }

    private func purgeOwn(in state: VaultIdentity) throws {
        let reports = try Vault.purge(path, in: state)
        session.printReports(reports, of: [])
        // The agent has its own copies of the keys.
        try CommandFailure.naming(path) { try deviceKeys.eraseAll(of: state) }
    }

    /// Finishes a move if the user's own folder has no vault: it was erased, or never existed.
    private func finishToSystem() throws {
        guard let present else { throw VaultError.notFound }
        guard present.isMoving else {
            return session.printer.note("The system agent already keeps the vault.")
        }
        try purgeOwn(in: present.identity)
        noteMoved(toSystem: true, try activate(present))
    }

    func toUser() throws {
        let exists = try Vault.isTaken(path)
        guard let present else {
            guard exists else { throw VaultError.notFound }
            try finishToUser()
            return session.printer.note("The vault is already in your own folder.")
        }
        let vault: UnlockedVault
        let (parcel, opener): (VaultParcel, VaultOpener)
        if exists {
            let own = try Vault.identity(at: path)
            let isCopy =
                present.isMoving
                ? own.isSameVault(as: present.identity) && !own.isOlder(than: present.identity)
                : own == present.identity
            guard isCopy else { throw twoVaults }
            (parcel, opener) = try askToGive(present)
            if own == present.identity {
                vault = try session.unlocked(path, with: opener)
            } else {
                // Generation numbers alone do not prove that one file was made from the other.
                vault = try session.unlockedWithOpener(path).vault
                let isIncluded = try parcel.opened(with: opener, ceiling: ceiling).isIncluded(
                    in: vault)
                guard isIncluded else { throw twoVaults }
            }
            try keepDeviceKeys(of: parcel)
        } else {
            (parcel, opener) = try askToGive(present)
            try keepDeviceKeys(of: parcel)
            try Vault.unpack(parcel, at: path)
            vault = try session.unlocked(path, with: opener)
        }
        let carried = Set(parcel.deviceKeys.map(\.id))
        let binding = try CommandFailure.naming(path) {
            try deviceKeys.replaceKeys(
                of: vault, carried: carried, in: session.tpmAddress(), through: tokens(at:))
        }
        try send(.discard(opener, Vault.identity(at: path), ceiling: ceiling))
        noteMoved(toSystem: false, carried.isEmpty ? nil : binding)
    }

    private func keepDeviceKeys(of parcel: VaultParcel) throws {
        try CommandFailure.naming(path) { try parcel.keepDeviceKeys(in: deviceKeys) }
    }

    /// Finishes a move from the agent, which has no usable copy but may have been interrupted while
    /// it erased a copy.
    private func finishToUser() throws {
        let own = try Vault.identity(at: path)
        // The agent has no copy, so it opens nothing with this passphrase.
        let opener = VaultOpener.passphrase(SecretBytes(joining: []))
        do {
            try send(.discard(opener, own, ceiling: ceiling))
        } catch CommandFailure.at(_, VaultError.notFound) {}
    }

    private func noteMoved(toSystem: Bool, _ binding: DeviceBinding?) {
        session.printer.note(
            toSystem
                ? "Moved the vault to the system agent, and erased the original file."
                : "Moved the vault to \(VisibleText.of(path)), and erased the system agent's copy.")
        guard let binding else { return }
        let keeper = "\(Messages.description(of: binding)) (\(binding.rawValue))"
        session.printer.note("Its bound entries now open only on this device, \(keeper).")
    }

    private var twoVaults: CommandFailure {
        .twoVaults(VisibleText.of(path), VisibleText.of(VaultPlace.ofSystem.path))
    }

    /// Asks for the secret that opens the system agent's copy, and sends a step with the secret.
    private func ask(
        _ standing: VaultStanding, _ step: (VaultOpener) -> VaultMove
    ) throws -> (AgentResponse, VaultOpener) {
        var used: VaultOpener?
        let vault = SystemVault(client: client, standing: standing)
        let response = try session.askingForOpener(of: vault) { opener in
            used = opener
            return .move(step(opener))
        }
        if case .notHeld = response { throw CommandFailure.agentLocked(nil) }
        guard let used else { throw AgentFailure.malformed }
        return (response, used)
    }

    /// Asks for a copy of the system agent's vault, and for the secret that opens the copy.
    private func askToGive(_ present: VaultStanding) throws -> (VaultParcel, VaultOpener) {
        let (response, opener) = try ask(present) { .give($0, ceiling: ceiling) }
        guard case .parcel(let parcel) = response else { throw AgentFailure.malformed }
        return (parcel, opener)
    }

    @discardableResult private func send(_ step: VaultMove) throws -> DeviceBinding? {
        switch try client.send(.move(step)) {
        case .done: return nil
        case .moved(let binding): return binding
        case .failed(.otherVault), .failed(.alreadyExists): throw twoVaults
        case .failed(.costOverCeiling(let logN, let limit)) where limit < ceiling:
            throw CommandFailure.systemCost(logN: logN, limit: limit)
        case .failed(let error):
            throw CommandFailure.at(VisibleText.of(VaultPlace.ofSystem.path), error)
        default: throw AgentFailure.malformed
        }
    }
}

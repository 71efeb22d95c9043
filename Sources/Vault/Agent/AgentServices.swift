internal import Devices
internal import SecretVault
internal import VaultService
internal import WatchwordSystem

/// The services of the agent for its clients.
struct AgentServices: Sendable {
    let vaults: HeldVaults
    /// The vaults that the client can use.
    private(set) var reach: ClientReach
    /// Whether the kernel limits the files that the agent can open.
    let limitsFiles: Bool
    let helpers: HelperChannel
    let stop: WakeSignal
    /// The limits are shared by all clients.
    var limits = MemoryLimits()
    /// Limits the wrong PINs of all users of the system agent.
    let pins = PINLimit()
    /// The folders for which a user's agent was started.
    var folders: [String] = []
    /// The folder with the device keys of the user as whom the agent runs.
    var folderOfDeviceKeys: String?
    /// The turn of the current request, if it needs one.
    var turn: RequestTurn?
    /// How long a TPM may take for each step.
    var deviceTimeout: @Sendable () -> Duration = { TokenHelper.standardTimeout }
    /// The time in Unix seconds.
    var unixTime: @Sendable () -> Int64 = SystemClock.unixTime

    func status() -> AgentStatus {
        AgentStatus(
            process: CurrentProcess.identifier, limitsFiles: limitsFiles,
            locksKeys: vaults.locksKeys, folders: folders, vaults: vaults.status())
    }

    /// The same services for a client that can use different vaults.
    func reaching(_ reach: ClientReach) -> AgentServices {
        var services = self
        services.reach = reach
        return services
    }

    /// Opens a vault and holds it.
    ///
    /// - Parameter unlocking: receives the number of the unlocking, if the vault was opened.
    func unlock(
        _ place: VaultPlace, with opener: VaultOpener, ceiling: Int, for time: HoldingTime,
        _ unlocking: inout UInt64?
    ) throws -> AgentResponse {
        guard reach.contains(place) else { return .outOfReach }
        // The client sends the folder's identity and its path; the path may lead to a different
        // folder by now.
        guard FolderReach.identity(of: place.folderPath) == place.folder else {
            return .failed(.notFound)
        }
        let number = vaults.beginUnlocking(place)
        defer { vaults.endUnlocking(number) }
        do {
            return try deriving(
                upTo: ceiling, while: { vaults.isOpening(number) },
                with: { try Vault.slots(at: place.path) }
            ) {
                let size = FileStamp(of: place.path)?.size ?? 0
                guard vaults.hasRoom(for: place, size: size) else { return .tooManyClients }
                // Wipes are recorded by the first use of the vault, but not while the vault is
                // being moved.
                let vault = try Vault.unlock(
                    at: place.path, with: opener, ceiling: ceiling, mode: .leavingWipes)
                vault.openDevices(deviceKeys)
                let held = HeldVault(vault)
                guard vaults.mayHold(held) else { return .notLocked }
                guard vaults.hold(held, for: time, number) else { return .notHeld }
                unlocking = number
                return .listing(listing(of: vault))
            }
        } catch VaultError.busy where !vaults.isOpening(number) {
            return .notHeld
        }
    }

    func list(_ place: VaultPlace) throws -> AgentResponse {
        // Report this now, before the client asks for the passphrase.
        guard reach.contains(place) else { return .outOfReach }
        return try using(place) { .listing(listing(of: $0.vault)) }
    }

    /// Runs `body` with the vault at `place`, if it is held.
    ///
    /// If the vault has been locked meanwhile, the results of `body` are not returned, except the
    /// outcome of a save and the cost of a failure.
    func using(
        _ place: VaultPlace, _ body: (HeldVaults.Use) -> AgentResponse
    ) throws -> AgentResponse {
        let use: HeldVaults.Use
        do {
            use = try vaults.use(place, upTo: turn?.size.largestFile ?? .max) {
                !isMoving
            } reopening: { vault in
                // Another process may have bound an entry to a new device key.
                vault.openDevices(deviceKeys)
            }
        } catch VaultError.busy where !vaults.isHeld(place) {
            // The vault was locked while its file was read again.
            return .notHeld
        }
        let response = body(use)
        vaults.learn(from: use, of: place)
        switch response {
        case .failed(.busy) where isMoving: return .moving
        case .code, .match, .contents, .listing, .found, .check, .lockOut, .done, .failed(.busy):
            return vaults.isHeld(place, use.unlocking) ? response : .notHeld
        default: return response
        }
    }

    /// Whether the client's vault is being moved to or from the system agent.
    private var isMoving: Bool {
        if case .account(let account) = reach { account.isMoving() } else { false }
    }

    /// The device keys that the client's vault can use.
    var deviceKeys: DeviceKeyStore {
        let (folder, last): (String, DeviceBinding) =
            switch reach {
            case .account(let account): (account.folder + "/device-keys", .agent)
            // In an agent without the folder, no key is found or created.
            case .folders: (folderOfDeviceKeys ?? "/dev/null", .file)
            }
        return DeviceKeyStore(
            folder: folder, bindings: [.tpm, last], locksKeys: vaults.locksKeys)
    }

    private func listing(of vault: UnlockedVault) -> VaultListing {
        listing(of: vault, uses: vault.lastUses) { _ in true }
    }

    /// Lists the entries of a vault.
    ///
    /// - Parameters:
    ///   - uses: when entries were last used.
    ///   - isIncluded: whether an entry is listed.
    func listing(
        of vault: UnlockedVault, uses: [RecordID: Int64],
        where isIncluded: (EntrySummary) -> Bool
    ) -> VaultListing {
        VaultListing(
            generation: vault.generation, entries: vault.listedEntries(where: isIncluded),
            slots: vault.slots, reports: vault.reports,
            uses: uses.map { VaultListing.EntryUse(id: $0.key, time: $0.value) })
    }
}

// Finds the entries that a person has specified.
extension AgentServices {
    /// Lists the entries that `names` find, without their last uses.
    ///
    /// If a name does not find exactly one entry, lists all entries, so that the client can explain
    /// the reason.
    ///
    /// - Parameters:
    ///   - time: the time of the code of the only entry. The code is computed if the entry requires
    ///     no check at each use and no TPM is needed.
    ///   - context: the request, given the vault.
    func find(
        _ names: [String], codeAt time: CodeTime?, in place: VaultPlace,
        _ context: (HeldVaults.Use) -> HeldRequest
    ) throws -> AgentResponse {
        guard reach.contains(place) else { return .outOfReach }
        return try using(place) { use in
            let entries = use.vault.entries
            var found: [EntrySummary] = []
            for name in names {
                guard vaults.isHeld(place, use.unlocking) else { return .notHeld }
                // One name may match every entry, so keep only the matches that are needed.
                let matches = entries.matches(of: name) {
                    vaults.isHeld(place, use.unlocking)
                }
                guard matches.count == 1 else {
                    return .listing(listing(of: use.vault, uses: [:]) { _ in true })
                }
                found += matches
            }
            // The client shows the names of the entries in the reports.
            let wanted = Set(found.map(\.id) + use.vault.reports.compactMap(\.entry))
            let listing = listing(of: use.vault, uses: [:]) { wanted.contains($0.id) }
            guard let time, names.count == 1, let entry = found.first, entry.kind == .totp,
                !entry.accessControl.presence.isPerUse, use.vault.holdsKey(of: entry)
            else { return .listing(listing) }
            do {
                return .found(listing, try context(use).code(of: entry.id, at: time))
            } catch {
                // The client gets the reason when it requests the code.
                return .listing(listing)
            }
        }
    }
}

/// Whether a request is carried out, and for which vault.
enum RequestAdmission {
    case admitted(AgentRequest)
    case refused(AgentResponse)
    case move(VaultMove, SystemAccount)
}

// The parts that differ in the system agent.
extension AgentServices {
    /// Admits a request; in the system agent, for the vault of the client's user only.
    ///
    /// There, the place in the client's request is never used.
    func admission(of request: AgentRequest) -> RequestAdmission {
        guard case .account(let account) = reach else {
            return .admitted(request.limited(to: Vault.maximumCeiling))
        }
        let place = account.place()
        switch request {
        case .stop: return .refused(.misunderstood)
        case .status:
            let held = place.map { vaults.status(in: $0.folder) }
            return .refused(
                .status(
                    AgentStatus(
                        process: CurrentProcess.identifier, limitsFiles: limitsFiles,
                        locksKeys: vaults.locksKeys, vaults: held ?? [])))
        case .lock, .lockAll:
            let wasHeld = place.map { vaults.lockAll(in: $0.folder) } ?? false
            if case .lockAll = request { return .refused(.done) }
            return .refused(wasHeld ? .done : .notHeld)
        default: break
        }
        if case .move(let move) = request { return .move(move, account) }
        guard let place else { return .refused(.failed(.notFound)) }
        if case .standing = request { return .admitted(request.at(place)) }
        guard !account.isMoving() else { return .refused(.moving) }
        return .admitted(request.limited(to: Vault.defaultCeiling).at(place))
    }

    /// The information about a vault that is available without its key.
    func standing(of place: VaultPlace, since moment: Int64) throws -> AgentResponse {
        guard case .account(let account) = reach, reach.contains(place) else {
            return .outOfReach
        }
        // This also completes an interrupted wipe.
        _ = try Vault.lockOut(at: place.path)
        return .standing(
            VaultStanding(
                slots: try Vault.slots(at: place.path),
                status: try Vault.status(at: place.path, since: moment),
                isHeld: vaults.isHeld(place), isMoving: account.isMoving(),
                identity: try Vault.identity(at: place.path)))
    }
}

extension AgentRequest {
    /// The cost that an attempt to open a vault may have.
    ///
    /// A client cannot demand less than the default: if it could exclude the more expensive of two
    /// passphrases, guesses would stay undecided, and none would count towards a wipe.
    static func ceiling(for asked: Int, upTo most: Int) -> Int {
        min(max(asked, Vault.defaultCeiling), most)
    }

    /// The same request, with its ceiling limited to the cost that a user may impose on this
    /// process.
    fileprivate func limited(to most: Int) -> AgentRequest {
        switch self {
        case .unlock(let place, let opener, let ceiling, let time):
            .unlock(place, opener, ceiling: Self.ceiling(for: ceiling, upTo: most), time)
        case .open(let place, let opener, let ceiling):
            .open(place, opener, ceiling: Self.ceiling(for: ceiling, upTo: most))
        case .prove(let place, let opener, let ceiling):
            .prove(place, opener, ceiling: Self.ceiling(for: ceiling, upTo: most))
        default: self
        }
    }
}

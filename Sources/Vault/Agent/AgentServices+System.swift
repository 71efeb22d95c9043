internal import SecretVault
internal import VaultService
internal import WatchwordSystem

/// Whether a request is carried out.
enum RequestAdmission {
    case admitted(AgentRequest)
    case refused(AgentResponse)
    case move(VaultMove, SystemAccount)
}

// What differs in the system agent.
extension AgentServices {
    /// Admits a request; in the system agent, for the vault of the client's user only.
    ///
    /// The place that the client sent is never used there.
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

    /// What is known about a vault without its key.
    func standing(of place: VaultPlace, since moment: Int64) throws -> AgentResponse {
        guard case .account(let account) = reach, reach.contains(place) else {
            return .outOfReach
        }
        // This completes a wipe that was interrupted.
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
    /// passphrases, no guess would be decided, and none would count towards a wipe.
    static func ceiling(for asked: Int, upTo most: Int) -> Int {
        min(max(asked, Vault.defaultCeiling), most)
    }

    /// The same request, limited to the cost that its user may impose on this process.
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

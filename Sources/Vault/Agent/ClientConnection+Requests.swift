internal import DeviceLogin
internal import SecretVault
internal import VaultService
internal import WatchwordCryptography
internal import WatchwordSystem

// What each request does.
extension ClientConnection {
    /// Carries out a request that was admitted.
    func response(toAdmitted request: AgentRequest) -> AgentResponse {
        switch request {
        case .status: return .status(service.status())
        case .stop: return .done
        case .lockAll:
            service.vaults.lockAll()
            return .done
        case .lock(let place): return service.vaults.lock(place) ? .done : .notHeld
        case .unlock(let place, let opener, let ceiling, let time):
            var unlocking: UInt64?
            let response = service.unlock(
                place, with: opener, ceiling: ceiling, for: time, &unlocking)
            if let unlocking { unlocked = (place, unlocking) }
            return response
        case .open(let place, let opener, let ceiling):
            var unlocking: UInt64?
            let response = service.unlock(
                place.only(for: number), with: opener, ceiling: ceiling, for: .standard,
                &unlocking)
            if unlocking != nil { opened.insert(place) }
            return response
        case .standing(let place, let moment): return service.standing(of: place, since: moment)
        case .list(let place): return service.list(own(place))
        case .find(let place, let names, let time):
            return service.find(
                names, codeAt: time, in: own(place), person, &shown, used: &use)
        case .lockOut(let place, let id): return service.lockOut(of: id, in: own(place))
        case .check(let place): return service.check(own(place))
        case .code(let place, let id, let time, let presence):
            let place = own(place)
            return using(place) { use throws(EntryRefusal) in
                let response = try service.code(
                    of: id, at: time, in: use, place, presence, person, proofs, &shown)
                if !time.isRefresh {
                    self.use = UsedEntry(id, in: use, place, at: service.unixTime())
                }
                return response
            }
        case .verify(let place, let id, let comparison, let presence):
            let place = own(place)
            return using(place) { use throws(EntryRefusal) in
                try service.match(comparison, of: id, in: use, place, presence, person, proofs)
            }
        case .edit(let place, let edit, let presence):
            let place = own(place)
            return using(place) { use throws(EntryRefusal) in
                try service.edit(
                    edit, in: use, place, presence, person, &confirmed, proofs)
            }
        case .confirm(let place, let id, let presence):
            let place = own(place)
            return using(place) { use throws(EntryRefusal) in
                try service.confirm(id, in: use, place, presence, person, &confirmed)
            }
        case .rehearse(let place, let edit):
            let place = own(place)
            return using(place) { use throws(EntryRefusal) in
                try service.rehearse(edit, in: use, place)
            }
        case .prove(let place, let opener, let ceiling):
            let place = own(place)
            return using(place) { use throws(EntryRefusal) in
                try service.prove(opener, ceiling: ceiling, in: use, place, &proofs)
            }
        case .contents(let place, let ids, let presence, let isUse):
            let place = own(place)
            return using(place) { use throws(EntryRefusal) in
                let response = try service.contents(
                    of: ids, in: use, place, presence, person, proofs)
                if isUse, ids.count == 1 {
                    self.use = UsedEntry(ids[0], in: use, place, at: service.unixTime())
                }
                return response
            }
        case .login(let place, let task, let presence):
            return login(task, at: own(place), presence)
        // No question is pending, and only the system agent moves vaults.
        case .answer, .cancel, .move: return .misunderstood
        }
    }

    private func login(
        _ encoded: SecretBytes, at place: VaultPlace, _ presence: AgentPresence
    ) -> AgentResponse {
        let task: LoginTask
        do throws(FieldReader.Unreadable) {
            task = try encoded.withBytes { bytes throws(FieldReader.Unreadable) in
                try LoginTask(parsing: bytes)
            }
        } catch {
            return .misunderstood
        }
        return using(place) { use throws(EntryRefusal) in
            let answer = try service.answer(
                to: task, in: use, place, presence, person, &confirmed)
            if let id = task.signing, case .ticket = answer {
                self.use = UsedEntry(id, in: use, place, at: service.unixTime())
            }
            return try service.response(with: answer, from: use.vault)
        }
    }

    private func using(
        _ place: VaultPlace, _ body: (HeldVaults.Use) throws(EntryRefusal) -> AgentResponse
    ) -> AgentResponse {
        service.using(place) { use in
            do throws(EntryRefusal) {
                return try body(use)
            } catch {
                return error.response
            }
        }
    }

    /// The place of the vault that this connection uses: the one that was opened for it, if there is
    /// one.
    func own(_ place: VaultPlace) -> VaultPlace {
        opened.contains(place) ? place.only(for: number) : place
    }
}

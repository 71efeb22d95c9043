internal import Synchronization
internal import WatchwordSystem

/// The open challenges that strangers, senders without an API key, began through this process.
///
/// Anyone can begin a ceremony, and each ceremony needs a row. The register limits how many of
/// these rows a sender, a site and all strangers together have. If all strangers together have too
/// many, a new challenge replaces the oldest challenge of a site with the most, so that such a site
/// cannot crowd out senders with fewer challenges.
///
/// The register does not decide whether an answer is accepted: only the row does, and a missing row
/// leads to a denial. After a restart, the rows of the earlier process stay until they expire.
final class ChallengeRegister: Sendable {
    /// A challenge that is still open, as the register records it.
    struct Entry: Sendable {
        let digest: [UInt8]
        let sender: NetworkAddress
        let expiresAt: UnixTime
    }

    /// The decision about a new challenge.
    enum Verdict: Sendable {
        /// The challenge is added; the same commit deletes the dropped challenge, if there is one.
        case added(dropping: Entry?)
        /// The challenge is refused; the sender must wait for this many seconds.
        case refused(retryAfter: Int)
    }

    fileprivate struct Site {
        /// The open challenges of the site, the oldest first.
        var open: [Entry] = []
        /// The site's index in its level.
        var index = 0
    }

    fileprivate struct State {
        var sites: [NetworkAddress: Site] = [:]
        /// The sites, grouped by their number of open challenges.
        var levels: [[NetworkAddress]] = []
        var count = 0
        /// The second in which expired entries of all sites were last removed.
        var swept: Int64 = .min
    }

    /// The maximum number of open challenges of one sender.
    static let senderLimit = 1_024
    /// The maximum number of open challenges of one IPv6 site.
    static let siteLimit = 4 * senderLimit
    /// The maximum number of open challenges of all strangers.
    static let totalLimit = 65_536

    private let limits: (sender: Int, site: Int, total: Int)
    private let state = Mutex(State())

    init(
        senderLimit: Int = senderLimit, siteLimit: Int = siteLimit, totalLimit: Int = totalLimit
    ) {
        limits = (senderLimit, siteLimit, totalLimit)
    }

    /// The number of open challenges.
    var count: Int { state.withLock { $0.count } }

    /// Adds a challenge that is about to be committed.
    func add(
        _ digest: [UInt8], until expiry: UnixTime, by sender: NetworkAddress, at now: UnixTime
    ) -> Verdict {
        state.withLock { state in
            let site = sender.site
            state.removeExpired(of: site, at: now)
            let open = state.sites[site]?.open ?? []
            // Only an IPv6 site has several senders.
            let own = sender.isVersion4 ? open : open.filter { $0.sender == sender }
            if own.count >= limits.sender { return Self.refusal(own, now) }
            if open.count >= limits.site { return Self.refusal(open, now) }
            if state.count >= limits.total, state.swept != now.seconds {
                state.swept = now.seconds
                for site in Array(state.sites.keys) { state.removeExpired(of: site, at: now) }
            }
            var dropped: Entry?
            if state.count >= limits.total,
                let most = state.levels.lastIndex(where: { !$0.isEmpty })
            {
                // The site itself would have the most open challenges.
                guard open.count < most, let victim = state.levels[most].randomElement() else {
                    return Self.refusal(open, now)
                }
                dropped = state.update(victim) { $0.removeFirst() }
            }
            state.update(site) {
                $0.append(Entry(digest: digest, sender: sender, expiresAt: expiry))
            }
            return .added(dropping: dropped)
        }
    }

    /// Undoes ``add(_:until:by:at:)``, because the commit did not succeed.
    func cancel(_ digest: [UInt8], by sender: NetworkAddress, droppedInstead dropped: Entry?) {
        remove(digest, by: sender)
        guard let dropped else { return }
        state.withLock { state in state.update(dropped.sender.site) { $0.insert(dropped, at: 0) } }
    }

    /// Removes a challenge that its sender has answered.
    ///
    /// A challenge that is answered from another address stays until it expires.
    func remove(_ digest: [UInt8], by sender: NetworkAddress) {
        state.withLock { state in
            guard let open = state.sites[sender.site]?.open,
                let index = open.firstIndex(where: { $0.digest == digest })
            else { return }
            _ = state.update(sender.site) { $0.remove(at: index) }
        }
    }

    private static func refusal(_ open: [Entry], _ now: UnixTime) -> Verdict {
        let milliseconds = open.first?.expiresAt.milliseconds(since: now) ?? 0
        return .refused(retryAfter: Int(max(1, (milliseconds + 999) / 1_000)))
    }
}

extension ChallengeRegister.State {
    fileprivate mutating func removeExpired(of site: NetworkAddress, at now: UnixTime) {
        let expired = sites[site]?.open.prefix { $0.expiresAt <= now }.count ?? 0
        if expired > 0 { update(site) { $0.removeFirst(expired) } }
    }

    /// Changes a site's entries, and moves the site to its new level.
    @discardableResult
    fileprivate mutating func update<Result>(
        _ address: NetworkAddress, _ body: (inout [ChallengeRegister.Entry]) -> Result
    ) -> Result {
        // The site is taken out, so that its array is changed in place.
        var site = sites.removeValue(forKey: address) ?? ChallengeRegister.Site()
        let before = site.open.count
        let result = body(&site.open)
        let after = site.open.count
        count += after - before
        if before > 0, before != after {
            let last = levels[before].removeLast()
            if last != address {
                levels[before][site.index] = last
                sites[last]?.index = site.index
            }
        }
        guard after > 0 else { return result }
        if before != after {
            while levels.count <= after { levels.append([]) }
            site.index = levels[after].count
            levels[after].append(address)
        }
        sites[address] = site
        return result
    }
}

extension Verifier {
    /// Commits a decision, within the limits on strangers' open challenges.
    ///
    /// - Throws: ``VerifierError/tooManyChallenges(retryAfter:)`` if the sender has too many;
    ///   nothing is committed then.
    func commit(
        _ changes: [StoreChange], from origin: Origin, at now: UnixTime
    ) async throws(VerifierError) -> CommitOutcome {
        guard let sender = NetworkAddress(strangerAt: origin) else {
            return try await commit(changes)
        }
        var changes = changes
        var added: (digest: [UInt8], dropped: ChallengeRegister.Entry?)?
        for case .insertChallenge(let row) in changes {
            switch challenges.add(row.digest, until: row.expiresAt, by: sender, at: now) {
            case .added(let dropped): added = (row.digest, dropped)
            case .refused(let seconds): throw .tooManyChallenges(retryAfter: seconds)
            }
        }
        if let dropped = added?.dropped { changes.append(.dropChallenge(digest: dropped.digest)) }
        func cancel() {
            guard let added else { return }
            challenges.cancel(added.digest, by: sender, droppedInstead: added.dropped)
        }
        do throws(VerifierError) {
            guard try await commit(changes) == .done else {
                cancel()
                return .conflict
            }
        } catch {
            cancel()
            throw error
        }
        for case .spendChallenge(let digest) in changes { challenges.remove(digest, by: sender) }
        return .done
    }
}

extension NetworkAddress {
    /// The sender of a request without an API key; `nil` for an application, or if the verifier is
    /// not given addresses.
    ///
    /// All texts that are not addresses count as one sender.
    fileprivate init?(strangerAt origin: Origin) {
        guard origin.client == nil, !origin.address.isEmpty else { return nil }
        guard let address = NetworkAddress(origin.address) else {
            self.init(bytes: [UInt8](repeating: 0, count: 16))
            return
        }
        self = address.sender
    }
}

internal import SecretVault
internal import VaultService
internal import WatchwordSystem

/// The connection of one client: reads each request, and answers it.
///
/// The object is used by one thread.
final class ClientConnection: @unchecked Sendable {
    // `@unchecked Sendable`: the main thread creates the object, and then only its own thread uses
    // it.
    private let connection: FrameConnection
    private var service: AgentServices
    private let member: Connections.Member
    private let proofs = ClientProofs()
    /// The uses that are not recorded yet.
    private var uses = UnrecordedUses()
    /// The unlocking whose listing the client has not received yet.
    private var unlocked: (place: VaultPlace, unlocking: UInt64)?
    /// The vaults that were opened for this connection only.
    private var opened: Set<VaultPlace> = []

    /// The reason why a request was not read.
    private var refusal: AgentResponse?

    /// How long a new client may take to begin its first request, and then to finish it.
    private let firstTimeout: Duration

    init(
        _ connection: FrameConnection, _ member: Connections.Member, _ service: AgentServices,
        firstTimeout: Duration = .seconds(10)
    ) {
        self.connection = connection
        self.member = member
        self.service = service
        self.firstTimeout = firstTimeout
    }

    /// Answers requests until the client leaves or breaks the protocol.
    func serve() {
        do throws(SystemCallFailure) {
            var idleTime: Duration? = firstTimeout
            requests: while let frame = try next(idleTime) {
                member.setActivity(.handling)
                defer {
                    member.setActivity(.none)
                    endTurn()
                }
                // Requests that were sent together end with their connection.
                let isAlwaysAnswered = frame.withBytes(AgentRequest.isAlwaysAnswered)
                guard member.isReserved || isAlwaysAnswered || member.isWanted() else { break }
                if member.isReserved {
                    guard isAlwaysAnswered else {
                        _ = try send(.tooManyClients)
                        break
                    }
                } else {
                    idleTime = nil
                }
                if service.turn == nil, !frame.withBytes({ beginTurn(for: $0, size: frame.count) })
                {
                    guard try send(refusal ?? .failed(.busy)) else { break }
                    continue
                }
                switch AgentRequest.parse(frame) {
                case .success(let request):
                    guard try answer(request), member.isWanted() else { break requests }
                case .failure(let refusal):
                    _ = try send(refusal.response)
                    break requests
                }
            }
        } catch {
            // The client has gone, or memory ran out; other clients are not affected.
        }
        endTurn()
        uses.record(in: service.vaults)
        proofs.forgetShown(in: service.vaults) { _ in true }
        for place in opened { service.vaults.lock(place.only(for: member.number)) }
        connection.shutDown()
    }

    /// Answers a request.
    ///
    /// - Returns: whether the client received the response, and may send another request.
    private func answer(_ request: AgentRequest) throws(SystemCallFailure) -> Bool {
        // Save pending uses first, because lists show when entries were last used.
        if case .code = request {} else { uses.record(in: service.vaults) }
        let response = response(to: request)
        let (use, unlocked) = (proofs.use, self.unlocked)
        (proofs.use, self.unlocked) = (nil, nil)
        var isReceived = false
        defer {
            // A person who has interrupted `watchword unlock` does not expect an open vault.
            if !isReceived, let unlocked {
                service.vaults.lock(unlocked.place, since: unlocked.unlocking)
            }
        }
        isReceived = try send(response)
        guard isReceived else { return false }
        if let use { uses.add(use, in: service.vaults) }
        // The system agent refuses to stop.
        if case .stop = request, case .done = response { service.stop.send() }
        // An answer that arrives too late must not be mistaken for a request.
        switch response {
        case .noVerdict: return false
        case .notHeld: return !request.mayAsk
        default: return true
        }
    }

    private func next(_ idleTime: Duration?) throws(SystemCallFailure) -> WipedBuffer? {
        if let pause = uses.pause, try !isAsking(within: pause) {
            uses.record(in: service.vaults)
        }
        refusal = member.isReserved ? .tooManyClients : nil
        let received = try connection.receive(
            limit: AgentProtocol.largestRequest,
            largeFrames: member.isReserved ? nil : AgentProtocol.largeRequests(where: beginTurn),
            idleTime: idleTime, timeout: min(firstTimeout, AgentProtocol.frameTimeout),
            largeTimeout: AgentProtocol.turnTimeout)
        guard case .frame(let frame) = received else {
            if let refusal { _ = try send(refusal) }
            return nil
        }
        return frame
    }

    /// Waits for the turn of a request.
    ///
    /// - Parameters:
    ///   - beginning: the first bytes of the request.
    ///   - size: the size of its frame.
    /// - Returns: whether the request may be read and answered; if not, ``refusal`` is the reason.
    private func beginTurn(for beginning: Span<UInt8>, size: Int) -> Bool {
        guard service.turn == nil else { return true }
        do {
            service.turn = try service.beginTurn(
                for: beginning, size: size, usedAt: own, while: member.isWanted)
            return true
        } catch {
            refusal = AgentResponse(failure: error)
            return false
        }
    }

    private func endTurn() {
        service.turn?.end()
        service.turn = nil
    }

    private func isAsking(within time: Duration) throws(SystemCallFailure) -> Bool {
        guard time > .zero else { return false }
        return try Polling.ready(of: [connection.readable], timeout: time)[0]
    }

    private func send(_ response: AgentResponse) throws(SystemCallFailure) -> Bool {
        member.setActivity(.sending)
        return try connection.send(
            response.frame(),
            timeout: member.isReserved || !member.isWanted() ? .zero : AgentProtocol.turnTimeout)
    }

    private func response(to request: AgentRequest) -> AgentResponse {
        do {
            guard request.mayAsk else { return try perform(request) }
            return try service.asking { try perform(request) }
        } catch {
            return AgentResponse(failure: error)
        }
    }

    private func perform(_ request: AgentRequest) throws -> AgentResponse {
        switch service.admission(of: request) {
        case .refused(let response): return response
        case .move(let move, let account):
            return try service.carryOut(move, for: account, person)
        case .admitted(let request): return try perform(admitted: request)
        }
    }

    /// The person at the client, who answers questions.
    private var person: RemotePerson { RemotePerson(connection) }
}

// Carries out each kind of request.
extension ClientConnection {
    /// Carries out an admitted request.
    private func perform(admitted request: AgentRequest) throws -> AgentResponse {
        switch request {
        case .status: return .status(service.status())
        case .stop: return .done
        case .lockAll:
            service.vaults.lockAll()
            return .done
        case .lock(let place): return service.vaults.lock(place) ? .done : .notHeld
        case .unlock(let place, let opener, let ceiling, let time):
            var unlocking: UInt64?
            let response = try service.unlock(
                place, with: opener, ceiling: ceiling, for: time, &unlocking)
            if let unlocking { unlocked = (place, unlocking) }
            return response
        case .open(let place, let opener, let ceiling):
            var unlocking: UInt64?
            let response = try service.unlock(
                place.only(for: member.number), with: opener, ceiling: ceiling, for: .standard,
                &unlocking)
            if unlocking != nil { opened.insert(place) }
            return response
        case .standing(let place, let moment): return try service.standing(of: place, since: moment)
        case .list(let place): return try service.list(own(place))
        case .find(let place, let names, let time):
            let place = own(place)
            // A list never contains a code of the future, whatever the client has proved.
            let unproved = ClientProofs()
            defer { proofs.use = unproved.use }
            return try service.find(names, codeAt: time, in: place) { use in
                context(of: request, use, place, proofs: unproved)
            }
        case .code(let place, _, _, _), .verify(let place, _, _, _), .lockOut(let place, _),
            .check(let place), .edit(let place, _, _), .confirm(let place, _, _),
            .rehearse(let place, _), .prove(let place, _, _), .contents(let place, _, _, _),
            .login(let place, _, _), .undo(let place, _), .merge(let place, _):
            let place = own(place)
            return try service.using(place) { use in
                context(of: request, use, place, proofs: proofs).response(to: request)
            }
        // No question is pending, and only the system agent moves vaults.
        case .answer, .cancel, .move: return .misunderstood
        }
    }

    private func context(
        of request: AgentRequest, _ use: HeldVaults.Use, _ place: VaultPlace, proofs: ClientProofs
    ) -> HeldRequest {
        HeldRequest(
            service: service, use: use, place: place, presence: request.presence, person: person,
            proofs: proofs)
    }

    /// The place of the vault that this connection uses: the vault opened for this connection only,
    /// if there is one.
    private func own(_ place: VaultPlace) -> VaultPlace {
        opened.contains(place) ? place.only(for: member.number) : place
    }
}

extension AgentRequest {
    /// Whether the system's modules or a TPM may ask the person at the client before the request is
    /// answered.
    fileprivate var mayAsk: Bool {
        switch (self, presence) {
        case (.login, _), (.move(.give), _), (_, .modules): true
        default: false
        }
    }
}

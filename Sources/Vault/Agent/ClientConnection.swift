internal import SecretVault
internal import VaultService
internal import WatchwordSystem

/// One client: reads its requests, and answers each.
///
/// It is used by one thread.
final class ClientConnection: @unchecked Sendable {
    // `@unchecked Sendable`: it is created by the main thread and then used only by its own thread.
    private let connection: FrameConnection
    private var service: AgentServices
    /// The number of this connection; never 0.
    private let number: UInt64
    /// Whether it may only lock vaults, ask for the status or stop the agent.
    private let isReserved: Bool
    /// Whether the connection has not been ended to make room for another.
    private let isWanted: @Sendable () -> Bool
    private let setActivity: @Sendable (Connections.Activity) -> Void
    private let proofs = ClientProofs()
    /// The uses that are not recorded yet.
    private var uses = UnrecordedUses()
    /// The unlocking whose listing the client is to receive.
    private var unlocked: (place: VaultPlace, unlocking: UInt64)?
    /// The vaults that were opened for this connection only.
    private var opened: Set<VaultPlace> = []

    /// Why a request was not read.
    private var refusal: AgentResponse?

    /// How long a new client may wait before its first request, and then for the rest of one.
    private let firstTimeout: Duration

    init(
        _ connection: FrameConnection, number: UInt64, _ service: AgentServices,
        firstTimeout: Duration = .seconds(10), isReserved: Bool = false,
        isWanted: @escaping @Sendable () -> Bool = { true },
        setActivity: @escaping @Sendable (Connections.Activity) -> Void
    ) {
        self.connection = connection
        self.number = number
        self.service = service
        self.firstTimeout = firstTimeout
        self.isReserved = isReserved
        self.isWanted = isWanted
        self.setActivity = setActivity
    }

    /// Answers requests until the client leaves or breaks the protocol.
    func serve() {
        do throws(SystemCallFailure) {
            var idleTime: Duration? = firstTimeout
            while let frame = try next(idleTime) {
                setActivity(.handling)
                defer {
                    setActivity(.none)
                    endTurn()
                }
                // Requests that were sent at once do not outlive their connection.
                let isAlwaysAnswered = frame.withBytes(AgentRequest.isAlwaysAnswered)
                guard isReserved || isAlwaysAnswered || isWanted() else { break }
                if isReserved {
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
                let request: AgentRequest
                do throws(AgentProtocolError) {
                    request = try AgentRequest.parse(frame)
                } catch {
                    _ = try send(error == .otherVersion ? .otherVersion : .misunderstood)
                    break
                }
                guard try answer(request), isWanted() else { break }
            }
        } catch {
            // The client has gone, or memory ran out; other clients are not affected.
        }
        endTurn()
        uses.record(in: service.vaults)
        proofs.forgetShown(in: service.vaults) { _ in true }
        for place in opened { service.vaults.lock(place.only(for: number)) }
        connection.shutDown()
    }

    /// Answers a request.
    ///
    /// - Returns: whether the client received the response, and may send another request.
    private func answer(_ request: AgentRequest) throws(SystemCallFailure) -> Bool {
        // Lists show when entries were last used.
        if case .code = request {} else { uses.record(in: service.vaults) }
        let response =
            request.mayAsk
            ? service.asking { self.response(to: request) } : self.response(to: request)
        let (use, unlocked) = (proofs.use, self.unlocked)
        (proofs.use, self.unlocked) = (nil, nil)
        var isReceived = false
        defer {
            // Whoever interrupted `watchword unlock` does not expect an open vault.
            if !isReceived, let unlocked {
                service.vaults.lock(unlocked.place, since: unlocked.unlocking)
            }
        }
        isReceived = try send(response)
        guard isReceived else { return false }
        if let use { uses.add(use, in: service.vaults) }
        // The system agent refuses to stop.
        if case .stop = request, case .done = response { service.stop.send() }
        // An answer that comes too late must not be taken for a request.
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
        refusal = isReserved ? .tooManyClients : nil
        let received = try connection.receive(
            limit: AgentProtocol.largestRequest,
            largeFrames: isReserved ? nil : AgentProtocol.largeRequests(where: beginTurn),
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
    ///   - beginning: its first bytes.
    ///   - size: the size of its frame.
    /// - Returns: whether it may be read and answered; if not, ``refusal`` says why.
    private func beginTurn(for beginning: Span<UInt8>, size: Int) -> Bool {
        guard service.turn == nil else { return true }
        do throws(TurnRefusal) {
            service.turn = try service.beginTurn(
                for: beginning, size: size, usedAt: own, while: isWanted)
            return true
        } catch {
            refusal = error.response
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
        setActivity(.sending)
        return try connection.send(
            response.frame(),
            timeout: isReserved || !isWanted() ? .zero : AgentProtocol.turnTimeout)
    }

    private func response(to asked: AgentRequest) -> AgentResponse {
        switch service.admission(of: asked) {
        case .refused(let response): return response
        case .move(let move, let account): return service.carryOut(move, for: account, person)
        case .admitted(let request): return response(toAdmitted: request)
        }
    }

    /// The person at the client, who answers questions.
    private var person: RemotePerson { RemotePerson(connection) }
}

// What each request does.
extension ClientConnection {
    /// Carries out a request that was admitted.
    private func response(toAdmitted request: AgentRequest) -> AgentResponse {
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
            let place = own(place)
            return service.find(names, codeAt: time, in: place) { use in
                context(of: request, use, place)
            }
        case .code(let place, _, _, _), .verify(let place, _, _, _), .lockOut(let place, _),
            .check(let place), .edit(let place, _, _), .confirm(let place, _, _),
            .rehearse(let place, _), .prove(let place, _, _), .contents(let place, _, _, _),
            .login(let place, _, _):
            let place = own(place)
            return service.using(place) { use in
                context(of: request, use, place).response(to: request)
            }
        // No question is pending, and only the system agent moves vaults.
        case .answer, .cancel, .move: return .misunderstood
        }
    }

    private func context(
        of request: AgentRequest, _ use: HeldVaults.Use, _ place: VaultPlace
    ) -> HeldRequest {
        HeldRequest(
            service: service, use: use, place: place, presence: request.presence, person: person,
            proofs: proofs)
    }

    /// The place of the vault that this connection uses: the one that was opened for it, if there is
    /// one.
    private func own(_ place: VaultPlace) -> VaultPlace {
        opened.contains(place) ? place.only(for: number) : place
    }
}

extension AgentRequest {
    /// Whether the system's modules or a TPM may ask the person at the client before it is answered.
    fileprivate var mayAsk: Bool {
        switch (self, presence) {
        case (.login, _), (.move(.give), _), (_, .modules): true
        default: false
        }
    }
}

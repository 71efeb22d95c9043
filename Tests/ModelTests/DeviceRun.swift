import Courier
import SecretVault
import TestSupport
import WatchwordCryptography
import WatchwordSystem

@testable import DeviceLogin

/// The record on a device's disk.
struct DeviceRecord: Sendable {
    fileprivate let state: EnrolledSecret
    /// The record as the vault stores it.
    let bytes: [UInt8]

    fileprivate init(_ state: EnrolledSecret) {
        self.state = state
        bytes = state.form().known
    }

    /// The record that an enrolment leaves.
    init(credential: String, secret: String) throws {
        guard let credential = Token(credential),
            let server = ServerAddress("https://login.example")
        else { throw LoginModelError.notAToken }
        self.init(
            EnrolledSecret(
                server: TrustedServer(server), credential: credential,
                handed: HelperResponse.NextSecret(
                    secret: SecretBytes(text: secret), generation: 0), now: 0))
    }

    /// Whether the holder's newest secret has been sent without a response so far.
    var isUnanswered: Bool { state.isUnanswered }

    /// The generations of the secrets that it holds, with the nonces they were sent with.
    var holdings: [(generation: UInt64, nonce: [UInt8]?)] {
        var holdings = [(state.generation, state.current.nonce?.bytes)]
        if let successor = state.successor {
            holdings.append((state.generation + 1, successor.nonce?.bytes))
        }
        return holdings
    }
}

enum LoginModelError: Error {
    case notAToken
}

/// A login on a device, which can be stopped between any two steps.
///
/// For each step, the device's real code runs again from the beginning, with the recorded results
/// of the earlier steps.
struct DeviceRun: Sendable {
    /// The result of a step outside the device's code.
    enum Step: Hashable, Sendable {
        case kept, wiped, connectionLost, timedOut
        case answered(LoginReply)
    }

    /// The event that the device waits for next.
    enum Wait: Sendable {
        case keeping(DeviceRecord)
        case wiping(reason: String)
        case asking(LoginMessage)
        case nothing(End)
    }

    /// How a login ended.
    enum End: Hashable, Sendable {
        case signedIn
        case wiped(reason: String)
        /// The login failed, and the secret is kept.
        case failed
    }

    let start: DeviceRecord
    /// The holder for which nonces are drawn, and how many it had stored before the run.
    let nonces: (owner: UInt8, kept: UInt8)
    private(set) var steps: [Step] = []
    private(set) var wait = Wait.nothing(.failed)

    init(from record: DeviceRecord, nonces: (owner: UInt8, kept: UInt8)) {
        start = record
        self.nonces = nonces
        go()
    }

    mutating func take(_ step: Step) {
        steps.append(step)
        go()
    }

    private mutating func go() {
        let script = Script(steps)
        var signIn = SignIn(
            state: start.state, entry: ScriptedEntry(script: script),
            nonces: { [nonces] in
                // A nonce that was not stored has not been seen by anyone, so the next nonce can be
                // the same.
                DeviceRun.nonce(nonces.kept + script.keptNonces, of: nonces.owner)
            }, now: 0)
        var sender = ScriptedSender(script: script)
        do throws(DeviceLoginError) {
            _ = try signIn.run(over: &sender)
            wait = .nothing(.signedIn)
        } catch {
            if let next = script.wait {
                wait = next
            } else if case .wiped(let reason) = error {
                wait = .nothing(.wiped(reason: reason.rawValue))
            } else {
                wait = .nothing(.failed)
            }
        }
    }

    private static func nonce(_ number: UInt8, of owner: UInt8) -> RotationNonce {
        let digest = sha256([owner, number].span)
        guard let nonce = RotationNonce(Array(digest.prefix(RotationNonce.count))) else {
            preconditionFailure("a digest is longer than a nonce")
        }
        return nonce
    }
}

/// The results of a run's steps, and what the run waits for after the last of them.
private final class Script {
    private var steps: ArraySlice<DeviceRun.Step>
    private(set) var wait: DeviceRun.Wait?
    var keptNonces: UInt8 = 0

    init(_ steps: [DeviceRun.Step]) { self.steps = steps[...] }

    func next(orWaitFor wait: @autoclosure () -> DeviceRun.Wait) -> DeviceRun.Step? {
        if let step = steps.popFirst() { return step }
        if self.wait == nil { self.wait = wait() }
        return nil
    }
}

private struct ScriptedEntry: SecretEntry {
    let script: Script

    func keep(_ state: EnrolledSecret) throws(DeviceLoginError) {
        guard script.next(orWaitFor: .keeping(DeviceRecord(state))) != nil else {
            throw .vault(.busy)
        }
        if DeviceRecord(state).isUnanswered { script.keptNonces += 1 }
    }

    // No backup is restored in this model.
    func record(_ presented: PresentedSecret) {}

    func wipe(because reason: Tombstone.Reason, now: Int64) throws(DeviceLoginError) {
        guard script.next(orWaitFor: .wiping(reason: reason.rawValue)) != nil else {
            throw .vault(.busy)
        }
    }
}

private struct ScriptedSender: RequestSender {
    let script: Script

    mutating func send(_ request: HelperRequest) throws(HTTPHelperFailure) -> HelperResponse {
        guard case .login(let login) = request.operation else { throw .badResponse }
        let message = LoginMessage(
            idempotencyKey: request.idempotencyKey, credential: login.credential.text,
            secret: login.secret.text, nonce: login.nonce.bytes)
        switch script.next(orWaitFor: .asking(message)) {
        case .answered(let reply): return try HelperResponse(reply)
        case .connectionLost: throw .connectionLost
        case .timedOut: throw .timedOut
        case nil: throw .helper(.notFound)
        case .kept, .wiped: preconditionFailure("a repeated run must take the same steps")
        }
    }
}

extension HelperResponse {
    fileprivate init(_ reply: LoginReply) throws(HTTPHelperFailure) {
        switch reply {
        case .accepted(let generation, let secret, let verification, let login):
            guard let verification = Token(verification) else { throw .badResponse }
            self = .accepted(
                Acceptance(
                    verification: verification, login: SecretBytes(text: login),
                    expiresAt: PlainText(showing: ""),
                    next: NextSecret(
                        secret: SecretBytes(text: secret), generation: generation)))
        case .denied(let wipe): self = .denied(wipe: wipe.map { WipeOrder(word: $0) })
        case .problem(let status):
            self = .problem(
                Problem(status: status, type: PlainText(showing: "revoked"), retryAfter: 0))
        }
    }
}

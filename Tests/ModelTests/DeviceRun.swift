import Courier
import Cryptography
import SecretVault
import TestSupport

@testable import DeviceLogin

/// What stands on a device's disk.
struct DeviceRecord: Sendable {
    fileprivate let state: EnrolledSecret
    /// The record as the vault keeps it.
    let bytes: [UInt8]

    fileprivate init(_ state: EnrolledSecret) {
        self.state = state
        bytes = state.form().known
    }

    /// What an enrolment leaves.
    init(credential: String, secret: String) throws {
        guard let credential = Token(credential) else { throw LoginModelError.notAToken }
        self.init(
            EnrolledSecret(
                server: try ServerAddress(parsing: "https://login.example"), authorities: [],
                credential: credential,
                handed: CourierAnswer.HandedSecret(
                    secret: SecretBytes(text: secret), generation: 0), now: 0))
    }

    /// Whether its newest secret was given a nonce.
    var isUnanswered: Bool { state.isUnanswered }

    /// The generations of the secrets that it holds, with the nonces that they were sent with.
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

/// A sign-in on a device, which can be stopped between any two steps.
///
/// The device's real code is run again from its beginning for each step, with the results that its steps had.
struct DeviceRun: Sendable {
    /// What the outside did for the device.
    enum Step: Hashable, Sendable {
        case kept, wiped, connectionLost, timedOut
        case answered(LoginReply)
    }

    /// What the device waits for.
    enum Wait: Sendable {
        case keeping(DeviceRecord)
        case wiping(reason: String)
        case asking(LoginMessage)
        case nothing(End)
    }

    /// How a sign-in ended.
    enum End: Hashable, Sendable {
        case signedIn
        case wiped(reason: String)
        /// It failed, and the secret stays.
        case failed
    }

    let start: DeviceRecord
    /// Whose nonces are drawn, and how many of them were kept before the run.
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
            nonces: { [nonces] () throws(DeviceLoginError) in
                // Nobody has seen a nonce that was not kept, so the next one may as well be the same.
                try DeviceRun.nonce(nonces.kept + script.keptNonces, of: nonces.owner)
            }, now: 0)
        var messenger = ScriptedMessenger(script: script)
        do throws(DeviceLoginError) {
            _ = try signIn.run(over: &messenger)
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

    private static func nonce(
        _ number: UInt8, of owner: UInt8
    ) throws(DeviceLoginError) -> RotationNonce {
        let digest: [UInt8]
        do { digest = try sha256([owner, number].span) } catch { throw .cryptography(error) }
        guard let nonce = RotationNonce(Array(digest.prefix(RotationNonce.count))) else {
            throw .senseless
        }
        return nonce
    }
}

/// The results of a run's steps, and what it waits for behind the last of them.
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

    func wipe(because reason: Tombstone.Reason, now: Int64) throws(DeviceLoginError) {
        guard script.next(orWaitFor: .wiping(reason: reason.rawValue)) != nil else {
            throw .vault(.busy)
        }
    }
}

private struct ScriptedMessenger: Messenger {
    let script: Script

    mutating func carry(_ errand: Errand) throws(CourierFailure) -> CourierAnswer {
        guard case .login(let login) = errand.question else { throw .badAnswer }
        let message = LoginMessage(
            idempotencyKey: errand.idempotencyKey, credential: login.credential.text,
            secret: login.secret.text, nonce: login.nonce.bytes)
        switch script.next(orWaitFor: .asking(message)) {
        case .answered(let reply): return try CourierAnswer(reply)
        case .connectionLost: throw .connectionLost
        case .timedOut: throw .timedOut
        case nil: throw .notFound
        case .kept, .wiped: preconditionFailure("a run takes the same steps again")
        }
    }
}

extension CourierAnswer {
    fileprivate init(_ reply: LoginReply) throws(CourierFailure) {
        switch reply {
        case .accepted(let generation, let secret, let verification, let login):
            guard let verification = Token(verification) else { throw .badAnswer }
            self = .accepted(
                Acceptance(
                    verification: verification, login: SecretBytes(text: login),
                    expiresAt: PlainText(showing: ""),
                    next: HandedSecret(
                        secret: SecretBytes(text: secret), generation: generation)))
        case .denied(let wipe): self = .denied(wipe: wipe.map { WipeOrder(word: $0) })
        case .problem(let status):
            self = .problem(
                Problem(status: status, type: PlainText(showing: "revoked"), retryAfter: 0))
        }
    }
}

import Devices
import SecretVault
import TestSupport
import Testing
import VaultService
import WatchwordCryptography
import WatchwordSystem

@testable import Agent
@testable import DeviceLogin

/// The limit on wrong PINs that users of the system agent can send to the TPM.
struct PINLimitTests {
    private static let hour = Duration.seconds(3600)

    @Test("a user may enter four wrong PINs, and then one more every two hours")
    func ofUser() {
        let limit = PINLimit()
        for _ in 0..<4 { #expect(limit.count(of: 5, at: .zero) == nil) }
        #expect(limit.count(of: 5, at: .zero) == Self.hour * 2)
        #expect(limit.count(of: 5, at: Self.hour) == Self.hour)
        #expect(limit.count(of: 6, at: .zero) == nil)
        #expect(limit.count(of: 5, at: Self.hour * 2) == nil)
        #expect(limit.count(of: 5, at: Self.hour * 2) == Self.hour * 2)
        // Without further wrong PINs, all four are available again.
        for _ in 0..<4 { #expect(limit.count(of: 5, at: Self.hour * 10) == nil) }
        #expect(limit.count(of: 5, at: Self.hour * 10) != nil)
    }

    @Test("a correct PIN does not count")
    func right() {
        let limit = PINLimit()
        for _ in 0..<50 {
            #expect(limit.count(of: 5, at: .zero) == nil)
            limit.takeBack(of: 5)
        }
    }

    @Test("all users together may enter sixteen wrong PINs")
    func ofAll() {
        let limit = PINLimit()
        for user in UInt32(0)..<16 { #expect(limit.count(of: user, at: .zero) == nil) }
        #expect(limit.count(of: 16, at: .zero) == Self.hour * 2)
        #expect(limit.count(of: 16, at: Self.hour * 2) == nil)
    }

    /// The outcome of a use of the TPM in which `watchword-token` asks for the PIN `asks` times,
    /// and then sends `end`; the person answers each time.
    private func outcome(
        of service: AgentServices, _ supervisor: borrowing FileDescriptor,
        in held: HeldVaultsTests, asks: Int, _ end: TokenMessage
    ) throws -> (refusal: TokenFailure?, PINs: Int) {
        let program = try SocketPair()
        let questions = (0..<asks).map { TokenMessage.asksPIN(isRepeated: $0 > 0, left: 9) }
        for message in [.ready(version: TokenMessage.version)] + questions + [end] {
            try FrameWriter(message).write(to: program.second)
        }
        let life = try SocketPair()
        try supervisor.send(HelperChannel.token, with: program.first, life.first)
        let person = try SocketPair()
        for _ in 0..<asks {
            let frame = try FrameWriter(AgentProtocol.version)
            frame.append(AgentRequest.answer(SecretBytes(text: "0852")))
            try frame.write(to: person.second)
        }
        let unlocking = try held.vaults.use(held.place).unlocking
        let token = try service.token(
            at: .standard, service.relay(in: held.place, unlocking),
            asking: RemotePerson(FrameConnection(try person.first.duplicate())))
        let object = try #require(
            TPMObject(publicArea: [1], privateArea: [1], requiresPIN: true, isBoundToPCR7: false))
        var absent = AbsentPerson()
        var failure: TokenFailure?
        do throws(TokenFailure) {
            _ = try token.carryOut(.unseal(object, in: .standard), with: &absent)
        } catch {
            failure = error
        }
        // First the request is read, and then each answer.
        program.first.shutDown()
        var incoming = try IncomingFrame(limit: 4096)
        var count = 0
        while case .complete(let frame) = try incoming.advance(from: program.second) {
            if let pin = frame.value(as: OptionalPIN.self)?.pin, pin == SecretBytes(text: "0852") {
                count += 1
            }
            incoming = try IncomingFrame(limit: 4096)
        }
        return (failure, count)
    }

    @Test("the system agent passes on no fifth wrong PIN, but still passes on other users' PINs")
    func relayed() throws {
        let held = try HeldVaultsTests()
        try held.hold()
        let pair = try SocketPair()
        let supervisor = try pair.second.duplicate()
        let folder = try TemporaryFolder()
        let service = AgentServices(
            vaults: held.vaults, reach: .folders([held.place.folder]), limitsFiles: false,
            helpers: HelperChannel(pair.takeFirst()), stop: try WakeSignal())
        func user(_ user: UInt32) -> AgentServices {
            service.reaching(
                .account(SystemAccount(stateFolder: folder.path, user: user)))
        }
        func outcome(
            of service: AgentServices, asks: Int, _ end: TokenMessage
        ) throws -> (refusal: TokenFailure?, PINs: Int) {
            try self.outcome(of: service, supervisor, in: held, asks: asks, end)
        }
        let wrong = TokenMessage.refused(.wrongPIN(left: nil))
        let bytes = [UInt8](repeating: 1, count: TokenRequest.secretCount)
        let secret = TokenMessage.done(.secret(SecretBytes(copying: bytes.span)))
        let first = try outcome(of: user(5), asks: 3, wrong)
        #expect(first.refusal == .wrongPIN(left: nil) && first.PINs == 3)
        let right = try outcome(of: user(5), asks: 1, secret)
        #expect(right.refusal == nil && right.PINs == 1)
        let last = try outcome(of: user(5), asks: 2, wrong)
        #expect(last.refusal == .lockedOut(seconds: 7200) && last.PINs == 1)
        let other = try outcome(of: user(6), asks: 1, secret)
        #expect(other.refusal == nil && other.PINs == 1)
        // In a user's own agent, only the TPM counts.
        for _ in 0..<2 {
            let own = try outcome(of: service, asks: 3, wrong)
            #expect(own.refusal == .wrongPIN(left: nil) && own.PINs == 3)
        }
    }
}

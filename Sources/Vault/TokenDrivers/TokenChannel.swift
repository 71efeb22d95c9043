public import Devices
internal import ProcessConfinement
public import WatchwordCryptography
internal import WatchwordSystem

/// The helper's side: read the request, use the device, answer.
public struct TokenChannel: ~Copyable {
    /// The resources that the helper may use.
    private static let limits = Confinement.Limits(addressSpace: 2 << 30, processorSeconds: 60)

    private let input: FileDescriptor

    /// Handles one request with `serve` and ends the process.
    public static func run(
        serve: (TokenRequest, borrowing TokenChannel) throws(TokenFailure) -> TokenResult
    ) -> Never {
        do throws(SystemCallFailure) {
            try ProcessHardening.apply()
            try Confinement.prepareForDevice()
            let channel = TokenChannel(input: FileDescriptor(owning: 0))
            try channel.send(.ready(version: TokenMessage.version))
            guard let request = try channel.nextRequest() else { ConfinedHelper.refuseRequest() }
            try channel.send(answer(to: request, over: channel, serve))
            // The libraries' exit handlers do not run: they could talk to the device.
            ProcessEnd.atOnce(with: 0)
        } catch {
            // There is nobody left to report to.
            ProcessEnd.atOnce(with: 6)
        }
    }

    private static func answer(
        to request: TokenRequest, over channel: borrowing TokenChannel,
        _ serve: (TokenRequest, borrowing TokenChannel) throws(TokenFailure) -> TokenResult
    ) -> TokenMessage {
        do { return .done(try serve(request, channel)) } catch { return .refused(error) }
    }

    /// Gives up everything but the devices that are open.
    ///
    /// - Parameter emulator: the TCP ports of an emulator, which also needs connections.
    public func confine(emulator: [UInt16]? = nil) throws(TokenFailure) {
        do {
            try Confinement.enterWithDevice(TokenChannel.limits, emulator: emulator)
        } catch {
            throw .notConfined(error)
        }
    }

    /// Gives up everything but opening files and devices.
    public func confineToOpening() throws(TokenFailure) {
        do { try Confinement.enterToOpenDevice(TokenChannel.limits) } catch {
            throw .notConfined(error)
        }
    }

    /// The most attempts that one command makes.
    static let mostAttempts = 3

    /// Asks for the PIN; `nil` if there is none.
    public func askPIN(isRepeated: Bool, left: UInt32?) throws(TokenFailure) -> SecretBytes? {
        do throws(SystemCallFailure) {
            try send(.asksPIN(isRepeated: isRepeated, left: left))
            var incoming = try IncomingFrame(limit: TokenMessage.largestAnswer)
            guard case .complete(let frame) = try incoming.advance(from: input),
                let answer = frame.value(as: OptionalPIN.self)
            else { ConfinedHelper.refuseRequest() }
            return answer.pin
        } catch {
            ProcessEnd.atOnce(with: 6)
        }
    }

    /// Reports that the person must touch the authenticator.
    public func askToTouch(number: Int, of count: Int) throws(TokenFailure) {
        do throws(SystemCallFailure) {
            try send(.touch(number: UInt8(clamping: number), count: UInt8(clamping: count)))
        } catch {
            ProcessEnd.atOnce(with: 6)
        }
    }

    private func nextRequest() throws(SystemCallFailure) -> TokenRequest? {
        var incoming = try IncomingFrame(limit: TokenRequest.largestFrame)
        guard case .complete(let frame) = try incoming.advance(from: input) else { return nil }
        return frame.value()
    }

    private func send(_ message: TokenMessage) throws(SystemCallFailure) {
        try FrameWriter(message).write(to: StandardStream.output.rawValue)
    }
}

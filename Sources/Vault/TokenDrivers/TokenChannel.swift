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
        serve: (TokenRequest, borrowing TokenChannel) throws(TokenFailure) -> TokenResponse
    ) -> Never {
        endOnFailure(of: try ProcessHardening.apply())
        endOnFailure(of: try Confinement.prepareForDevice())
        let channel = TokenChannel(input: FileDescriptor(owning: 0))
        channel.send(.ready(version: TokenMessage.version))
        guard let request: TokenRequest = channel.next(limit: TokenRequest.largestFrame) else {
            ConfinedHelper.refuseRequest()
        }
        channel.send(answer(to: request, over: channel, serve))
        // The libraries' exit handlers do not run: they could talk to the device.
        ProcessEnd.atOnce(with: 0)
    }

    /// Ends the process if a system call fails: the failure can no longer be reported.
    private static func endOnFailure<Result: ~Copyable>(
        of call: @autoclosure () throws(SystemCallFailure) -> Result
    ) -> Result {
        do { return try call() } catch { ProcessEnd.atOnce(with: 6) }
    }

    private static func answer(
        to request: TokenRequest, over channel: borrowing TokenChannel,
        _ serve: (TokenRequest, borrowing TokenChannel) throws(TokenFailure) -> TokenResponse
    ) -> TokenMessage {
        do { return .done(try serve(request, channel)) } catch { return .refused(error) }
    }

    /// Gives up everything but the devices that are open.
    ///
    /// - Parameter emulator: the TCP ports of an emulator, which also needs connections.
    public func confine(emulator: [UInt16]? = nil) throws(TokenFailure) {
        try TokenFailure.notConfined(
            in: Confinement.enterWithDevice(TokenChannel.limits, emulator: emulator))
    }

    /// Gives up everything but opening files and devices.
    public func confineToOpening() throws(TokenFailure) {
        try TokenFailure.notConfined(in: Confinement.enterToOpenDevice(TokenChannel.limits))
    }

    /// The most attempts that one command makes.
    static let mostAttempts = 3

    /// Asks for the PIN; `nil` if there is none.
    public func askPIN(isRepeated: Bool, left: UInt32?) -> SecretBytes? {
        send(.asksPIN(isRepeated: isRepeated, left: left))
        guard let answer: OptionalPIN = next(limit: TokenMessage.largestAnswer) else {
            ConfinedHelper.refuseRequest()
        }
        return answer.pin
    }

    /// Reports that the person must touch the authenticator.
    public func askToTouch(number: Int, of count: Int) {
        send(.touch(number: UInt8(clamping: number), count: UInt8(clamping: count)))
    }

    /// The next frame's value; `nil` if there is none, or the frame breaks the protocol.
    private func next<Value: Transferable>(limit: Int) -> Value? {
        var incoming = TokenChannel.endOnFailure(of: try IncomingFrame(limit: limit))
        let progress = TokenChannel.endOnFailure(of: try incoming.advance(from: input))
        guard case .complete(let frame) = progress else { return nil }
        return frame.value()
    }

    private func send(_ message: TokenMessage) {
        TokenChannel.endOnFailure(
            of: try FrameWriter(message).write(to: StandardStream.output.rawValue))
    }
}

extension TokenFailure {
    /// Loads what OpenSSL needs, before the process gives up the right to open files.
    static func prepareCryptography() throws(TokenFailure) {
        do { try prepareConfinedCryptography() } catch {
            throw .failed(call: "OPENSSL_init_crypto", code: 0)
        }
    }

    /// Converts the failure of a confinement step.
    fileprivate static func notConfined(
        in step: @autoclosure () throws(SystemCallFailure) -> Void
    ) throws(TokenFailure) {
        do { try step() } catch { throw .notConfined(error) }
    }
}

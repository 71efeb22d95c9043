import TestSupport
import Testing
import WatchwordSystem

/// `/bin/cat` acts as the helper: it sends back what it receives.
@Suite struct HelperProcessTests {
    private func helper(
        greeting: Int? = 8, frame: Int = 8, timeout: Duration = .seconds(60)
    ) throws -> HelperProcess {
        try HelperProcess(
            running: "/bin/cat", limits: .init(greeting: greeting, frame: frame, outgoing: 64),
            timeout: timeout)
    }

    private func send(_ bytes: [UInt8], to helper: HelperProcess) throws {
        helper.outgoing.append(UInt32(bytes.count).littleEndianBytes + bytes)
        #expect(try helper.flush() == .moved(bytes.count + 4))
        helper.removeOutgoing()
    }

    private func receive(from helper: HelperProcess) throws -> HelperProcess.Received {
        while helper.remainingTime > .zero {
            let received = try helper.receive()
            guard case .wouldWait = received else { return received }
            try helper.wait(for: helper.readable)
        }
        return .wouldWait
    }

    @Test("the first frame is a greeting, and later ones are not")
    func frames() throws {
        let helper = try helper()
        #expect(!helper.isReady)
        try send([1, 2], to: helper)
        guard case .greeting(let greeting) = try receive(from: helper) else {
            Issue.record("no greeting")
            return
        }
        #expect(greeting.withBytes { [$0[0], $0[1]] } == [1, 2])
        #expect(helper.isReady)
        try send([3], to: helper)
        guard case .frame(let frame) = try receive(from: helper) else {
            Issue.record("no frame")
            return
        }
        #expect(frame.withBytes { $0[0] } == 3)
    }

    @Test("a frame over its limit is malformed, and one of exactly that size is not")
    func limits() throws {
        for (size, isMalformed) in [(8, false), (9, true)] {
            let asGreeting = try helper(greeting: 8, frame: 64)
            try send([UInt8](repeating: 0, count: size), to: asGreeting)
            let greeting = try receive(from: asGreeting)
            if case .malformed = greeting { #expect(isMalformed) } else { #expect(!isMalformed) }
            let asFrame = try helper(greeting: nil, frame: 8)
            #expect(asFrame.isReady)
            try send([UInt8](repeating: 0, count: size), to: asFrame)
            let frame = try receive(from: asFrame)
            if case .malformed = frame { #expect(isMalformed) } else { #expect(!isMalformed) }
        }
    }

    @Test("a killed helper is reported as ended, and unsent data can be discarded")
    func end() throws {
        let helper = try helper()
        #expect(helper.end().0 == .killed)
        // Another test's program that is just being started may hold the pipe for a moment.
        guard case .ended = try receive(from: helper) else {
            Issue.record("not ended")
            return
        }
        try helper.appendFrame("text")
        #expect(helper.hasUnsent)
        helper.removeOutgoing()
        #expect(!helper.hasUnsent)
    }

    @Test("a silent helper uses up its timeout, and the timeout can be restarted")
    func timeout() throws {
        let helper = try helper(timeout: .milliseconds(20))
        guard case .wouldWait = try receive(from: helper) else {
            Issue.record("a silent helper sent something")
            return
        }
        #expect(helper.remainingTime == .zero)
        helper.restartTimeout(.seconds(60))
        try send([1], to: helper)
        guard case .greeting = try receive(from: helper) else {
            Issue.record("no greeting")
            return
        }
    }

    @Test("a missing program and one that cannot be run cause different errors")
    func start() throws {
        let limits = HelperProcess.Limits(greeting: nil, frame: 8, outgoing: 8)
        #expect(throws: HelperFailure.notFound) {
            _ = try HelperProcess(
                running: "/nowhere/helper", limits: limits, timeout: .seconds(1))
        }
        let denied = SystemCallFailure(call: "posix_spawn", number: 13)
        #expect(throws: HelperFailure.cannotStart(denied)) {
            _ = try HelperProcess(running: "/etc/passwd", limits: limits, timeout: .seconds(1))
        }
    }
}

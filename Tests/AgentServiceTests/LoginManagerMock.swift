import TestSupport

/// A login manager on a system bus that belongs to the test.
final class LoginManagerMock {
    private let bus: PrivateBus

    private static let manager = "org.freedesktop.login1 /org/freedesktop/login1"

    /// The bus has an address, but does not run yet.
    init(in folder: TemporaryFolder) { bus = PrivateBus(in: folder) }

    /// The bus's address.
    var address: String { bus.address }

    /// Starts the bus, and the login manager with a session of each of these users: 1, 2 and so on.
    func start(sessions users: [UInt32]) throws {
        try bus.start()
        try bus.play("logind", as: "org.freedesktop.login1")
        for (index, user) in users.enumerated() {
            try bus.call(
                "\(Self.manager) \(PrivateBus.mock) AddSession ssusb \(index + 1) seat0 \(user) "
                    + "someone true")
        }
    }

    /// Ends the bus and the login manager.
    func end() throws { try bus.end() }

    /// Announces that a session is locked.
    func lockSession(_ number: Int) throws {
        try bus.call(
            "org.freedesktop.login1 /org/freedesktop/login1/session/\(number) "
                + "org.freedesktop.login1.Session Lock")
    }

    /// Announces that the machine is about to sleep, or has woken up.
    func announceSleep(_ starts: Bool) throws {
        try bus.call(
            "\(Self.manager) \(PrivateBus.mock) EmitSignal sssav org.freedesktop.login1.Manager "
                + "PrepareForSleep b 1 b \(starts)")
    }

    /// Waits until an agent delays sleep, or until none does.
    func wait(untilDelayed isDelayed: Bool) throws {
        let inhibitors =
            "busctl --address='\(address)' call \(Self.manager) "
            + "org.freedesktop.login1.Manager ListInhibitors | grep -q delay"
        try bus.wait(isDelayed ? inhibitors : "! \(inhibitors)")
    }
}

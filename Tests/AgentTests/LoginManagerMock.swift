import TestSupport

/// A login manager on a system bus that belongs to the test.
final class LoginManagerMock {
    private let bus: PrivateBus

    private static let manager = "org.freedesktop.login1 /org/freedesktop/login1"

    /// The bus has an address, but is not started yet.
    init(in folder: TemporaryFolder) { bus = PrivateBus(in: folder) }

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

    /// Ends a session: from then on, its object is unknown, which is reported as by sd-bus.
    func endSession(_ number: Int) throws {
        try bus.call(
            "org.freedesktop.login1 /org/freedesktop/login1/session/\(number) \(PrivateBus.mock) "
                + "AddMethod sssss org.freedesktop.DBus.Properties Get ss v "
                + "\"raise dbus.exceptions.DBusException("
                + "name='org.freedesktop.DBus.Error.UnknownObject')\"")
    }

    /// Announces that the machine is about to sleep, or has woken up.
    func announceSleep(_ starts: Bool) throws {
        try bus.call(
            "\(Self.manager) \(PrivateBus.mock) EmitSignal sssav org.freedesktop.login1.Manager "
                + "PrepareForSleep b 1 b \(starts)")
    }

    /// Announces many times that a session is locked.
    func lockSession(_ number: Int, times: Int) throws {
        try bus.python(
            """
            import dbus
            connection = dbus.bus.BusConnection('\(address)')
            session = connection.get_object(
                'org.freedesktop.login1', '/org/freedesktop/login1/session/\(number)')
            for _ in range(\(times)):
                session.EmitSignal(
                    'org.freedesktop.login1.Session', 'Lock', '', dbus.Array([], 'v'),
                    dbus_interface='\(PrivateBus.mock)')
            """)
    }

    /// Sends signals that imitate those of the login manager to all other connections on the bus,
    /// as any user can: sessions are locked, the machine is about to sleep, and the manager was
    /// replaced.
    func forgeSignals(times: Int) throws {
        let script = """
            import dbus, sys
            from dbus.lowlevel import SignalMessage
            connection = dbus.bus.BusConnection('\(address)')
            driver = connection.get_object('org.freedesktop.DBus', '/org/freedesktop/DBus')
            own = connection.get_unique_name()
            login = 'org.freedesktop.login1'
            for name in driver.ListNames(dbus_interface='org.freedesktop.DBus'):
                if not name.startswith(':') or name == own:
                    continue
                for path, interface, member, arguments in [
                    ('/org/freedesktop/DBus', 'org.freedesktop.DBus', 'NameOwnerChanged',
                     [login, '', own]),
                    ('/org/freedesktop/login1/session/1', login + '.Session', 'Lock', []),
                    ('/org/freedesktop/login1', login + '.Manager', 'PrepareForSleep', [True]),
                ] * \(times):
                    message = SignalMessage(path, interface, member)
                    message.append(*arguments)
                    message.set_destination(name)
                    connection.send_message(message)
            connection.flush()
            """
        try bus.python(script)
    }

    /// Waits until an agent delays sleep, or until none does.
    func wait(untilDelayed isDelayed: Bool) throws {
        let inhibitors =
            "busctl --address='\(address)' call \(Self.manager) "
            + "org.freedesktop.login1.Manager ListInhibitors | grep -q delay"
        try bus.wait(isDelayed ? inhibitors : "! \(inhibitors)")
    }
}

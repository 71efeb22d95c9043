internal import CSystemd
internal import Glibc
package import WatchwordSystem

/// The login manager (logind), which announces on the system bus that a session is locked or that
/// the machine is about to sleep.
///
/// No call waits for the bus. It is used by one thread.
@safe package final class LoginManager {
    /// An announcement of the login manager.
    package enum Notice: Hashable, Sendable {
        /// A session of the user with this ID is locked; `nil` if its user could not be determined.
        case lock(user: UInt32?)
        /// The machine is about to sleep; ``allowSleep()`` lets it.
        case sleep
    }

    /// Whether a user has an active session at this machine, and not only a remote session.
    ///
    /// Without the login manager, no user is known to have an active session.
    package static func isAtMachine(_ user: UInt32) -> Bool { login_active_seats(user) > 0 }

    private let watch: OpaquePointer

    /// Connects to the system bus; `nil` if there is none, or if libsystemd is not installed.
    package init?() {
        guard LoginManager.isThereBus else { return nil }
        var opened: OpaquePointer?
        guard unsafe login_watch_open(&opened) == 0, let opened = unsafe opened else {
            return nil
        }
        unsafe watch = opened
    }

    deinit { unsafe login_watch_close(watch) }

    // Loading the library needlessly would take memory.
    private static var isThereBus: Bool {
        if Environment.value("DBUS_SYSTEM_BUS_ADDRESS") != nil { return true }
        return unsafe access("/run/dbus/system_bus_socket", W_OK) == 0
    }

    /// The descriptor to wait for before the next call of ``notices()``.
    package var interests: [Polling.Interest] {
        let file = unsafe login_watch_file(watch)
        let events = unsafe login_watch_events(watch)
        guard file >= 0, events >= 0 else { return [] }
        return [(POLLIN, false), (POLLOUT, true)].compactMap { event, isWriting in
            events & Int32(event) == 0
                ? nil : Polling.Interest(number: file, isWriting: isWriting)
        }
    }

    /// The announcements since the last call.
    ///
    /// - Throws: if the connection to the bus is lost.
    package func notices() throws(SystemCallFailure) -> Set<Notice> {
        let found = unsafe login_watch_process(watch)
        guard found >= 0 else {
            throw SystemCallFailure(call: "sd_bus_process", number: -found)
        }
        var notices: Set<Notice> = []
        var user: UInt32 = 0
        while unsafe login_watch_locked_user(watch, &user) != 0 {
            notices.insert(.lock(user: user))
        }
        if found & Int32(LOGIN_LOCK_UNKNOWN) != 0 { notices.insert(.lock(user: nil)) }
        if found & Int32(LOGIN_SLEEP) != 0 { notices.insert(.sleep) }
        return notices
    }

    /// Lets the machine sleep: until then, the login manager waits a few seconds.
    package func allowSleep() { unsafe login_watch_allow_sleep(watch) }
}

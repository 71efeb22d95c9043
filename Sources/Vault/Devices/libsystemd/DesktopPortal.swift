internal import CSystemd
internal import Glibc
package import WatchwordSystem

/// The desktop portal, which takes screenshots on desktops that do not let programs see the screen
/// (Wayland).
package enum DesktopPortal {
    private static let longestURI = 4096

    /// Takes a screenshot; the desktop may ask the user first.
    ///
    /// - Returns: the URI of a new file, which the caller removes.
    /// - Throws: `ECANCELED` if the user refused; other errors if there is no portal.
    package static func takeScreenshot(timeout: Duration) throws(SystemCallFailure) -> String {
        var uri = [CChar](repeating: 0, count: longestURI)
        let milliseconds = UInt32(clamping: timeout.components.seconds * 1_000)
        let result = unsafe portal_screenshot(&uri, uri.count, milliseconds)
        guard result == 0 else {
            throw SystemCallFailure(call: "sd_bus_call_method", number: -result)
        }
        return String(
            decoding: uri.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

import Cryptography
import POSIX

extension SecretBytes {
    /// Whether a list of key URIs has something that only the reader of exports understands.
    ///
    /// That is a URI that is not an `otpauth:` URI (`steam:`, `motp:`, Yandex), or what Ente, andOTP
    /// and WinAuth keep in parameters (tags, notes, the trash, other secrets).
    var hasExportMarkers: Bool {
        withBytes { bytes in
            var start = 0
            while start < bytes.count {
                let end = bytes.firstIndex(of: UInt8(ascii: "\n"), from: start) ?? bytes.count
                var first = start
                while first < end, bytes[first] <= UInt8(ascii: " ") { first += 1 }
                if Self.lineMarkers.contains(where: { bytes.holds($0, at: first) }) { return true }
                // A parameter begins after `?` or `&`.
                for index in first..<end
                where bytes[index] == UInt8(ascii: "&") || bytes[index] == UInt8(ascii: "?") {
                    let rest = index + 1
                    if Self.parameterMarkers.contains(where: { bytes.holds($0, at: rest) }) {
                        return true
                    }
                }
                start = end + 1
            }
            return false
        }
    }

    private static let lineMarkers = ["steam://", "motp://", "otpauth://yaotp/"]
    private static let parameterMarkers = ["codeDisplay=", "tags=", "deviceid=", "serial="]
}

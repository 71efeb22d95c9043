internal import Glibc

/// The process's environment variables; no secret is ever read from them.
public enum Environment {
    /// The value of `name`; `nil` when it is not set or empty, which mean the same to us.
    public static func value(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }
}

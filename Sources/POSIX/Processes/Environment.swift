internal import Glibc

/// The process's environment variables; secrets are never read from them.
public enum Environment {
    /// The value of `name`; `nil` if it is unset or empty, which we treat the same.
    public static func value(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }
}

internal import CFIDO2
public import Devices
internal import Glibc

/// Where authenticators are.
public protocol AuthenticatorSource {
    /// Opens the authenticator at `path`, or all of them.
    func open(_ path: String?) throws(TokenRefusal) -> [Authenticator]
}

/// The authenticators that are connected to this computer.
public struct ConnectedAuthenticators: AuthenticatorSource {
    /// More than this are not looked at.
    private static let most = 16

    /// Uses the computer's authenticators.
    public init() {}

    /// Opens the authenticator at `path`, or all of them.
    public func open(_ path: String?) throws(TokenRefusal) -> [Authenticator] {
        var opened: [Authenticator] = []
        var isDenied = false
        for path in path.map({ [$0] }) ?? ConnectedAuthenticators.paths() {
            guard unsafe access(path, R_OK | W_OK) == 0 else {
                isDenied = isDenied || errno == EACCES || errno == EPERM
                continue
            }
            if let device = ConnectedAuthenticators.open(at: path) { opened.append(device) }
        }
        if opened.isEmpty, isDenied { throw .noPermission }
        return opened
    }

    private static func open(at path: String) -> Authenticator? {
        guard let device = unsafe fido_dev_new() else { return nil }
        guard unsafe fido_dev_open(device, path) == FIDO_OK else {
            var released: OpaquePointer? = unsafe device
            unsafe fido_dev_free(&released)
            return nil
        }
        let authenticator = unsafe Authenticator(owning: device)
        // One that supports only U2F has no `hmac-secret`.
        return unsafe fido_dev_is_fido2(device) ? authenticator : nil
    }

    private static func paths() -> [String] {
        guard let list = unsafe fido_dev_info_new(most) else { return [] }
        var released: OpaquePointer? = unsafe list
        defer { unsafe fido_dev_info_free(&released, most) }
        var found = 0
        guard unsafe fido_dev_info_manifest(list, most, &found) == FIDO_OK else { return [] }
        return (0..<min(found, most)).compactMap { index in
            guard let info = unsafe fido_dev_info_ptr(list, index),
                let path = unsafe fido_dev_info_path(info)
            else { return nil }
            return unsafe String(validatingCString: path)
        }
    }
}

public import TestSupport

internal import Foundation

extension PostgreSQLServer {
    /// Whether PostgreSQL and `openssl` are installed.
    public static var canSpeakTLS: Bool { isInstalled && ForeignProgram("openssl") != nil }

    /// Starts a server that uses TLS with a certificate from ``makeCertificate(_:in:)``.
    public static func startWithTLS(
        _ name: String, in folder: TemporaryFolder
    ) throws -> PostgreSQLServer {
        let certificate = try makeCertificate(name, in: folder)
        let key = folder.file("\(name).key")
        // The folder belongs to the test's user, but the server reads the files as another user.
        try setMode(0o755, of: folder.path)
        if let user = PostgreSQLPrograms.servingUser {
            for path in [certificate, key] {
                try FileManager.default.setAttributes([.ownerAccountName: user], ofItemAtPath: path)
            }
        }
        return try start(settings: [
            "ssl": "on", "ssl_cert_file": certificate, "ssl_key_file": key,
        ])
    }

    /// Makes a self-signed certificate for 127.0.0.1 and its key, and returns the certificate's
    /// path.
    @discardableResult
    public static func makeCertificate(
        _ name: String, in folder: TemporaryFolder
    ) throws -> String {
        guard let openssl = ForeignProgram("openssl") else { throw PostgreSQLServerError.missing }
        let certificate = folder.file("\(name).pem")
        let key = folder.file("\(name).key")
        let outcome = try openssl.run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
            "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
        ])
        guard outcome.status == 0 else { throw PostgreSQLServerError.failed("openssl") }
        try setMode(0o600, of: key)
        return certificate
    }
}

public import TestSupport

internal import Foundation

extension PostgreSQLServer {
    /// Whether PostgreSQL and `openssl` are installed.
    public static var canSpeakTLS: Bool { isInstalled && ForeignProgram("openssl") != nil }

    /// Starts a server that uses TLS with a new certificate, which it writes to `NAME.pem`.
    public static func startWithTLS(
        _ name: String, in folder: TemporaryFolder
    ) throws -> PostgreSQLServer {
        try makeTestIdentity(name, in: folder)
        let certificate = folder.file("\(name).pem")
        let key = folder.file("\(name).key")
        // The folder belongs to the test's user, but a different user runs the server that reads
        // the files.
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
}

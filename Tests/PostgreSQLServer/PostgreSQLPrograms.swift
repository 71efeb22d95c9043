import Foundation
import TestSupport

/// PostgreSQL's programs as Debian installs them, and the user that runs them.
enum PostgreSQLPrograms {
    /// The oldest version that Watchword supports.
    static let oldest = 15

    /// The folder of the newest installed version's programs; `nil` if no supported version is
    /// installed.
    static let folder: String? = {
        let versions = "/usr/lib/postgresql"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: versions)) ?? []
        return names.compactMap { Int($0) }.filter { $0 >= oldest }.sorted().reversed()
            .map { "\(versions)/\($0)/bin" }
            .first { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") }
    }()

    /// Omits every variable that could redirect a client to a different server.
    static let environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C", "PGCONNECT_TIMEOUT": "10"]

    /// The user of the Debian package, because the server refuses to run as root; `nil` if the
    /// tests do not run as root.
    static var servingUser: String? { geteuid() == 0 ? "postgres" : nil }

    /// The command line that runs `name` as the server's user.
    static func command(_ name: String, _ arguments: [String]) throws -> [String] {
        guard let folder else { throw PostgreSQLServerError.missing }
        let asUser =
            servingUser.map {
                ["/usr/bin/setpriv", "--reuid=\($0)", "--regid=\($0)", "--init-groups"]
            }
            ?? []
        return asUser + ["\(folder)/\(name)"] + arguments
    }

    /// Runs `name`, checks that it succeeds, and returns its output.
    @discardableResult
    static func run(_ name: String, _ arguments: [String]) throws -> String {
        let words = try command(name, arguments)
        let outcome = try ForeignProgram(path: words[0])
            .run(Array(words.dropFirst()), environment: environment)
        guard outcome.status == 0 else {
            let errors = String(decoding: outcome.errors, as: UTF8.self)
            throw PostgreSQLServerError.failed("\(name): \(errors)")
        }
        return outcome.text
    }
}

/// The reason why a test server is missing or failed.
public enum PostgreSQLServerError: Error {
    /// Debian's `postgresql` is not installed.
    case missing
    /// A program or the server failed with this message.
    case failed(String)
    /// The condition was not met within a minute.
    case tooLate(String)
}

/// Polls until `condition` holds.
///
/// The minute is not a performance limit: it ends a test that would otherwise hang.
func poll(_ what: String, until condition: () throws -> Bool) throws {
    let end = ContinuousClock.now + .seconds(60)
    while try !condition() {
        guard ContinuousClock.now < end else { throw PostgreSQLServerError.tooLate(what) }
        usleep(10_000)
    }
}

import Foundation
import TestSupport

/// PostgreSQL's own programs, as the distribution lays them down, and the user that they run as.
enum PostgreSQLPrograms {
    /// The oldest version that Watchword promises to work with.
    static let oldest = 15

    /// The folder of the newest version's programs; nothing when there is none that is new enough.
    static let folder: String? = {
        let versions = "/usr/lib/postgresql"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: versions)) ?? []
        return names.compactMap { Int($0) }.filter { $0 >= oldest }.sorted().reversed()
            .map { "\(versions)/\($0)/bin" }
            .first { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") }
    }()

    /// What they find around them: nothing that would lead them to another server.
    static let environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C", "PGCONNECT_TIMEOUT": "10"]

    /// The user of the package, since the server refuses to run as root; nothing where the tests
    /// run as somebody else anyhow.
    static var servingUser: String? { geteuid() == 0 ? "postgres" : nil }

    /// The words by which `name` is run as the user that serves.
    static func command(_ name: String, _ arguments: [String]) throws -> [String] {
        guard let folder else { throw PostgreSQLServerError.missing }
        let asUser =
            servingUser.map {
                ["/usr/bin/setpriv", "--reuid=\($0)", "--regid=\($0)", "--init-groups"]
            }
            ?? []
        return asUser + ["\(folder)/\(name)"] + arguments
    }

    /// Runs `name` to its end, which has to be a good one; what it printed.
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

/// Why there is no server to test with, or it did not do what was asked.
public enum PostgreSQLServerError: Error {
    /// Debian's `postgresql-15` is not installed.
    case missing
    /// A program, or the server, said this.
    case failed(String)
    /// What was waited for did not come about within a minute.
    case tooLate(String)
}

/// Looks again and again until `condition` holds.
///
/// A minute is no measure of speed: it ends a test that would otherwise never end.
func poll(_ what: String, until condition: () throws -> Bool) throws {
    let end = ContinuousClock.now + .seconds(60)
    while try !condition() {
        guard ContinuousClock.now < end else { throw PostgreSQLServerError.tooLate(what) }
        usleep(10_000)
    }
}

import CommandLineInterface
import LocalEnrolment
import LocalSockets
import WatchwordSystem

/// The validated options of `serve` about the sockets for programs on this machine.
struct LocalSocketOptions: Sendable {
    /// A socket; the raw value is the name under which a service manager passes it.
    enum Socket: String, CaseIterable, Sendable {
        case pam
        case own = "self"
        case enrol

        /// The option with the path of a socket that the server creates.
        var option: Option {
            switch self {
            case .pam: .pamSocket
            case .own: .selfSocket
            case .enrol: .enrolSocket
            }
        }

        /// The permission bits of a socket that the server creates.
        var mode: UInt32 { self == .pam ? 0o600 : 0o666 }

        /// The maximum number of open files for connections at a time.
        var connections: Int {
            switch self {
            case .pam: 256
            case .own: 64
            case .enrol: EnrolmentDesk.mostFiles
            }
        }
    }

    /// The realm of this machine's accounts; `nil` if it is not needed.
    let realm: Realm?
    private let passed: [Socket]
    private let paths: [Socket: String]

    init(_ arguments: ServerArguments) throws {
        let names = LocalSocket.inheritedNames()
        let passed = names.compactMap(Socket.init(rawValue:))
        guard Set(passed).count == names.count else {
            throw ServerFailure.socket(names.joined(separator: ":"), .unknown)
        }
        var paths: [Socket: String] = [:]
        for socket in Socket.allCases {
            guard let path = arguments[socket.option] else { continue }
            guard !passed.contains(socket) else { throw ServerFailure.socket(path, .passed) }
            paths[socket] = path
        }
        let isNeeded = !passed.isEmpty || !paths.isEmpty || arguments.has(.realm)
        realm = try isNeeded ? Realm(arguments) : nil
        self.passed = passed
        self.paths = paths
    }

    /// The sockets, in the order of ``Socket``.
    var sockets: [Socket] {
        Socket.allCases.filter { passed.contains($0) || paths[$0] != nil }
    }

    /// The maximum number of connections to all of them.
    var connections: Int { sockets.reduce(0) { $0 + $1.connections } }

    /// The log's facts about the sockets when the server is up.
    var facts: [(String, String)] {
        guard let realm, !sockets.isEmpty else { return [] }
        return [
            ("sockets", sockets.map(\.rawValue).joined(separator: " ")), ("realm", realm.text),
        ]
    }

    /// Takes over the service manager's sockets, and creates the others.
    ///
    /// Call it once, before other threads create files.
    func open() throws -> [Socket: LocalEndpoint] {
        var endpoints: [Socket: LocalEndpoint] = [:]
        for socket in passed {
            let file = try naming(LocalSocket.inherited(named: socket.rawValue)) {
                .socket(socket.rawValue, .system($0))
            }
            if let file { endpoints[socket] = LocalEndpoint(file) }
        }
        for (socket, path) in paths {
            endpoints[socket] = try Self.make(path, mode: socket.mode)
        }
        return endpoints
    }

    private static func make(_ path: String, mode: UInt32) throws -> LocalEndpoint {
        let folder = try naming(Folder(opening: OutputFile.split(path).folder)) {
            .socket(path, .system($0))
        }
        let exposure = try naming(folder.exposure()) { .socket(path, .system($0)) }
        guard exposure == nil else { throw ServerFailure.socket(path, .exposed) }
        return try naming(LocalEndpoint.make(at: path, mode: mode)) { .socket(path, .system($0)) }
    }
}

extension Realm {
    /// The realm of `--realm`, or else this machine's own.
    init(_ arguments: ServerArguments) throws {
        let named = try arguments.value(
            .realm,
            expected: "1 to \(Realm.maximumCount) lower-case letters, digits, dots and dashes"
        ) { Realm($0) }
        guard let realm = named ?? Realm.ofThisMachine() else { throw ServerFailure.noRealm }
        self = realm
    }
}

/// The reason why a socket for programs on this machine cannot be used.
enum LocalSocketFault: Equatable, Sendable {
    /// The service manager passes it already.
    case passed
    /// The service manager passes a socket whose name is unknown or occurs twice.
    case unknown
    /// Other users could replace the socket.
    case exposed
    case system(SystemCallFailure)
}

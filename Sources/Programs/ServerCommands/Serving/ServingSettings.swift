import CommandLineInterface
import HTTPListener
import Verification
import VerificationService
import WatchwordCryptography
import WatchwordSystem

/// The validated options of `serve`.
struct ServingSettings: Sendable {
    let service: ListenAddress
    let operations: ListenAddress
    let tls: TLSIdentity?
    let policy: Policy
    let settings: ServiceSettings
    let sockets: LocalSocketOptions
    /// The time for which events are kept, in milliseconds; `nil` keeps them forever.
    let eventLifetime: Int64?

    init(_ arguments: ServerArguments, now: Int64) throws {
        let keys = try PublicKeyOptions(arguments)
        sockets = try LocalSocketOptions(arguments)
        service =
            try arguments.value(
                .listen, expected: Self.expectedAddress, ListenAddress.init(parsing:)) ?? .service
        operations = try Self.operations(arguments)
        let profile =
            try arguments.value(
                .profile, expected: "strict, rfc or wide", WindowProfile.init(rawValue:))
            ?? .wide
        let counts = try arguments.value(.foreignSecrets, expected: "count or ignore") {
            ["count": true, "ignore": false][$0]
        }
        let unbounded = try ServingSettings.policy(
            profile, countsForeignSecrets: counts ?? false)
        let smallest = unbounded.smallestGuessBound.percentage
        let bounded = try arguments.value(
            .guessBound, expected: "a percentage from \(smallest) to 100%, such as 1%"
        ) { text -> Policy? in
            guard let bound = GuessBound(percentage: text) else { return nil }
            do {
                return try Policy(
                    profile: profile, countsForeignSecrets: counts ?? false,
                    guessBound: bound)
            } catch { return nil }
        }
        policy = bounded ?? unbounded
        eventLifetime = try ServingSettings.eventLifetime(arguments)
        var settings = ServiceSettings(
            clock: ClockRequirement(profile: profile, keeper: ClockKeeper(arguments)))
        settings.addressRate = try ServingSettings.rate(arguments)
        settings.trustedProxies = try ServingSettings.proxies(arguments)
        settings.pages = keys.pages
        settings.passkeys = keys.passkeys
        settings.audiences = keys.audiences
        settings.tpmRoots = keys.tpmRoots
        settings.usesTLS = arguments[.tlsCertificate] != nil
        settings.realm = sockets.realm
        self.settings = settings
        tls = try ServingSettings.identity(arguments, now: now)
        // Codes must travel over a protected channel (RFC 4226, section 7.1, RP3; SP 800-63B-4,
        // section 3.1.4.2).
        guard tls != nil || service.isLoopback || arguments.has(.insecureHTTP) else {
            throw ServerFailure.plainHTTP(service.text)
        }
        guard operations.isLoopback || arguments.has(.insecureHTTP) else {
            throw ServerFailure.plainOperations(operations.text)
        }
    }

    private static let expectedAddress =
        "an address and a port, such as 127.0.0.1:8420 or [::1]:8420"

    /// The address of the listener for health checks and metrics.
    static func operations(_ arguments: ServerArguments) throws -> ListenAddress {
        try arguments.value(
            .opsListen, expected: expectedAddress, ListenAddress.init(parsing:)) ?? .operations
    }

    private static func policy(
        _ profile: WindowProfile, countsForeignSecrets: Bool
    ) throws -> Policy {
        do {
            return try Policy(profile: profile, countsForeignSecrets: countsForeignSecrets)
        } catch {
            throw UsageError.badValue("profile", expected: "strict, rfc or wide")
        }
    }

    /// The default number of days for which events are kept: one year, and some time to
    /// investigate.
    static let standardEventDays: Int64 = 400

    private static func eventLifetime(
        _ arguments: ServerArguments
    ) throws -> Int64? {
        let lifetime = try arguments.value(
            .keepEvents, expected: "a whole number of days from 1 to 36,500, or all"
        ) { text -> EventLifetime? in
            if text == "all" { return .unlimited }
            guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let days = Int64(text),
                (1...36_500).contains(days)
            else { return nil }
            return .days(days)
        }
        switch lifetime ?? .days(standardEventDays) {
        case .days(let days): return days * 86_400_000
        case .unlimited: return nil
        }
    }

    private enum EventLifetime {
        case days(Int64)
        case unlimited
    }

    private static func rate(_ arguments: ServerArguments) throws -> AddressRate {
        let rate = try arguments.value(
            .addressRate, expected: "one or two whole numbers from 1 to 1,000,000, such as 100,1000"
        ) { text -> AddressRate? in
            let numbers = text.split(separator: ",", omittingEmptySubsequences: false)
                .map { $0.allSatisfy(\.isNumber) ? Int($0) : nil }
            guard (1...2).contains(numbers.count), let first = numbers[0],
                let burst = numbers.count == 2 ? numbers[1] : min(10 * first, 1_000_000)
            else { return nil }
            return AddressRate(perSecond: first, burst: burst)
        }
        return rate ?? .standard
    }

    private static func proxies(_ arguments: ServerArguments) throws
        -> TrustedProxies
    {
        let blocks = try list(
            arguments, .trustedProxy, expected: "addresses or blocks, such as 10.0.0.0/8,::1",
            NetworkBlock.init)
        return TrustedProxies(blocks ?? [])
    }

    /// The values of an option that lists them with commas; `nil` if the option was not given.
    static func list<Value>(
        _ arguments: ServerArguments, _ option: Option, expected: String,
        _ read: (String) -> Value?
    ) throws -> [Value]? {
        try arguments.value(option, expected: expected) { text -> [Value]? in
            let parts = text.split(separator: ",", omittingEmptySubsequences: false)
            let values = parts.compactMap { read(String($0)) }
            return values.count == parts.count ? values : nil
        }
    }

    /// The certificate and its key, if the options name them.
    static func identity(_ arguments: ServerArguments, now: Int64) throws
        -> TLSIdentity?
    {
        let certificatePath = arguments[.tlsCertificate]
        let keyPath = arguments[.tlsKey]
        guard let certificatePath, let keyPath else {
            if certificatePath != nil {
                throw UsageError.needs("tls-certificate", with: "tls-key")
            }
            if keyPath != nil { throw UsageError.needs("tls-key", with: "tls-certificate") }
            return nil
        }
        let certificate = try read(certificatePath).withBytes { bytes in
            [UInt8](copying: bytes)
        }
        let key = try read(keyPath)
        if let fault = checkTLSIdentity(certificate: certificate.span, key: key, at: now) {
            throw ServerFailure.tls(fault, certificate: certificatePath, key: keyPath)
        }
        return TLSIdentity(certificate: certificate, key: key)
    }

    static func read(_ path: String) throws -> SecretBytes {
        let bytes = try InputBytes.of(path, limit: 256 << 10)
        guard bytes.count > 0 else { throw ServerFailure.input(path, .empty) }
        return bytes
    }
}

extension ClockKeeper {
    /// Whether the kernel, the host or the administrator vouches for the clock.
    init(_ arguments: ServerArguments) {
        if arguments.has(.noClockCheck) || arguments.has(.testClock) {
            self = .administrator
        } else {
            self = SystemClock.isKeptByHost() ? .host : .kernel
        }
    }
}

extension ListenAddress {
    static let service = ListenAddress(loopbackPort: 8420)
    static let operations = ListenAddress(loopbackPort: 8421)
}

/// The number of connections that the system's limit on open files permits.
///
/// Each connection is an open file. Without its own limit, the listener would exhaust the
/// system's limit, and the database could not open its files.
struct ConnectionLimit: Sendable {
    static let most = ListenerLimits().connections
    /// With fewer connections, the server does not start.
    static let fewest = 64
    /// Few clients request health and metrics.
    static let operations = 64
    /// The number of other open files: the database, the log, and the event queues of
    /// libmicrohttpd's threads, including the threads for replaced certificates.
    private static let reserve = 192

    /// The limit on open files.
    let files: Int
    /// The files other than connections of the service.
    private let others: Int

    /// Raises the limit on open files as far as needed and permitted.
    ///
    /// - Parameter local: the maximum number of connections of programs on this machine.
    /// - Throws: ``ServerFailure/tooFewFiles(_:needed:)`` if the limit is too low for the service.
    init(local: Int) throws {
        others = Self.operations + Self.reserve + local
        files = try OpenFileLimit.raise(to: Self.most + others)
        guard service >= Self.fewest else {
            throw ServerFailure.tooFewFiles(files, needed: Self.fewest + others)
        }
    }

    /// The maximum number of connections of the service.
    var service: Int { min(Self.most, files - others) }

    /// Whether the service gets fewer connections than normal.
    var isShort: Bool { service < Self.most }
}

extension ListenerLimits {
    /// The limits of the service, with this maximum number of connections.
    init(connections: Int, proxies: TrustedProxies) {
        self.init()
        body = Service.maximumBodySize
        self.connections = connections
        isProxy = proxies.isTrusted
    }
}

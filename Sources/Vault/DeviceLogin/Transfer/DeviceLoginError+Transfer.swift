internal import Courier
internal import Devices
internal import SecretVault
package import WatchwordSystem

extension DeviceLoginError: Transferable {
    enum Kind: UInt8, CaseIterable, Transferable {
        case otherKind, unreadable, stale, badTicket, vault, helper, problem, denied
        case wipeNotObeyed, wiped, unexpectedResponse, cryptography, deviceKey, unregistered
        case token, otherPlace, otherTPM, adoptedElsewhere, alreadyEnrolled
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .otherKind: output.append(Kind.otherKind)
        case .token(let failure): output.append(Kind.token, failure)
        case .deviceKey: output.append(Kind.deviceKey)
        case .unregistered: output.append(Kind.unregistered)
        case .otherPlace: output.append(Kind.otherPlace)
        case .otherTPM: output.append(Kind.otherTPM)
        case .adoptedElsewhere: output.append(Kind.adoptedElsewhere)
        case .unreadable: output.append(Kind.unreadable)
        case .stale: output.append(Kind.stale)
        case .badTicket: output.append(Kind.badTicket)
        case .alreadyEnrolled(let name): output.append(Kind.alreadyEnrolled, name)
        case .vault(let error): output.append(Kind.vault, error)
        case .helper(let failure): output.append(Kind.helper, failure)
        case .problem(let problem): output.append(Kind.problem, problem)
        case .denied: output.append(Kind.denied)
        case .wipeNotObeyed: output.append(Kind.wipeNotObeyed)
        case .wiped(let reason): output.append(Kind.wiped, reason)
        case .unexpectedResponse: output.append(Kind.unexpectedResponse)
        case .cryptography(let failure): output.append(Kind.cryptography, failure)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .otherKind: .otherKind
            case .token: try fields.make(Self.token, from: bytes)
            case .deviceKey: .deviceKey
            case .unregistered: .unregistered
            case .otherPlace: .otherPlace
            case .otherTPM: .otherTPM
            case .adoptedElsewhere: .adoptedElsewhere
            case .unreadable: .unreadable
            case .stale: .stale
            case .badTicket: .badTicket
            case .alreadyEnrolled: try fields.make(Self.alreadyEnrolled, from: bytes)
            case .vault: try fields.make(Self.vault, from: bytes)
            case .helper: try fields.make(Self.helper, from: bytes)
            case .problem: try fields.make(Self.problem, from: bytes)
            case .denied: .denied
            case .wipeNotObeyed: .wipeNotObeyed
            case .wiped: try fields.make(Self.wiped, from: bytes)
            case .unexpectedResponse: .unexpectedResponse
            case .cryptography: try fields.make(Self.cryptography, from: bytes)
            }
    }
}

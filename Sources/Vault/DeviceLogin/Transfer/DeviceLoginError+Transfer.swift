internal import Courier
internal import Devices
internal import SecretVault
package import WatchwordSystem

extension DeviceLoginError: Transferable {
    private enum Kind: UInt8 {
        case otherKind, unreadable, stale, badTicket, vault, helper, problem, denied
        case wipeNotObeyed, wiped, unexpectedResponse, cryptography, deviceKey, unregistered
        case token, otherPlace, otherTPM, adoptedElsewhere, alreadyEnrolled
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .otherKind: output.append(choice: Kind.otherKind)
        case .token(let failure):
            output.append(choice: Kind.token)
            output.append(failure)
        case .deviceKey: output.append(choice: Kind.deviceKey)
        case .unregistered: output.append(choice: Kind.unregistered)
        case .otherPlace: output.append(choice: Kind.otherPlace)
        case .otherTPM: output.append(choice: Kind.otherTPM)
        case .adoptedElsewhere: output.append(choice: Kind.adoptedElsewhere)
        case .unreadable: output.append(choice: Kind.unreadable)
        case .stale: output.append(choice: Kind.stale)
        case .badTicket: output.append(choice: Kind.badTicket)
        case .alreadyEnrolled(let name):
            output.append(choice: Kind.alreadyEnrolled)
            output.append(name)
        case .vault(let error):
            output.append(choice: Kind.vault)
            output.append(error)
        case .helper(let failure):
            output.append(choice: Kind.helper)
            output.append(failure)
        case .problem(let problem):
            output.append(choice: Kind.problem)
            output.append(problem)
        case .denied: output.append(choice: Kind.denied)
        case .wipeNotObeyed: output.append(choice: Kind.wipeNotObeyed)
        case .wiped(let reason):
            output.append(choice: Kind.wiped)
            output.append(position: reason)
        case .unexpectedResponse: output.append(choice: Kind.unexpectedResponse)
        case .cryptography(let failure):
            output.append(choice: Kind.cryptography)
            output.append(failure)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .otherKind: self = .otherKind
        case .token: self = .token(try fields.value(bytes))
        case .deviceKey: self = .deviceKey
        case .unregistered: self = .unregistered
        case .otherPlace: self = .otherPlace
        case .otherTPM: self = .otherTPM
        case .adoptedElsewhere: self = .adoptedElsewhere
        case .unreadable: self = .unreadable
        case .stale: self = .stale
        case .badTicket: self = .badTicket
        case .alreadyEnrolled: self = .alreadyEnrolled(as: try fields.value(bytes))
        case .vault: self = .vault(try fields.value(bytes))
        case .helper: self = .helper(try fields.value(bytes))
        case .problem: self = .problem(try fields.value(bytes))
        case .denied: self = .denied
        case .wipeNotObeyed: self = .wipeNotObeyed
        case .wiped: self = .wiped(try fields.choiceByPosition(bytes))
        case .unexpectedResponse: self = .unexpectedResponse
        case .cryptography: self = .cryptography(try fields.value(bytes))
        }
    }
}

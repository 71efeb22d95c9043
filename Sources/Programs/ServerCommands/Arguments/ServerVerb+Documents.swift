import CommandLineInterface
import HTTPListener
import VerificationService

extension ServerVerb {
    /// The help and the manual, with the numbers in them.
    static var documents: ProgramDocuments {
        let rate = AddressRate.standard
        let limits = ListenerLimits()
        return ProgramDocuments(
            help: PackageResources.Help_txt, manual: PackageResources.Manual_mdoc,
            values: [
                "addressRate": "\(rate.perSecond),\(rate.burst)",
                "connections": thousands(limits.connections),
                "connectionsPerAddress": "\(limits.connectionsPerAddress)",
                "eventDays": "\(ServingSettings.standardEventDays)",
                "listen": ListenAddress.service.text,
                "opsListen": ListenAddress.operations.text,
            ])
    }

    /// A number of 1,000 or more, with its comma.
    private static func thousands(_ number: Int) -> String {
        "\(number / 1000),\("\(1000 + number % 1000)".dropFirst())"
    }
}

internal import Devices
internal import TokenDrivers
internal import WatchwordSystem

/// Talks to a TPM or a FIDO2 authenticator.
///
/// `watchword` starts the program for one request and communicates over pipes.
@main struct Program {
    static func main() {
        HelperProgram.main("watchword-token", hint: "it talks to TPMs and FIDO2 authenticators") {
            TokenChannel.run { request, channel throws(TokenFailure) in
                switch request {
                case .seal(let secret, let pin, let isBoundToPCR7, let address):
                    try TPMProgram.seal(
                        secret, pin: pin, isBoundToPCR7: isBoundToPCR7, in: address, over: channel)
                case .unseal(let object, let address):
                    try TPMProgram.unseal(object, in: address, over: channel)
                case .makeKey(let authorization, let pin, let address):
                    try TPMProgram.makeKey(
                        authorization: authorization, pin: pin, in: address, over: channel)
                case .sign(let message, let key, let authorization, let address):
                    try TPMProgram.sign(
                        message, with: key, authorization: authorization, in: address,
                        over: channel)
                case .attest(let key, let message, let authorization, let address):
                    try TPMProgram.attest(
                        key, for: message, authorization: authorization, in: address,
                        over: channel)
                case .activate(let activation, let address):
                    try TPMProgram.activate(activation, in: address, over: channel)
                case .makeCredential, .secret:
                    try AuthenticatorProgram.answer(request, over: channel)
                }
            }
        }
    }
}

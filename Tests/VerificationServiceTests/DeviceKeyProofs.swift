import ServiceTranscripts
import TestSupport
import WatchwordCoding

// What the attacks try on the routes of device keys.
extension ServiceFixture {
    /// A proof with a ticket for a device key.
    func deviceKeyTicket() async throws -> Proof {
        let ticket = try await enrol(#"{"type":"key"}"#).member("ticket")
        let device = try SampleDeviceKey("alice")
        let (point, signature) = (device.pointText, try device.enrolment(ticket))
        return Proof(
            target: "/v1/device/keys", key: nil,
            body: { ticket, _ in
                #"{"ticket":"\#(ticket)","public_key":"\#(point)","#
                    + #""signature":"\#(signature)","presence":"cryptographic"}"#
            }, right: { ticket }, wrong: "wwt_" + String(repeating: "A", count: 43),
            mark: #""state":"active""#)
    }

    /// A proof with a device key: a challenge and its signature.
    func deviceSignature() async throws -> Proof {
        let device = try SampleDeviceKey("alice")
        let ticket = try await enrol(#"{"type":"key"}"#).member("ticket")
        let registered = try await ask(
            "POST", "/v1/device/keys",
            #"{"ticket":"\#(ticket)","public_key":"\#(device.pointText)","#
                + #""signature":"\#(try device.enrolment(ticket))","presence":"cryptographic"}"#,
            as: nil)
        let id = try registered.member("credential")
        let begun = try await ask(
            "POST", "/v1/device/challenges", #"{"credential":"\#(id)"}"#, as: nil)
        let challenge = try begun.member("challenge")
        let signature = try device.signature(
            of: challenge, expiry: begun.json?["expires_ms"]?.wholeNumber ?? 0, by: id)
        return Proof(
            target: "/v1/device/signatures", key: nil,
            body: { pair, _ in
                #"{"credential":"\#(id)","audience":"\#(SampleDeviceKey.audience)","#
                    + #""purpose":"sign-in","presence":"cryptographic","challenge":"\#(pair)"}"#
            }, right: { #"\#(challenge)","signature":"\#(signature)"# },
            // A wrong signature would spend the challenge.
            wrong: #"wwx_\#(String(repeating: "A", count: 43))","signature":"\#(signature)"#,
            mark: #""result":"accepted""#)
    }
}

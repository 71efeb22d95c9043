internal import Verification
internal import WatchwordCryptography

// The body's shape has already been checked, so a failure here means that our own schema is wrong.
// The request is rejected as malformed, before any state changes.
extension Service {
    func subject(_ text: String?) throws(Refusal) -> Subject {
        guard let subject = text.flatMap({ Subject($0) }) else {
            throw Refusal(.invalidField("subject"))
        }
        return subject
    }

    func credential(_ call: Call) throws(Refusal) -> CredentialID {
        guard let id = call.parameters["credential"].flatMap({ CredentialID(text: $0) }) else {
            throw Refusal(.malformedTarget)
        }
        return id
    }

    func code(_ text: SecretBytes?, field: String) throws(Refusal) -> PresentedCode {
        guard let text else { throw Refusal(.missingField(field)) }
        do throws(PresentedCodeError) {
            return try PresentedCode(text)
        } catch {
            throw Refusal(.invalidField(field))
        }
    }

    func token(_ kind: Token.Kind, _ text: SecretBytes?) -> Token? {
        guard let text else { return nil }
        return text.withBytes { Token(kind, text: $0) }
    }
}

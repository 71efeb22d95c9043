@testable import DeviceLogin
@testable import LocalEnrolment
@testable import SecretVault
@testable import VaultService
@testable import WatchwordSystem

/// Parses the bytes as each type that `watchword` and its agent, or `watchword-enrol` and the
/// server, send to each other; an accepted value must be written back byte for byte.
func fuzzTransfer(_ bytes: [UInt8]) {
    expectOneForm(EntryContent.self, bytes)
    expectOneForm(EntryDetails.self, bytes)
    expectOneForm(ListedEntry.self, bytes)
    expectOneForm(AccessControl.self, bytes)
    expectOneForm(SlotSummary.self, bytes)
    expectOneForm(VaultCheck.self, bytes)
    expectOneForm(VaultStatus.self, bytes)
    expectOneForm(VaultError.self, bytes)
    expectOneForm(RefusalCost.self, bytes)
    expectOneForm(VaultOpener.self, bytes)
    expectOneForm(VaultEdit.self, bytes)
    expectOneForm(EditOutcome.self, bytes)
    expectOneForm(AgentRequest.self, bytes)
    expectOneForm(AgentResponse.self, bytes)
    expectOneForm(LoginRequest.self, bytes)
    expectOneForm(LoginResponse.self, bytes)
    expectOneForm(KeyRequest.self, bytes)
    expectOneForm(KeyOrder.self, bytes)
    expectOneForm(KeyState.self, bytes)
    expectOneForm(DeviceLoginError.self, bytes)
    expectOneForm(EnrolmentRequest.self, bytes)
    expectOneForm(EnrolmentResponse.self, bytes)
}

/// Parses the bytes as a value; an accepted value must be written back byte for byte.
///
/// - Returns: whether the bytes are accepted.
@discardableResult func expectOneForm<Value: Transferable>(
    _ type: Value.Type, _ bytes: [UInt8]
) -> Bool {
    let value: Value
    do { value = try Value(parsing: bytes.span) } catch {
        // Refusing the input is correct.
        return false
    }
    do {
        let writer = try FrameWriter()
        writer.append(value)
        writer.withContent { again in
            precondition(again.count == bytes.count, "there is only one form")
            for index in bytes.indices {
                precondition(again[index] == bytes[index], "there is only one form")
            }
        }
    } catch {
        preconditionFailure("no memory for a frame")
    }
    return true
}

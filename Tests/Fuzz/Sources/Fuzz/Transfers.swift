@testable import DeviceLogin
@testable import SecretVault
@testable import VaultService
@testable import WatchwordSystem

/// Parses the bytes as each type that `watchword` and its agent send to each other; an accepted value
/// must be written back byte for byte.
func fuzzTransfer(_ bytes: [UInt8]) {
    take(EntryContent.self, bytes)
    take(EntryDetails.self, bytes)
    take(ListedEntry.self, bytes)
    take(AccessControl.self, bytes)
    take(SlotSummary.self, bytes)
    take(VaultCheck.self, bytes)
    take(VaultStatus.self, bytes)
    take(VaultError.self, bytes)
    take(RefusalCost.self, bytes)
    take(VaultOpener.self, bytes)
    take(VaultEdit.self, bytes)
    take(EditOutcome.self, bytes)
    take(AgentRequest.self, bytes)
    take(AgentResponse.self, bytes)
    take(LoginTask.self, bytes)
    take(LoginAnswer.self, bytes)
    take(KeyTask.self, bytes)
    take(KeyOrder.self, bytes)
    take(KeyState.self, bytes)
    take(DeviceLoginError.self, bytes)
}

private func take<Value: Transferable>(_ type: Value.Type, _ bytes: [UInt8]) {
    let value: Value
    do { value = try Value(parsing: bytes.span) } catch {
        // Refusing the input is correct.
        return
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
}

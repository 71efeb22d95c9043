internal import CPAM
internal import Devices
internal import Glibc
internal import WatchwordSystem

/// The maximum length of a module's text, in bytes.
private let longestText = 4096

/// The conversation function that libpam calls for a module's messages and prompts (`pam_conv(3)`).
///
/// The answers, one per message, are allocated with `calloc`; the module frees them.
func converse(
    count: Int32, messages: UnsafeMutablePointer<UnsafePointer<pam_message>?>?,
    answers: UnsafeMutablePointer<UnsafeMutablePointer<pam_response>?>?,
    channel: UnsafeMutableRawPointer?
) -> Int32 {
    guard (1...PAM_MAX_NUM_MSG).contains(count), let messages = unsafe messages,
        let answers = unsafe answers, let channel = unsafe channel
    else { return PAM_CONV_ERR }
    let ours = unsafe Unmanaged<ModuleChannel>.fromOpaque(channel).takeUnretainedValue()
    guard
        let made = unsafe calloc(Int(count), MemoryLayout<pam_response>.stride)?
            .assumingMemoryBound(to: pam_response.self)
    else { return PAM_BUF_ERR }
    for index in 0..<Int(count) {
        guard let message = unsafe messages[index] else {
            return unsafe giveUp(made, count: index, with: PAM_CONV_ERR)
        }
        let result = unsafe answer(message.pointee, over: ours, into: &made[index])
        guard result == PAM_SUCCESS else {
            return unsafe giveUp(made, count: index, with: result)
        }
    }
    unsafe answers.pointee = made
    return PAM_SUCCESS
}

/// Forwards one message, and stores the user's answer.
private func answer(
    _ message: pam_message, over channel: ModuleChannel, into response: inout pam_response
) -> Int32 {
    let text = unsafe text(of: message)
    do throws(SystemCallFailure) {
        switch unsafe message.msg_style {
        case PAM_TEXT_INFO: try channel.say(text, isError: false)
        case PAM_ERROR_MSG: try channel.say(text, isError: true)
        case PAM_PROMPT_ECHO_OFF, PAM_PROMPT_ECHO_ON:
            let isEchoed = unsafe message.msg_style == PAM_PROMPT_ECHO_ON
            guard let answer = try channel.ask(text, isEchoed: isEchoed) else {
                return PAM_CONV_ERR
            }
            guard let copy = unsafe copy(of: answer) else { return PAM_CONV_ERR }
            unsafe response.resp = copy
        // Binary messages cannot be shown to a user (PAM_BINARY_PROMPT, PAM_RADIO_TYPE).
        default: return PAM_CONV_ERR
        }
    } catch {
        return PAM_CONV_ERR
    }
    return PAM_SUCCESS
}

private func text(of message: pam_message) -> String {
    guard let start = unsafe message.msg else { return "" }
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: strnlen(start, longestText))
    return unsafe String(decoding: bytes, as: UTF8.self)
}

/// The answer as a C string, to be freed with `free`; `nil` if it contains NUL, which would
/// truncate it.
private func copy(of answer: ModuleAnswer) -> UnsafeMutablePointer<CChar>? {
    unsafe answer.withBytes { bytes in
        guard !bytes.indices.contains(where: { bytes[$0] == 0 }),
            let copy = unsafe calloc(bytes.count + 1, 1)
        else { return nil }
        for index in bytes.indices {
            unsafe copy.storeBytes(of: bytes[index], toByteOffset: index, as: UInt8.self)
        }
        return unsafe copy.assumingMemoryBound(to: CChar.self)
    }
}

/// Wipes and frees the first `count` answers, which are not passed to the module.
private func giveUp(
    _ answers: UnsafeMutablePointer<pam_response>, count: Int, with result: Int32
) -> Int32 {
    for index in 0..<count {
        guard let text = unsafe answers[index].resp else { continue }
        unsafe explicit_bzero(text, strlen(text))
        unsafe free(text)
    }
    unsafe free(answers)
    return result
}

internal import CLinux
internal import Glibc

/// Why a camera cannot be used.
public enum CameraFailure: Hashable, Sendable {
    /// No camera is connected, or the kernel has no driver for it.
    case none
    /// This user may not use the camera at this path.
    case forbidden(String)
    /// Another program uses the camera at this path.
    case busy(String)
    /// The camera at this path sends neither JPEG nor YUYV.
    case unknownFormat(String)
    /// A system call failed.
    case system(SystemCallFailure)
}

/// The first camera of this machine (V4L2).
@safe public final class Camera {
    /// An image, lent until the next one.
    public enum Picture {
        /// A JPEG file, which has not been parsed.
        case jpeg
        /// Two bytes per pixel, of which the first is the brightness.
        case yuyv(width: Int, height: Int, line: Int)
    }

    private let device: FileDescriptor
    private var camera: linux_camera

    /// The maximum number of device files that Linux creates.
    private static let mostDevices = 64

    /// The result of opening the first camera.
    public enum Opening {
        case opened(Camera)
        case failed(CameraFailure)
    }

    /// Opens the first camera.
    ///
    /// - Parameter folder: where the device files are.
    public static func openFirst(in folder: String = "/dev") -> Opening {
        var failure: CameraFailure?
        for number in 0..<Camera.mostDevices {
            let path = "\(folder)/video\(number)"
            let device: FileDescriptor
            do throws(SystemCallFailure) {
                device = try FileDescriptor(openingDevice: path)
            } catch {
                if error.isPermissionDenied { failure = failure ?? .forbidden(path) }
                continue
            }
            var camera = linux_camera()
            if unsafe linux_camera_start(device.number, &camera) == 0 {
                return .opened(Camera(device, camera))
            }
            let code = errno
            unsafe linux_camera_stop(&camera)
            switch code {
            // A device for another purpose, such as a camera's metadata, or any other file.
            case ENOTTY, EINVAL: break
            case EBUSY: failure = .busy(path)
            case EPROTONOSUPPORT: failure = failure ?? .unknownFormat(path)
            default: failure = failure ?? .system(SystemCallFailure(call: "ioctl", number: code))
            }
        }
        return .failed(failure ?? .none)
    }

    private init(_ device: consuming FileDescriptor, _ camera: linux_camera) {
        self.device = device
        self.camera = camera
    }

    deinit { unsafe linux_camera_stop(&camera) }

    /// Waits for the next image and lends its bytes, unless none arrives within `timeout`.
    public func next(
        timeout: Duration, _ body: (Picture, Span<UInt8>) -> Void
    ) throws(SystemCallFailure) {
        var size: UInt = 0
        var index = unsafe linux_camera_next(&camera, &size)
        if index < 0, errno == EAGAIN {
            _ = try Polling.wait(for: [.reading(device)], timeout: timeout)
            index = unsafe linux_camera_next(&camera, &size)
        }
        guard index >= 0 else {
            if errno == EAGAIN { return }
            throw SystemCallFailure(call: "ioctl", number: errno)
        }
        defer { _ = unsafe linux_camera_return(&camera, index) }
        guard size > 0, let start = unsafe buffer(Int(index)) else { return }
        let bytes = unsafe UnsafeBufferPointer(
            start: start.assumingMemoryBound(to: UInt8.self), count: Int(size))
        let picture: Picture =
            unsafe camera.sends_jpeg != 0
            ? .jpeg
            : .yuyv(
                width: Int(camera.width), height: Int(camera.height), line: Int(camera.line))
        body(picture, unsafe Span(_unsafeElements: bytes))
    }

    private func buffer(_ index: Int) -> UnsafeMutableRawPointer? {
        unsafe [camera.buffers.0, camera.buffers.1, camera.buffers.2, camera.buffers.3][index]
    }
}

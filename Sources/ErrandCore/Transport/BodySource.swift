/// The bytes of a request's body, read by a transport at its own pace.
///
/// One source serves one attempt.
public protocol BodySource: AnyObject, Sendable {
    /// How many bytes there are in all; `nil` when unknown.
    var length: Int64? { get }

    /// Puts the next bytes into the buffer. Never blocks for bytes that are not there yet.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead

    /// Calls once, from any thread, when reading makes sense again after ``BodyRead/wait``.
    ///
    /// At once when it does so already.
    func whenReadable(_ notify: @escaping @Sendable () -> Void)

    /// Begins again at the first byte, where that is possible.
    func rewind() -> Bool

    /// Nobody will read any more.
    func close()
}

/// What came of reading.
public enum BodyRead: Sendable {
    /// So many bytes, more than 0, are in the buffer.
    case bytes(Int)
    /// There are no more.
    case end
    /// Not yet; ask ``BodySource/whenReadable(_:)``.
    case wait
    /// The body cannot be read on.
    case failed(RequestError)
}

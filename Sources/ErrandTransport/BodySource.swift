public import HTTPTypes

/// The bytes of a request's body, read by a transport at its own pace.
///
/// One source serves one attempt.
public protocol BodySource: AnyObject, Sendable {
    /// The total number of bytes; `nil` if unknown.
    var length: Int64? { get }

    /// Reads the next bytes into the buffer.
    ///
    /// Never blocks: returns ``BodyRead/wait`` if no bytes are available yet.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead

    /// Calls `notify` once, from any thread, when the source can be read again after
    /// ``BodyRead/wait``.
    ///
    /// Calls it at once if the source can be read already.
    func whenReadable(_ notify: @escaping @Sendable () -> Void)

    /// The trailer fields to send after the body; complete once ``read(into:)`` has returned
    /// ``BodyRead/end``, and empty without trailers.
    ///
    /// Default: empty.
    var trailers: HTTPFields { get }

    /// Restarts the source at the first byte.
    ///
    /// - Returns: False if the body cannot be read again.
    func rewind() -> Bool

    /// Releases the source's resources; it is not read after this.
    func close()
}

extension BodySource {
    /// No trailers.
    public var trailers: HTTPFields { [:] }
}

/// The result of a read from a ``BodySource``.
public enum BodyRead: Sendable {
    /// The number of bytes in the buffer; always greater than 0.
    case bytes(Int)
    /// The body is complete.
    case end
    /// No bytes are available yet; wait with ``BodySource/whenReadable(_:)``.
    case wait
    /// The rest of the body cannot be read.
    case failed(RequestError)
}

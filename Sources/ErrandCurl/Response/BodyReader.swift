package import ErrandCore

/// The answer's body on its way in: counted, limited, decoded.
package struct BodyReader {
    private var limit: Int64?
    private var delivered: Int64 = 0
    /// How many bytes came over the wire.
    package private(set) var bytesReceived: Int64 = 0

    package init() {}

    /// Begins anew.
    package mutating func reset(_ options: TransportOptions) {
        limit = options.maximumBodyBytes
        delivered = 0
        bytesReceived = 0
    }

    /// Prepares for a body; an error when it cannot be read, or is announced too large.
    package mutating func begin(_ framing: BodyFraming) -> RequestError? {
        nil
    }

    /// Hands bytes on while the receiver wants more.
    package mutating func deliver(
        _ bytes: UnsafeRawBufferPointer?, by buffer: UnsafeMutableRawBufferPointer,
        to receive: (UnsafeRawBufferPointer) -> Bool
    ) -> RequestError? {
        guard let bytes, !bytes.isEmpty else { return nil }
        bytesReceived += Int64(bytes.count)
        delivered += Int64(bytes.count)
        if let limit, delivered > limit { return Self.tooLarge(limit) }
        _ = receive(bytes)
        return nil
    }

    /// What is wrong when no more bytes come.
    package func faultAtEnd() -> RequestError? { nil }

    /// Drops what is no longer needed.
    package mutating func letGo() {}

    private static func tooLarge(_ limit: Int64) -> RequestError {
        RequestError(
            .bodyTooLarge, stage: .transport,
            "The body is larger than the \(limit) bytes allowed. Raise maximumBodyBytes, or download to a file."
        )
    }
}

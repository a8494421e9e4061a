public import Errand
public import ErrandSystem

/// The result of a ``ResumableUploadRequest``: the upload as the server has it.
public struct UploadedFile: Sendable, Hashable {
    /// The URL of the upload on the server.
    ///
    /// Many servers accept requests to it without credentials: treat it like a secret.
    public var url: HTTPURL
    /// The size of the file in bytes.
    public var bytes: Int64
    /// The offset at which this run began to send; 0 for a new upload.
    public var resumedOffset: Int64
    /// The duration of this run, from its first request to the end.
    public var duration: Duration
    /// The date after which the server may remove the upload (`Upload-Expires`); `nil` if it has
    /// named none.
    public var expires: Date?

    /// Creates a result.
    public init(
        url: HTTPURL, bytes: Int64, resumedOffset: Int64 = 0, duration: Duration = .zero,
        expires: Date? = nil
    ) {
        self.url = url
        self.bytes = bytes
        self.resumedOffset = resumedOffset
        self.duration = duration
        self.expires = expires
    }
}

extension UploadedFile: CustomStringConvertible {
    /// The URL without its query, and the size.
    public var description: String { "\(url.redacted), \(bytes) bytes" }
}

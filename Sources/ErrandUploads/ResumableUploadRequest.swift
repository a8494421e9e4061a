public import Errand
import ErrandCore
public import ErrandSystem

/// Uploads a file by the protocol tus 1.0, and continues it after an interruption.
///
///     final class UploadMovie: ResumableUploadRequest {
///         let movie: URL
///         init(movie: URL) { self.movie = movie }
///         override var url: EndpointURL { "/files/" }
///         override var file: URL { movie }
///     }
///     let uploaded = try await UploadMovie(movie: movie).value()
///
/// ``BaseRequest/url`` creates uploads (extension `creation`). The file is read from disk while it is
/// sent. If the run fails, is cancelled, or the process is killed, the next start continues at the
/// offset that the server names; a ``journal`` remembers the upload until it is complete, or
/// ``discard(on:)`` removes it. Failed pieces are retried by ``BaseRequest/retryPolicy``; each piece
/// that arrives resets its count of attempts. The creation is retried only after a response 429 or
/// 503 with `Retry-After`, because a lost response may have created an upload.
///
/// The run is one request for the agent's interceptors, accessories, batches, chains and graphs. Each HTTP
/// request of it passes the other steps: request processors, limits, retry, redirects, credentials and
/// cookies. Credentials are not sent to an upload at another origin. See <doc:ResumableUploads>.
nonisolated open class ResumableUploadRequest: BaseRequest, TypedRequest {
    /// The use of checksums for pieces.
    public enum Checksum: Sendable, Hashable {
        /// No checksums; the default.
        case none
        /// SHA-256, otherwise SHA-1, if the server lists it; otherwise none.
        case ifSupported
        /// SHA-256, otherwise SHA-1.
        ///
        /// If the server lists neither, the upload fails with ``RequestError/Code/unsupported`` before
        /// anything is uploaded.
        case required
    }

    private let ownURL: EndpointURL?
    private let ownFile: URL?

    /// Creates a request whose class overrides ``BaseRequest/url`` and ``file``.
    public override init() {
        (ownURL, ownFile) = (nil, nil)
        super.init()
    }

    /// Creates a request without a class of its own.
    ///
    /// - Parameters:
    ///   - url: The URL that creates uploads: absolute, or a path below the base URL.
    ///   - file: The file.
    public init(_ url: EndpointURL, file: URL) {
        (ownURL, ownFile) = (url, file)
        super.init()
    }

    /// The URL that creates uploads.
    ///
    /// Default: the one given to the initializer. A URL with another query is the URL of another upload:
    /// send values that change, such as a token, in a header.
    open override var url: EndpointURL { ownURL ?? super.url }

    /// The file to upload: a regular file, which must not change before the end.
    ///
    /// Default: the one given to the initializer. Errors: ``RequestError/Code/invalidBody`` for a file
    /// that is missing or not readable, before anything is sent; ``RequestError/Code/bodyReadFailed`` if
    /// it changes during the run.
    open var file: URL { ownFile ?? Self.noFile }

    /// The metadata of the upload (`Upload-Metadata`), sent when it is created.
    ///
    /// Default: the name of the file as `filename`. Errors: ``RequestError/Code/invalidHeader`` for a key
    /// that is empty, is not ASCII, or contains a space or a comma.
    open var uploadMetadata: [String: String] { ["filename": file.lastPathComponent] }

    /// The largest number of bytes in one request.
    ///
    /// Default `nil`: the rest of the file, or 16 MiB with checksums. Set it for servers that limit
    /// the size of requests. Errors: ``RequestError/Code/invalidConfiguration`` for less than 1.
    open var pieceSize: Int64? { nil }

    /// Whether pieces carry a checksum (extension `checksum`), which needs a second read of the file.
    ///
    /// Default ``Checksum/none``. A piece that the server refuses with status 460 is sent again, at
    /// least once. Errors: ``RequestError/Code/digestMismatch``.
    open var checksum: Checksum { .none }

    /// Whether a new upload is created if the file or its metadata has changed since the last run, or
    /// the server does not have the upload any more.
    ///
    /// Default true; the old upload of a changed file is removed if the server supports that. If false, the
    /// run fails with ``RequestError/Code/resumeFailed``. The server decides whether an upload has
    /// expired: the clock of this device may be wrong.
    open var startsOver: Bool { true }

    /// The bandwidth limit of the request bodies, in bytes per second.
    ///
    /// Default `nil`: no limit. Errors: ``RequestError/Code/invalidConfiguration`` for less than 1.
    open var bytesPerSecond: Int64? { nil }

    /// The file that remembers the upload.
    ///
    /// Default `nil`: a hidden file next to ``file``, different for each ``url``. It contains the URL of
    /// the upload, and no headers, credentials or metadata; only its owner can read it. A journal of
    /// another ``url`` belongs to another upload, as that of a changed file does. Errors:
    /// ``RequestError/Code/fileFailed`` if it cannot be written, or another run uses it.
    open var journal: URL? { nil }

    /// The method of the request that creates the upload.
    public final override var method: HTTPMethod { .post }

    /// Returns the uploaded file.
    public final var decoder: ResponseDecoder<UploadedFile> {
        ResponseDecoder { response in throw RequestError.noUploadedFile(response) }
    }

    /// Removes the unfinished upload from the server (extension `termination`), and its journal.
    ///
    /// A run in progress is cancelled first. Without a journal nothing is sent.
    ///
    /// - Parameter agent: The agent that sends the request. Default `nil`: that of the endpoint.
    /// - Returns: Whether the server has removed the upload or did not have it. False if there was no
    ///   journal, or the server does not support termination; the journal is removed in both cases.
    /// - Throws: ``RequestError``; the upload can be resumed or discarded later.
    @discardableResult
    nonisolated(nonsending) public final func discard(
        on agent: RequestAgent? = nil
    ) async throws(RequestError) -> Bool {
        if let task {
            task.cancel()
            await task.untilEnded()
        }
        let operation = UploadOperation(.discard, uploadPlan)
        var description = makeDescription()
        description.interceptors.removeAll { $0 is UploadOperation }
        description.interceptors.append(operation)
        description.decode = nil
        _ = try await (agent ?? self.agent).start(description).response()
        return operation.isDiscarded
    }

    fileprivate var uploadPlan: UploadPlan {
        let checksum = checksum
        return UploadPlan(
            file: file, metadata: uploadMetadata,
            pieceSize: pieceSize ?? (checksum == .none ? nil : 16 << 20), checksum: checksum,
            startsOver: startsOver, bytesPerSecond: bytesPerSecond, journal: journal)
    }

    /// The first override that an upload cannot honour.
    fileprivate func mistake(in it: RequestDescription) -> RequestError? {
        if let pieceSize, pieceSize < 1 { return Self.tooSmall("pieceSize", pieceSize, it) }
        if let bytesPerSecond, bytesPerSecond < 1 {
            return Self.tooSmall("bytesPerSecond", bytesPerSecond, it)
        }
        let names = it.headers.map(\.name.canonicalName)
        if let name = names.first(where: {
            $0.starts(withBytes: "upload-") || $0.starts(withBytes: "tus-")
        }) {
            return .invalidCombination(
                "\(it.endpoint) is an upload and has the header \(name), which belongs to the protocol. "
                    + "Remove it.")
        }
        let unusable: [(String, Bool)] = [
            ("body", it.body != nil), ("arguments", it.arguments != nil),
            ("customRequest", it.customRequest != nil), ("compression", it.compression != nil),
            ("validator", it.validator != nil), ("cacheSeconds", it.cacheSeconds > 0),
            ("cache.policy", it.cache.policy != nil),
            ("sending.duplicates", it.sending.duplicates != .allow),
            ("acceptance.statuses", it.acceptance.statuses.ranges != [200..<300]),
        ]
        guard let name = unusable.first(where: \.1)?.0 else { return nil }
        return .invalidCombination(
            "\(it.endpoint) is an upload, for which \(name) has no meaning. Remove it.")
    }

    private static func tooSmall(
        _ name: String, _ value: Int64, _ it: RequestDescription
    ) -> RequestError {
        RequestError(
            .invalidConfiguration, stage: .build,
            "\(it.endpoint)'s \(name) is \(value); it must be at least 1, or nil.")
    }

    private static var noFile: URL { URL(fileURLWithPath: "/dev/null/no-file") }
}

extension ResumableUploadRequest: SelfDescribingEndpoint {
    nonisolated package func complete(_ it: inout RequestDescription) {
        let operation = UploadOperation(.upload, uploadPlan)
        if it.mistake == nil { it.mistake = mistake(in: it) }
        it.interceptors.append(operation)
        it.acceptance.contentTypes = ["*/*"]
        it.acceptance.format = .any
        it.argumentPlacement = .query
        // The offset of an upload must not come from the store.
        it.cache.policy = .cacheElseLoad
        it.decode = { (response, _, _) throws(RequestError) in
            guard let output = operation.output else {
                throw RequestError.noUploadedFile(response)
            }
            return output
        }
    }
}

extension RequestError {
    fileprivate static func noUploadedFile(_ response: Response) -> RequestError {
        RequestError(
            .undecodable, stage: .decode,
            "The upload has no result: a processor or errorRecovery replaced its response.",
            response: response)
    }
}

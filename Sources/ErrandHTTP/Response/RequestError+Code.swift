extension RequestError {
    /// The kind of failure; new codes can be added, so a `switch` needs a default case.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private let name: Name

        private init(_ name: Name) { self.name = name }

        /// The name of the code, such as `timedOut`.
        public var description: String { name.rawValue }

        private enum Name: String, Sendable, CaseIterable {
            case invalidURL, noBaseURL, invalidMethod, invalidHeader, invalidArguments, invalidBody
            case invalidValidator, invalidConfiguration, invalidCombination, unsupported
            case adaptationFailed, cacheMiss, storeFailed, duplicate, queueFull, offline,
                circuitOpen
            case timedOut, cannotFindHost, cannotConnect, connectionLost
            case secureConnectionFailed, certificateRejected, pinMismatch, clientCertificateRejected
            case badServerResponse, truncatedBody, bodyTooLarge, badContentEncoding, bodyReadFailed
            case tooManyRedirects, unsafeRedirect, proxyFailed, transportFailed, agentShutDown
            case unacceptableStatus, unacceptableContentType, emptyBody, shapeMismatch
            case undecodable, processingFailed, fileFailed, resumeFailed, digestMismatch, cancelled,
                insufficientSpace
            case batchFailed, chainFailed, graphFailed, authenticationFailed, rejected
            case bodyNotReplayable, webSocketClosed
        }

        /// All codes.
        package static var all: [Code] { Name.allCases.map(Code.init) }

        /// The URL is empty, cannot be parsed, or is neither http nor https.
        public static let invalidURL = Code(.invalidURL)
        /// The endpoint's URL is relative, and neither the endpoint nor the configuration has a base URL.
        public static let noBaseURL = Code(.noBaseURL)
        /// The method is not a token (RFC 9110 §5.6.2).
        public static let invalidMethod = Code(.invalidMethod)
        /// A header's name is not a token, or its value contains CR, LF or NUL.
        public static let invalidHeader = Code(.invalidHeader)
        /// The chosen serializer cannot encode the arguments.
        public static let invalidArguments = Code(.invalidArguments)
        /// The body cannot be sent, for example because its file is missing or the method allows no body.
        public static let invalidBody = Code(.invalidBody)
        /// The validator can never accept a response.
        public static let invalidValidator = Code(.invalidValidator)
        /// The configuration contains an invalid value.
        public static let invalidConfiguration = Code(.invalidConfiguration)
        /// Two overrides of the endpoint exclude each other.
        public static let invalidCombination = Code(.invalidCombination)
        /// The transport does not support a requested option; nothing was sent.
        public static let unsupported = Code(.unsupported)
        /// A filter, or a provider of shared headers or arguments, threw an error.
        public static let adaptationFailed = Code(.adaptationFailed)
        /// The policy allows only the cache, and the cache has no usable response.
        public static let cacheMiss = Code(.cacheMiss)
        /// The response store could not be read or written.
        public static let storeFailed = Code(.storeFailed)
        /// The same request is in progress, and the policy is ``RequestDescription/SendingOptions/Duplicates/reject``.
        public static let duplicate = Code(.duplicate)
        /// The queue of waiting requests is full.
        public static let queueFull = Code(.queueFull)
        /// There is no network connection, and the policy is not to wait for one.
        public static let offline = Code(.offline)
        /// The circuit breaker of the host is open after repeated failures; nothing was sent.
        public static let circuitOpen = Code(.circuitOpen)
        /// A limit of ``Timeouts`` was exceeded; see ``RequestError/timeout``.
        public static let timedOut = Code(.timedOut)
        /// The host name could not be resolved.
        public static let cannotFindHost = Code(.cannotFindHost)
        /// The connection was refused, or the host is unreachable.
        public static let cannotConnect = Code(.cannotConnect)
        /// The connection was closed before the response was complete.
        public static let connectionLost = Code(.connectionLost)
        /// The TLS handshake failed.
        public static let secureConnectionFailed = Code(.secureConnectionFailed)
        /// The server's certificate is untrusted, expired, or for another host.
        public static let certificateRejected = Code(.certificateRejected)
        /// The server's certificates match none of the pins.
        public static let pinMismatch = Code(.pinMismatch)
        /// The client certificate is missing or unusable, or the server refused it.
        public static let clientCertificateRejected = Code(.clientCertificateRejected)
        /// The response is not valid HTTP.
        public static let badServerResponse = Code(.badServerResponse)
        /// The body ended before its declared length.
        public static let truncatedBody = Code(.truncatedBody)
        /// The decoded body exceeds a size limit.
        public static let bodyTooLarge = Code(.bodyTooLarge)
        /// The content coding (gzip, br, …) is corrupt, truncated or unknown.
        public static let badContentEncoding = Code(.badContentEncoding)
        /// The request body could not be read while it was sent.
        public static let bodyReadFailed = Code(.bodyReadFailed)
        /// The request body must be sent again, but it is not replayable.
        public static let bodyNotReplayable = Code(.bodyNotReplayable)
        /// The number of redirects exceeds the policy's limit, or the redirects form a loop.
        public static let tooManyRedirects = Code(.tooManyRedirects)
        /// The WebSocket was closed, or broke off; see ``RequestError/webSocketClose``.
        public static let webSocketClosed = Code(.webSocketClosed)
        /// The redirect leads to a URL that the policy does not allow.
        public static let unsafeRedirect = Code(.unsafeRedirect)
        /// The proxy refused the request or failed.
        public static let proxyFailed = Code(.proxyFailed)
        /// The transport failed for another reason; see ``RequestError/underlying``.
        public static let transportFailed = Code(.transportFailed)
        /// The agent was shut down.
        public static let agentShutDown = Code(.agentShutDown)
        /// The status code is not acceptable.
        public static let unacceptableStatus = Code(.unacceptableStatus)
        /// The content type is not acceptable.
        public static let unacceptableContentType = Code(.unacceptableContentType)
        /// The response has no body, but one is required.
        public static let emptyBody = Code(.emptyBody)
        /// The JSON does not match the validator's shape; see ``RequestError/shapeFault``.
        public static let shapeMismatch = Code(.shapeMismatch)
        /// The body could not be decoded.
        public static let undecodable = Code(.undecodable)
        /// A processor threw an error.
        public static let processingFailed = Code(.processingFailed)
        /// A response rule rejected the response; see ``RequestError/underlying``.
        public static let rejected = Code(.rejected)
        /// A file could not be read, written or moved.
        public static let fileFailed = Code(.fileFailed)
        /// The file system has less free space than a download needs; its body was not received.
        public static let insufficientSpace = Code(.insufficientSpace)
        /// A download could be neither resumed nor restarted.
        public static let resumeFailed = Code(.resumeFailed)
        /// The downloaded file does not have the expected digest.
        public static let digestMismatch = Code(.digestMismatch)
        /// The request was cancelled.
        public static let cancelled = Code(.cancelled)
        /// Credentials are not available, or they were refused and could not be refreshed.
        public static let authenticationFailed = Code(.authenticationFailed)
        /// A batch has no result, although none of its members failed.
        public static let batchFailed = Code(.batchFailed)
        /// A chain was aborted.
        public static let chainFailed = Code(.chainFailed)
        /// A graph is in progress already, a closure of a node threw, or a node was skipped.
        public static let graphFailed = Code(.graphFailed)
    }
}

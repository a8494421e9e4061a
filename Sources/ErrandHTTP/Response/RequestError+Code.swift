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
        ///
        /// See <doc:ErrorCodes#invalidURL>.
        public static let invalidURL = Code(.invalidURL)
        /// The endpoint's URL is relative, and neither the endpoint nor the configuration has a base URL.
        ///
        /// See <doc:ErrorCodes#noBaseURL>.
        public static let noBaseURL = Code(.noBaseURL)
        /// The method is not a token (RFC 9110 §5.6.2).
        ///
        /// See <doc:ErrorCodes#invalidMethod>.
        public static let invalidMethod = Code(.invalidMethod)
        /// A header's name is not a token, or its value contains CR, LF or NUL.
        ///
        /// See <doc:ErrorCodes#invalidHeader>.
        public static let invalidHeader = Code(.invalidHeader)
        /// The chosen serializer cannot encode the arguments.
        ///
        /// See <doc:ErrorCodes#invalidArguments>.
        public static let invalidArguments = Code(.invalidArguments)
        /// The body cannot be sent, for example because its file is missing or the method allows no body.
        ///
        /// See <doc:ErrorCodes#invalidBody>.
        public static let invalidBody = Code(.invalidBody)
        /// The validator can never accept a response.
        ///
        /// See <doc:ErrorCodes#invalidValidator>.
        public static let invalidValidator = Code(.invalidValidator)
        /// The configuration contains an invalid value.
        ///
        /// See <doc:ErrorCodes#invalidConfiguration>.
        public static let invalidConfiguration = Code(.invalidConfiguration)
        /// Two overrides of the endpoint exclude each other.
        ///
        /// See <doc:ErrorCodes#invalidCombination>.
        public static let invalidCombination = Code(.invalidCombination)
        /// The transport does not support a requested option; nothing was sent.
        ///
        /// See <doc:ErrorCodes#unsupported>.
        public static let unsupported = Code(.unsupported)
        /// A filter, or a provider of shared headers or arguments, threw an error.
        ///
        /// See <doc:ErrorCodes#adaptationFailed>.
        public static let adaptationFailed = Code(.adaptationFailed)
        /// The policy allows only the cache, and the cache has no usable response.
        ///
        /// See <doc:ErrorCodes#cacheMiss>.
        public static let cacheMiss = Code(.cacheMiss)
        /// The response store could not be read or written.
        ///
        /// See <doc:ErrorCodes#storeFailed>.
        public static let storeFailed = Code(.storeFailed)
        /// The same request is in progress, and the policy is ``RequestDescription/SendingOptions/Duplicates/reject``.
        ///
        /// See <doc:ErrorCodes#duplicate>.
        public static let duplicate = Code(.duplicate)
        /// The queue of waiting requests is full.
        ///
        /// See <doc:ErrorCodes#queueFull>.
        public static let queueFull = Code(.queueFull)
        /// There is no network connection, and the policy is not to wait for one.
        ///
        /// See <doc:ErrorCodes#offline>.
        public static let offline = Code(.offline)
        /// The circuit breaker of the host is open after repeated failures; nothing was sent.
        ///
        /// See <doc:ErrorCodes#circuitOpen>.
        public static let circuitOpen = Code(.circuitOpen)
        /// A limit of ``Timeouts`` was exceeded; see ``RequestError/timeout``.
        ///
        /// See <doc:ErrorCodes#timedOut>.
        public static let timedOut = Code(.timedOut)
        /// The host name could not be resolved.
        ///
        /// See <doc:ErrorCodes#cannotFindHost>.
        public static let cannotFindHost = Code(.cannotFindHost)
        /// The connection was refused, or the host is unreachable.
        ///
        /// See <doc:ErrorCodes#cannotConnect>.
        public static let cannotConnect = Code(.cannotConnect)
        /// The connection was closed before the response was complete.
        ///
        /// See <doc:ErrorCodes#connectionLost>.
        public static let connectionLost = Code(.connectionLost)
        /// The TLS handshake failed.
        ///
        /// See <doc:ErrorCodes#secureConnectionFailed>.
        public static let secureConnectionFailed = Code(.secureConnectionFailed)
        /// The server's certificate is untrusted, expired, or for another host.
        ///
        /// See <doc:ErrorCodes#certificateRejected>.
        public static let certificateRejected = Code(.certificateRejected)
        /// The server's certificates match none of the pins.
        ///
        /// See <doc:ErrorCodes#pinMismatch>.
        public static let pinMismatch = Code(.pinMismatch)
        /// The client certificate is missing or unusable, or the server refused it.
        ///
        /// See <doc:ErrorCodes#clientCertificateRejected>.
        public static let clientCertificateRejected = Code(.clientCertificateRejected)
        /// The response is not valid HTTP.
        ///
        /// See <doc:ErrorCodes#badServerResponse>.
        public static let badServerResponse = Code(.badServerResponse)
        /// The body ended before its declared length.
        ///
        /// See <doc:ErrorCodes#truncatedBody>.
        public static let truncatedBody = Code(.truncatedBody)
        /// The decoded body exceeds a size limit.
        ///
        /// See <doc:ErrorCodes#bodyTooLarge>.
        public static let bodyTooLarge = Code(.bodyTooLarge)
        /// The content coding (gzip, br, …) is corrupt, truncated or unknown.
        ///
        /// See <doc:ErrorCodes#badContentEncoding>.
        public static let badContentEncoding = Code(.badContentEncoding)
        /// The request body could not be read while it was sent.
        ///
        /// See <doc:ErrorCodes#bodyReadFailed>.
        public static let bodyReadFailed = Code(.bodyReadFailed)
        /// The request body must be sent again, but it is not replayable.
        ///
        /// See <doc:ErrorCodes#bodyNotReplayable>.
        public static let bodyNotReplayable = Code(.bodyNotReplayable)
        /// The number of redirects exceeds the policy's limit, or the redirects form a loop.
        ///
        /// See <doc:ErrorCodes#tooManyRedirects>.
        public static let tooManyRedirects = Code(.tooManyRedirects)
        /// The WebSocket was closed, or broke off; see ``RequestError/webSocketClose``.
        ///
        /// See <doc:ErrorCodes#webSocketClosed>.
        public static let webSocketClosed = Code(.webSocketClosed)
        /// The redirect leads to a URL that the policy does not allow.
        ///
        /// See <doc:ErrorCodes#unsafeRedirect>.
        public static let unsafeRedirect = Code(.unsafeRedirect)
        /// The proxy refused the request or failed.
        ///
        /// See <doc:ErrorCodes#proxyFailed>.
        public static let proxyFailed = Code(.proxyFailed)
        /// The transport failed for another reason; see ``RequestError/underlying``.
        ///
        /// See <doc:ErrorCodes#transportFailed>.
        public static let transportFailed = Code(.transportFailed)
        /// The agent was shut down.
        ///
        /// See <doc:ErrorCodes#agentShutDown>.
        public static let agentShutDown = Code(.agentShutDown)
        /// The status code is not acceptable.
        ///
        /// See <doc:ErrorCodes#unacceptableStatus>.
        public static let unacceptableStatus = Code(.unacceptableStatus)
        /// The content type is not acceptable.
        ///
        /// See <doc:ErrorCodes#unacceptableContentType>.
        public static let unacceptableContentType = Code(.unacceptableContentType)
        /// The response has no body, but one is required.
        ///
        /// See <doc:ErrorCodes#emptyBody>.
        public static let emptyBody = Code(.emptyBody)
        /// The JSON does not match the validator's shape; see ``RequestError/shapeFault``.
        ///
        /// See <doc:ErrorCodes#shapeMismatch>.
        public static let shapeMismatch = Code(.shapeMismatch)
        /// The body could not be decoded.
        ///
        /// See <doc:ErrorCodes#undecodable>.
        public static let undecodable = Code(.undecodable)
        /// A processor threw an error.
        ///
        /// See <doc:ErrorCodes#processingFailed>.
        public static let processingFailed = Code(.processingFailed)
        /// A response rule rejected the response; see ``RequestError/underlying``.
        ///
        /// See <doc:ErrorCodes#rejected>.
        public static let rejected = Code(.rejected)
        /// A file could not be read, written or moved.
        ///
        /// See <doc:ErrorCodes#fileFailed>.
        public static let fileFailed = Code(.fileFailed)
        /// The file system has less free space than a download needs; its body was not received.
        ///
        /// See <doc:ErrorCodes#insufficientSpace>.
        public static let insufficientSpace = Code(.insufficientSpace)
        /// A download could be neither resumed nor restarted.
        ///
        /// See <doc:ErrorCodes#resumeFailed>.
        public static let resumeFailed = Code(.resumeFailed)
        /// The downloaded file does not have the expected digest.
        ///
        /// See <doc:ErrorCodes#digestMismatch>.
        public static let digestMismatch = Code(.digestMismatch)
        /// The request was cancelled.
        ///
        /// See <doc:ErrorCodes#cancelled>.
        public static let cancelled = Code(.cancelled)
        /// Credentials are not available, or they were refused and could not be refreshed.
        ///
        /// See <doc:ErrorCodes#authenticationFailed>.
        public static let authenticationFailed = Code(.authenticationFailed)
        /// A batch is in progress already or contains itself, or a member has no output.
        ///
        /// See <doc:ErrorCodes#batchFailed>.
        public static let batchFailed = Code(.batchFailed)
        /// A chain was aborted.
        ///
        /// See <doc:ErrorCodes#chainFailed>.
        public static let chainFailed = Code(.chainFailed)
        /// A graph is in progress already, a closure of a node threw, or a node was skipped.
        ///
        /// See <doc:ErrorCodes#graphFailed>.
        public static let graphFailed = Code(.graphFailed)
    }
}

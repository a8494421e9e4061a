extension RequestError {
    /// What went wrong; a growing list, so a `switch` over it needs a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private let name: Name

        private init(_ name: Name) { self.name = name }

        /// The name as written in code.
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
            case undecodable, processingFailed, fileFailed, resumeFailed, digestMismatch, cancelled
            case batchFailed, chainFailed, authenticationFailed, rejected, bodyNotReplayable
        }

        /// Every code that there is by now.
        package static var all: [Code] { Name.allCases.map(Code.init) }

        /// The URL is empty, cannot be parsed, or is neither http nor https.
        public static let invalidURL = Code(.invalidURL)
        /// The endpoint's URL is relative and neither it nor the configuration has a base URL.
        public static let noBaseURL = Code(.noBaseURL)
        /// The method is not a token (RFC 9110 §5.6.2).
        public static let invalidMethod = Code(.invalidMethod)
        /// A header's name is not a token, or its value holds CR, LF or NUL.
        public static let invalidHeader = Code(.invalidHeader)
        /// The arguments cannot be encoded by the chosen serializer.
        public static let invalidArguments = Code(.invalidArguments)
        /// The body cannot be sent: a missing file, a body where none is allowed.
        public static let invalidBody = Code(.invalidBody)
        /// The validator can never match.
        public static let invalidValidator = Code(.invalidValidator)
        /// The configuration holds a value that makes no sense.
        public static let invalidConfiguration = Code(.invalidConfiguration)
        /// Two overrides exclude each other (row MET-4).
        public static let invalidCombination = Code(.invalidCombination)
        /// The transport cannot do what was asked; nothing was sent.
        public static let unsupported = Code(.unsupported)
        /// A filter, or a provider of shared headers or arguments, threw.
        public static let adaptationFailed = Code(.adaptationFailed)
        /// Only the cache was asked and it has no usable answer.
        public static let cacheMiss = Code(.cacheMiss)
        /// The response store cannot be read or written.
        public static let storeFailed = Code(.storeFailed)
        /// The same request is under way and its policy is to reject.
        public static let duplicate = Code(.duplicate)
        /// Too many requests wait already.
        public static let queueFull = Code(.queueFull)
        /// There is no network, and the policy is not to wait for one.
        public static let offline = Code(.offline)
        /// The host failed too often of late; nothing was sent.
        public static let circuitOpen = Code(.circuitOpen)
        /// A limit of ``Timeouts`` ran out; see ``RequestError/timeout``.
        public static let timedOut = Code(.timedOut)
        /// The host's name has no address.
        public static let cannotFindHost = Code(.cannotFindHost)
        /// Nobody listens there, or the way is closed.
        public static let cannotConnect = Code(.cannotConnect)
        /// The connection broke before the answer was complete.
        public static let connectionLost = Code(.connectionLost)
        /// The TLS handshake failed.
        public static let secureConnectionFailed = Code(.secureConnectionFailed)
        /// The server's certificate is not trusted, expired or for another host.
        public static let certificateRejected = Code(.certificateRejected)
        /// None of the pinned keys or certificates was seen.
        public static let pinMismatch = Code(.pinMismatch)
        /// The client certificate is missing, unusable or refused.
        public static let clientCertificateRejected = Code(.clientCertificateRejected)
        /// The server's answer is not HTTP.
        public static let badServerResponse = Code(.badServerResponse)
        /// The body ended before its announced length.
        public static let truncatedBody = Code(.truncatedBody)
        /// The body, decoded, is larger than allowed.
        public static let bodyTooLarge = Code(.bodyTooLarge)
        /// The content encoding (gzip, br, …) is corrupt, cut off or unknown.
        public static let badContentEncoding = Code(.badContentEncoding)
        /// The request's body could not be read while sending.
        public static let bodyReadFailed = Code(.bodyReadFailed)
        /// The request's body would have to be sent a second time, and can be made only once.
        public static let bodyNotReplayable = Code(.bodyNotReplayable)
        /// More redirects than the policy allows, or a loop.
        public static let tooManyRedirects = Code(.tooManyRedirects)
        /// A redirect to where requests must not be sent.
        public static let unsafeRedirect = Code(.unsafeRedirect)
        /// The proxy refused or failed.
        public static let proxyFailed = Code(.proxyFailed)
        /// The transport failed in another way; see ``RequestError/underlying``.
        public static let transportFailed = Code(.transportFailed)
        /// The agent was shut down.
        public static let agentShutDown = Code(.agentShutDown)
        /// The status is not among the acceptable ones.
        public static let unacceptableStatus = Code(.unacceptableStatus)
        /// The content type is not among the acceptable ones.
        public static let unacceptableContentType = Code(.unacceptableContentType)
        /// The answer has no body where one is required.
        public static let emptyBody = Code(.emptyBody)
        /// The JSON departs from the validator's shape; see ``RequestError/shapeFault``.
        public static let shapeMismatch = Code(.shapeMismatch)
        /// The body cannot be decoded.
        public static let undecodable = Code(.undecodable)
        /// A processor rejected the answer.
        public static let processingFailed = Code(.processingFailed)
        /// The business validator rejected the answer; see ``RequestError/underlying``.
        public static let rejected = Code(.rejected)
        /// A file cannot be read, written or moved.
        public static let fileFailed = Code(.fileFailed)
        /// A download cannot be resumed nor restarted.
        public static let resumeFailed = Code(.resumeFailed)
        /// The finished file does not have the expected digest.
        public static let digestMismatch = Code(.digestMismatch)
        /// The caller cancelled.
        public static let cancelled = Code(.cancelled)
        /// Credentials cannot be had, or were refused and cannot be renewed.
        public static let authenticationFailed = Code(.authenticationFailed)
        /// A batch has no result, though none of its members failed.
        public static let batchFailed = Code(.batchFailed)
        /// A chain was aborted.
        public static let chainFailed = Code(.chainFailed)
    }
}

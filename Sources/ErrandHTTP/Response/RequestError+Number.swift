extension RequestError {
    /// The domain of the numbers, also that of ``nsError``.
    public static var errorDomain: String { "Errand.RequestError" }

    /// The number of ``code``; it never changes.
    public var errorCode: Int { code.number }
}

extension RequestError.Code {
    /// The number of the code; the hundreds group codes by stage, for example 4xx for the transport.
    package var number: Int { Self.numbers[self] ?? 0 }

    private static let numbers: [RequestError.Code: Int] = [
        .invalidURL: 101, .noBaseURL: 102, .invalidMethod: 103, .invalidHeader: 104,
        .invalidArguments: 105, .invalidBody: 106, .invalidValidator: 107,
        .invalidConfiguration: 108, .invalidCombination: 109, .unsupported: 110,
        .adaptationFailed: 111,
        .cacheMiss: 201, .storeFailed: 202,
        .duplicate: 301, .queueFull: 302, .offline: 303, .circuitOpen: 304, .agentShutDown: 305,
        .timedOut: 401, .cannotFindHost: 402, .cannotConnect: 403, .connectionLost: 404,
        .secureConnectionFailed: 405, .certificateRejected: 406, .pinMismatch: 407,
        .clientCertificateRejected: 408, .badServerResponse: 409, .truncatedBody: 410,
        .bodyTooLarge: 411, .badContentEncoding: 412, .bodyReadFailed: 413,
        .tooManyRedirects: 414, .unsafeRedirect: 415, .proxyFailed: 416, .transportFailed: 417,
        .bodyNotReplayable: 418, .webSocketClosed: 419,
        .unacceptableStatus: 501, .unacceptableContentType: 502, .emptyBody: 503,
        .shapeMismatch: 504, .rejected: 505,
        .undecodable: 601, .processingFailed: 602,
        .fileFailed: 701, .resumeFailed: 702, .digestMismatch: 703, .insufficientSpace: 704,
        .cancelled: 801,
        .authenticationFailed: 901, .batchFailed: 902, .chainFailed: 903,
        .graphFailed: 904,
    ]
}

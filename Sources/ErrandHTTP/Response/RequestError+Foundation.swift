public import Foundation

extension RequestError: CustomNSError {
    /// The error domain as an `NSError`.
    public static var errorDomain: String { "Errand.RequestError" }

    /// The number of ``code`` in an `NSError`; it never changes.
    public var errorCode: Int { code.number }

    /// The messages and the underlying error, if any; no bytes of the response.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: errorDescription ?? description,
            NSLocalizedFailureReasonErrorKey: message,
        ]
        if let underlying { info[NSUnderlyingErrorKey] = underlying }
        return info
    }

    /// The error as an `NSError`, with its domain, number and messages.
    public var nsError: NSError {
        NSError(domain: Self.errorDomain, code: errorCode, userInfo: errorUserInfo)
    }

    /// The corresponding `URLError`, for code that handles those.
    ///
    /// Its code is determined by ``code``, so that it is the same for every transport: the one that `URLSession` and
    /// AFNetworking use, such as `.badServerResponse` for a status. Only ``Code/transportFailed`` has the code of the
    /// underlying `URLError`, if there is one. `nil` if `URLError` has no such code, for example for a shape mismatch.
    /// The error that `URLSession` reported is ``underlying``, also in the user info.
    public var urlError: URLError? {
        let reported = underlying as? URLError
        if code == .transportFailed, let reported { return reported }
        guard let code = code.urlErrorCode else { return reported }
        var info: [String: Any] = [NSLocalizedDescriptionKey: errorDescription ?? description]
        if let underlying { info[NSUnderlyingErrorKey] = underlying }
        info[NSURLErrorFailingURLErrorKey] = reported?.userInfo[NSURLErrorFailingURLErrorKey]
        return URLError(code, userInfo: info)
    }
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

    fileprivate var urlErrorCode: URLError.Code? { Self.urlErrorCodes[self] }

    private static let urlErrorCodes: [RequestError.Code: URLError.Code] = [
        .invalidURL: .badURL, .noBaseURL: .badURL, .unsupported: .unsupportedURL,
        .offline: .notConnectedToInternet, .cacheMiss: .resourceUnavailable,
        .timedOut: .timedOut, .cannotFindHost: .cannotFindHost,
        .cannotConnect: .cannotConnectToHost, .connectionLost: .networkConnectionLost,
        .secureConnectionFailed: .secureConnectionFailed,
        .certificateRejected: .serverCertificateUntrusted,
        .pinMismatch: .serverCertificateUntrusted,
        .clientCertificateRejected: .clientCertificateRejected,
        .badServerResponse: .badServerResponse, .truncatedBody: .networkConnectionLost,
        .bodyTooLarge: .dataLengthExceedsMaximum,
        .badContentEncoding: .cannotDecodeContentData,
        .bodyReadFailed: .requestBodyStreamExhausted,
        .bodyNotReplayable: .requestBodyStreamExhausted,
        .proxyFailed: .cannotConnectToHost, .webSocketClosed: .networkConnectionLost,
        .tooManyRedirects: .httpTooManyRedirects,
        .unsafeRedirect: .redirectToNonExistentLocation, .transportFailed: .unknown,
        .unacceptableStatus: .badServerResponse,
        .unacceptableContentType: .cannotDecodeContentData, .emptyBody: .zeroByteResource,
        .undecodable: .cannotParseResponse, .fileFailed: .cannotWriteToFile,
        .cancelled: .cancelled, .authenticationFailed: .userAuthenticationRequired,
    ]
}

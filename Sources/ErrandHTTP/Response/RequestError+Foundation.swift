#if Foundation || URLSession || canImport(Darwin)
    import ErrandSystem
    // Foundation: NSError, URLError and CustomNSError
    public import Foundation

    extension RequestError: CustomNSError {
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
#else
    extension RequestError {
        /// The error as an `NSError`; needs the package trait Foundation.
        @available(
            *, unavailable,
            message:
                "Enable the package trait Foundation in Package.swift: .package(url: \"…/errand.git\", …, traits: [\"Foundation\"])"
        )
        public var nsError: any Error { self }

        /// The corresponding `URLError`; needs the package trait Foundation.
        @available(
            *, unavailable,
            message:
                "Enable the package trait Foundation in Package.swift: .package(url: \"…/errand.git\", …, traits: [\"Foundation\"])"
        )
        public var urlError: (any Error)? { nil }
    }
#endif

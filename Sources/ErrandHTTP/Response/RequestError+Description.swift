public import ErrandSystem

extension RequestError: CustomStringConvertible, LocalizedError {
    /// The request, the message, the number of attempts, and code and stage in parentheses; without secrets.
    ///
    ///     GetIssue GET https://api.example.com/issues/25: status 404 (expected 200..<300). (unacceptableStatus, validate)
    public var description: String {
        let subject = [endpoint, method?.rawValue, url?.string].compactMap(\.self).joined(
            separator: " ")
        var text = subject.isEmpty ? message : "\(subject): \(message)"
        if attempts > 1 { text += " After \(attempts) attempts." }
        return "\(text) (\(code), \(stage.rawValue))"
    }

    /// The message for users, ``userMessage``; if there is none, ``description``.
    public var errorDescription: String? { userMessage ?? description }

    /// The message for developers, the same as ``message``.
    public var failureReason: String? { message }
}

extension RequestError {
    /// The largest number of ``previousErrors``.
    public static let maximumPreviousErrors = 10

    /// Names the request that failed, unless the error names one already.
    package mutating func name(endpoint: String, method: HTTPMethod, url: HTTPURL?) {
        guard self.endpoint == nil else { return }
        self.endpoint = endpoint
        self.method = method
        self.url = url == HTTPURL() ? nil : url?.withoutSecrets
    }

    /// Takes the name of the request from another error of the same request.
    package mutating func takeName(of other: RequestError) {
        (endpoint, method, url) = (other.endpoint, other.method, other.url)
    }

    /// The previous errors of the attempt after the one that failed with this error.
    package var previousErrorsOfNextAttempt: [RequestError] {
        var own = self
        own.previousErrors = []
        return (previousErrors + [own]).suffix(Self.maximumPreviousErrors)
    }
}

import ErrandSystem
import HTTPTypes

/// The form for records and events, without secrets.
///
/// It contains the code, the stage, the message, the method, the URL without query, the status of the response, the
/// number of attempts, the earlier errors and the timings. Headers and bodies, the decoded error body and
/// ``RequestError/precedingResponses`` are left out, and of an underlying error that is no `RequestError`, because they
/// may contain secrets. A code or a stage that this version does not know is read as
/// ``RequestError/Code/transportFailed`` or ``RequestError/Stage/transport``.
extension RequestError: Codable {
    /// Reads an error; its ``response`` has the status alone.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let code = try values.decode(String.self, forKey: .code)
        let stage = try values.decode(String.self, forKey: .stage)
        self.init(
            Code.all.first { $0.description == code } ?? .transportFailed,
            stage: Stage(rawValue: stage) ?? .transport,
            try values.decode(String.self, forKey: .message))
        attempts = try values.decodeIfPresent(Int.self, forKey: .attempts) ?? 0
        endpoint = try values.decodeIfPresent(String.self, forKey: .endpoint)
        let method = try values.decodeIfPresent(String.self, forKey: .method)
        self.method = method.map { HTTPMethod(rawValue: $0) }
        url = try values.decodeIfPresent(String.self, forKey: .url).flatMap {
            try? HTTPURL(parsing: $0)
        }
        let timeout = try values.decodeIfPresent(String.self, forKey: .timeout)
        self.timeout = timeout.flatMap { TimeoutKind(rawValue: $0) }
        let cacheMiss = try values.decodeIfPresent(String.self, forKey: .cacheMiss)
        self.cacheMiss = cacheMiss.flatMap { CacheMissReason(rawValue: $0) }
        userMessage = try values.decodeIfPresent(String.self, forKey: .userMessage)
        bytesReceived = try values.decodeIfPresent(Int64.self, forKey: .bytesReceived)
        webSocketClose = try values.decodeIfPresent(WebSocketClose.self, forKey: .webSocketClose)
        isUnprocessed = try values.decodeIfPresent(Bool.self, forKey: .isUnprocessed) ?? false
        timings = try values.decodeIfPresent(AttemptTimings.self, forKey: .timings)
        previousErrors =
            try values.decodeIfPresent([RequestError].self, forKey: .previousErrors) ?? []
        underlying = try values.decodeIfPresent(RequestError.self, forKey: .underlying)
        if let status = try values.decodeIfPresent(Int.self, forKey: .status) {
            response = Response(
                status: HTTPResponse.Status(code: min(max(status, 0), 999)),
                url: url ?? HTTPURL(scheme: "http", host: "", port: 0),
                attempts: attempts)
        }
    }

    /// Writes the error.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(code.description, forKey: .code)
        try values.encode(stage.rawValue, forKey: .stage)
        try values.encode(message, forKey: .message)
        try values.encode(attempts, forKey: .attempts)
        try values.encodeIfPresent(endpoint, forKey: .endpoint)
        try values.encodeIfPresent(method?.rawValue, forKey: .method)
        try values.encodeIfPresent(url?.string, forKey: .url)
        try values.encodeIfPresent(response?.statusCode, forKey: .status)
        try values.encodeIfPresent(timeout?.rawValue, forKey: .timeout)
        try values.encodeIfPresent(cacheMiss?.rawValue, forKey: .cacheMiss)
        try values.encodeIfPresent(userMessage, forKey: .userMessage)
        try values.encodeIfPresent(bytesReceived, forKey: .bytesReceived)
        try values.encodeIfPresent(webSocketClose, forKey: .webSocketClose)
        if isUnprocessed { try values.encode(true, forKey: .isUnprocessed) }
        try values.encodeIfPresent(timings, forKey: .timings)
        if !previousErrors.isEmpty { try values.encode(previousErrors, forKey: .previousErrors) }
        try values.encodeIfPresent(underlying as? RequestError, forKey: .underlying)
    }

    private enum CodingKeys: String, CodingKey {
        case code, stage, message, attempts, endpoint, method, url, status, timeout, cacheMiss
        case userMessage, bytesReceived, isUnprocessed, timings, previousErrors, underlying
        case webSocketClose
    }
}

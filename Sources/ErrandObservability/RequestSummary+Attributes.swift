import ErrandCore

extension RequestSummary {
    /// The level of the line about the whole request.
    var level: String {
        switch result {
        case .response: "info"
        case .failure: "warning"
        case .cancellation, nil: "debug"
        }
    }

    /// The attributes of the line about the whole request, with the names of OpenTelemetry.
    func attributes(of event: RequestEvent, _ urls: SanitizedURL) -> [String: String] {
        var attributes = [
            HTTPAttribute.endpoint: event.endpoint, HTTPAttribute.task: "\(event.taskID)",
            HTTPAttribute.tag: "\(event.tag)",
        ]
        attributes[HTTPAttribute.method] = method?.rawValue
        attributes[HTTPAttribute.url] = url.map { urls.text($0) }
        attributes[HTTPAttribute.address] = url?.host
        attributes[HTTPAttribute.port] = url?.observedPort.map { "\($0)" }
        if resends > 0 { attributes[HTTPAttribute.resendCount] = "\(resends)" }
        switch result {
        case .response(let status, let bytes, let source):
            attributes[HTTPAttribute.status] = "\(status)"
            attributes[HTTPAttribute.responseBodySize] = bytes.map { "\($0)" }
            attributes[HTTPAttribute.source] = source.rawValue
        case .failure(_, let type, let status):
            attributes[HTTPAttribute.errorType] = type
            attributes[HTTPAttribute.status] = status.map { "\($0)" }
        case .cancellation: attributes[HTTPAttribute.errorType] = "cancelled"
        case nil: break
        }
        return attributes
    }
}

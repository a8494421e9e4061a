import Errand

/// What all endpoints of the service have in common.
///
/// An endpoint is a subclass, with `DecodableOutput` if it has an output. Its name is a verb and a noun.
class TemplateRequest: BaseRequest {
    /// The agent of the service: its address, credentials, cache and connections.
    static let service = RequestAgent(
        configuration: Configuration(baseURL: "https://api.example.com/v1"))

    override var agent: RequestAgent { Self.service }
    override var timeouts: Timeouts? { Timeouts(connect: .seconds(5), idle: .seconds(20)) }
    override var retryPolicy: RetryPolicy? { .attempts(3) }

    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.json.keys = .snakeCase
        request.json.dates = .iso8601
    }
}

extension RequestError {
    /// What the service says about a failure, in `{"message": "…"}`.
    var serviceMessage: String? { response?.json["message"].string }
}

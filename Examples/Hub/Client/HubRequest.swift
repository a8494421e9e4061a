import Errand

/// The base class of all endpoints of the service.
class HubRequest: BaseRequest {
    override var agent: RequestAgent { Hub.agent }
    override var baseURL: EndpointURL? { Hub.baseURL }
    override var headers: HTTPFields { [.accept: "application/vnd.hub.v3+json"] }
    override var errorDecoder: ErrorDecoder? { .json(HubError.self) }
}

/// The body of the service's error responses.
struct HubError: Decodable, Sendable {
    var message: String
    var requestId: String
    /// A message for each invalid field.
    var fields: [String: String]?
}

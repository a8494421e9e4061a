import Errand

/// The code-hosting service: its address, the session of the user, and the agent that performs
/// its requests.
enum Hub {
    // A real service would use https. The server of this example has no certificate.
    static let baseURL: EndpointURL = "http://api.hub.example/v3"
    static let hosts: HostPattern = "api.hub.example"

    static let session = Session()
    static let agent = RequestAgent(configuration: configuration(for: session))

    /// The settings of the service for one user.
    static func configuration(for session: Session) -> Configuration {
        var configuration = Configuration()
        // JSON has snake_case keys and dates in ISO 8601, in both directions.
        configuration.json.keys = .snakeCase
        configuration.json.dates = .iso8601
        // The server's headers decide what is cached (RFC 9111).
        configuration.cachePolicy = .http
        configuration.authenticators = [
            hosts: .bearer {
                await session.accessToken
            } refresh: {
                try await session.refresh()
            } cacheIdentity: {
                await session.user
            }
        ]
        // The texts for users: that of the server, if it refused the request.
        configuration.userMessage = { error in
            let general = "Something went wrong. Please try again."
            return switch error.code {
            case .unacceptableStatus: error.body(as: HubError.self)?.message ?? general
            case .authenticationFailed: "Please sign in."
            case .invalidBody: "Please check your entries."
            case .truncatedBody: "The connection was interrupted. Please try again."
            case .digestMismatch: "The file is damaged. Please try again later."
            default: general
            }
        }
        return configuration
    }
}

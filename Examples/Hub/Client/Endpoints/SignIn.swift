import Errand

/// Exchanges a password or a refresh token for tokens.
///
/// It gets the credentials that other requests need, so it must not wait for them itself.
final class SignIn: HubRequest, DecodableOutput {
    typealias Output = Tokens

    private struct Credentials: Encodable, Sendable {
        var user: String?
        var password: String?
        var refreshToken: String?
    }

    private let credentials: Credentials

    init(user: String, password: String) {
        credentials = Credentials(user: user, password: password)
    }

    init(refreshToken: String) {
        credentials = Credentials(refreshToken: refreshToken)
    }

    override var url: EndpointURL { "sessions" }
    override var method: HTTPMethod { .post }
    override var body: HTTPBody? { .json(credentials) }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.uses.remove(.authenticators)
    }
}

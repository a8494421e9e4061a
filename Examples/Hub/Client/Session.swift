import Errand

/// The tokens of one user.
actor Session {
    /// There are no tokens, or no refresh token, so the user must sign in.
    struct SignInRequired: Error {}

    private(set) var user: String?
    private var tokens: Tokens?

    var accessToken: String? { tokens?.accessToken }

    func signIn(_ user: String, password: String) async throws(RequestError) {
        tokens = try await SignIn(user: user, password: password).value()
        self.user = user
    }

    /// Exchanges the refresh token for new tokens.
    ///
    /// The authenticator calls it once for all requests that are refused at the same time.
    func refresh() async throws {
        guard let tokens else { throw SignInRequired() }
        self.tokens = try await SignIn(refreshToken: tokens.refreshToken).value()
    }
}

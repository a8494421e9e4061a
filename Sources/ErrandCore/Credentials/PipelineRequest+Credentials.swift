import ErrandTransport
import HTTPTypes

extension PipelineRequest {
    /// The request with a record of the credentials that later steps add.
    ///
    /// - Parameter isDigestNeeded: Whether the digest is a part of a key: the authenticator is then
    ///   asked before it adds its credentials.
    func recordingCredentials(isDigestNeeded: Bool) async throws(RequestError) -> PipelineRequest {
        var identity = AddedCredentials.Identity.unknown
        if isDigestNeeded { identity = .known(try await AuthenticateStep.identity(of: self)) }
        return changed {
            $0.credentials = AddedCredentials(
                to: request.url, cookies: CookieStep.cookies(for: request.url, context),
                authenticator: identity, others: otherCredentials)
        }
    }

    /// A key with the credentials of the request, unless the request has a cache identity.
    func separatingUsers(_ key: CacheKey) -> CacheKey {
        cacheIdentity == nil ? key.adding(credentials?.digest) : key
    }

    /// Whether the response may belong to another user than the cache key.
    var hasChangedUser: Bool { cacheIdentity == nil && credentials?.haveChanged == true }

    /// The client certificate, and the credentials that processors added after the key was made.
    ///
    /// Of these, signatures differ each time, so only the schemes Basic and Bearer count, and
    /// cookies.
    var otherCredentials: String {
        var text = request.options.security?.clientName ?? ""
        guard let serialized else { return text }
        for name in [HTTPField.Name.authorization, .cookie] {
            for value in request.headers[values: name]
            where !serialized.headers[values: name].contains(value) {
                let scheme = value.prefix { $0 != " " }.lowercased()
                guard name == .cookie || scheme == "basic" || scheme == "bearer" else { continue }
                text += "\n" + value
            }
        }
        return text
    }
}

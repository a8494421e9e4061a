import ErrandHTTP
import ErrandJSON
import ErrandTransport
import HTTPTypes

extension PipelineRequest {
    /// The request with a record of the credentials that it has, and of those that later steps add.
    ///
    /// - Parameter isDigestNeeded: Whether the digest is a part of a key: the authenticator is then
    ///   asked before it adds its credentials.
    func recordingCredentials(isDigestNeeded: Bool) async throws(RequestError) -> PipelineRequest {
        var identity = AddedCredentials.Identity.unknown
        if isDigestNeeded { identity = .known(try await AuthenticateStep.identity(of: self)) }
        return changed {
            $0.cache.credentials = AddedCredentials(
                to: request.url, cookies: CookieStep.cookies(for: request.url, task),
                authenticator: identity, own: ownCredentials)
        }
    }

    /// Whether the response may belong to another user than the cache key.
    var hasChangedUser: Bool { cacheIdentity == nil && cache.credentials?.haveChanged == true }

    /// The secret header fields, the client certificate, and the secret arguments that processors have added to the
    /// query and the body after the cache key was made.
    var ownCredentials: AddedCredentials.Own {
        let names = configuration.secretNames
        var own = AddedCredentials.Own()
        for field in request.headers {
            own.add(field: field, names)
        }
        if let client = request.options.security?.clientName { own.text += "\n!" + client }
        guard let serialized = adaptation.serialized else { return own }
        if request.url.query != serialized.url.query {
            let known = Set(SecretArguments.pairs(serialized.url.query ?? "").map(\.text))
            for pair in SecretArguments.pairs(request.url.query ?? "")
            where !known.contains(pair.text) { own.add(argument: pair.name, pair.text, names) }
        }
        if !request.body.isSame(as: serialized.body) {
            let known = Set(SecretArguments(of: serialized, names).found.map(\.text))
            for pair in SecretArguments(of: request, names).found where !known.contains(pair.text) {
                own.add(argument: pair.name, pair.text, names)
            }
        }
        return own
    }
}

/// The arguments with secret names in the body of a request: of a form, or of JSON.
private struct SecretArguments {
    /// A name, and a text that contains the name and the value.
    typealias Pair = (name: String, text: String)

    private(set) var found: [Pair] = []
    private let names: SecretNames

    init(of request: TransportRequest, _ names: SecretNames) {
        self.names = names
        guard case .data(let data)? = request.body?.storage else { return }
        if let json = try? JSON(parsing: data) {
            add(json)
        } else {
            found = Self.pairs(String(decoding: data, as: UTF8.self))
        }
    }

    private mutating func add(_ json: JSON) {
        for (name, value) in json.object ?? [] {
            if names.isSecret(argument: name) {
                found.append((name, "\(name):\(value)"))
            } else {
                add(value)
            }
        }
        for element in json.array ?? [] { add(element) }
    }

    /// The arguments of a query or a form.
    static func pairs(_ text: String) -> [Pair] {
        text.utf8.split(separator: UInt8(ascii: "&")).map { pair in
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            return (
                String(decoding: PercentEncoding.decode(Array(name)), as: UTF8.self),
                String(decoding: pair, as: UTF8.self)
            )
        }
    }
}

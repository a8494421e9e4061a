/// One challenge of `WWW-Authenticate` (RFC 9110 §11.6.1).
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The scheme as the server wrote it, such as `Digest`; compare without regard to case.
    public var scheme: String
    /// The one value of schemes such as `Negotiate`, where there is one.
    public var token: String?
    /// Names in lower case and values without quotes, in the server's order.
    public var parameters: [Parameter]

    /// A name and its value.
    public struct Parameter: Sendable, Hashable {
        /// The name, in lower case.
        public var name: String
        /// The value, without quotes and escapes.
        public var value: String

        /// Makes a parameter.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Makes a challenge.
    public init(scheme: String, token: String? = nil, parameters: [Parameter] = []) {
        self.scheme = scheme
        self.token = token
        self.parameters = parameters
    }

    /// The first value with a name, which is given in lower case.
    public subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// Whether the challenge is of a scheme, whatever its case.
    public func isOf(_ scheme: String) -> Bool { self.scheme.lowercased() == scheme.lowercased() }

    /// All challenges of a header's fields, in order: several in one field, and several fields.
    ///
    /// Forgiving: what is no challenge is skipped up to the next comma.
    public static func parse(_ fields: [String]) -> [AuthenticationChallenge] {
        fields.flatMap { field in
            var parser = ChallengeParser(field)
            return parser.parse()
        }
    }

    /// The parameters of a field without a scheme, such as `Authentication-Info` (RFC 7615).
    static func parameters(of field: String) -> [Parameter] {
        // With a scheme in front it is a challenge.
        var parser = ChallengeParser("Info \(field)")
        return parser.parse().first?.parameters ?? []
    }
}

/// One challenge of a `WWW-Authenticate` or `Proxy-Authenticate` field (RFC 9110 §11.6.1).
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The scheme as the server wrote it, such as `Digest`; schemes compare case-insensitively.
    public var scheme: String
    /// The `token68` value of schemes such as `Negotiate`; `nil` when the challenge has parameters or nothing.
    public var token: String?
    /// The parameters in the server's order: names in lower case, values without quotes.
    public var parameters: [Parameter]

    /// One parameter of a challenge.
    public struct Parameter: Sendable, Hashable {
        /// The name, in lower case.
        public var name: String
        /// The value, without quotes and escapes.
        public var value: String

        /// Creates a parameter.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Creates a challenge.
    public init(scheme: String, token: String? = nil, parameters: [Parameter] = []) {
        self.scheme = scheme
        self.token = token
        self.parameters = parameters
    }

    /// The value of the first parameter with this name; the name must be in lower case.
    public subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// Whether the challenge has this scheme, compared case-insensitively.
    public func isOf(_ scheme: String) -> Bool {
        self.scheme.lowercasedASCII() == scheme.lowercasedASCII()
    }

    /// Parses all challenges of a header, in order, from one or several fields.
    ///
    /// The parser is lenient: it skips malformed text up to the next comma.
    public static func parse(_ fields: [String]) -> [AuthenticationChallenge] {
        fields.flatMap { field in
            var parser = ChallengeParser(field)
            return parser.parse()
        }
    }

    /// Parses the parameters of a field without a scheme, such as `Authentication-Info` (RFC 7615).
    package static func parameters(of field: String) -> [Parameter] {
        // With a scheme in front, the parameters parse as a challenge.
        var parser = ChallengeParser("Info \(field)")
        return parser.parse().first?.parameters ?? []
    }
}

extension AuthenticationChallenge: CustomStringConvertible, CustomReflectable {
    /// The scheme and the names of the parameters; a token and the values may be secret.
    public var description: String {
        let names = parameters.map(\.name).joined(separator: ", ")
        return names.isEmpty ? scheme : "\(scheme) (\(names))"
    }

    /// No children, because the values may be secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension AuthenticationChallenge.Parameter: CustomStringConvertible, CustomReflectable {
    /// The name; the value may be secret.
    public var description: String { name }
    /// No children, because the value may be secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

import Foundation

/// Changes the URL of requests.
public protocol URLFilter: Sendable {
    /// Returns the URL to use instead of this one.
    ///
    /// A thrown ``RequestError`` fails the request unchanged, any other error with
    /// ``RequestError/Code/adaptationFailed``.
    func filter(_ url: String, of request: RequestDescription) async throws -> String
}

/// A URL filter that calls a closure.
public struct ClosureURLFilter: URLFilter {
    private let body: @Sendable (String, RequestDescription) async throws -> String

    /// Creates a filter of the URL as text.
    public init(_ body: @escaping @Sendable (String, RequestDescription) async throws -> String) {
        self.body = body
    }

    /// Creates a filter of the components of the URL, which is relative if the endpoint's is.
    ///
    ///     ClosureURLFilter(components: { url, _ in url.path = "/v2" + url.path })
    public init(
        components change: @escaping @Sendable (inout URI, RequestDescription) async throws -> Void
    ) {
        body = { url, request in
            var components = try URI(parsingEndpoint: url)
            try await change(&components, request)
            return components.string
        }
    }

    /// Calls the closure.
    public func filter(_ url: String, of request: RequestDescription) async throws -> String {
        try await body(url, request)
    }
}

/// Adds arguments to the query of every request, regardless of its method.
///
/// `Configuration.sharedArguments` go where the endpoint's arguments go, such as the body of a
/// POST; these always go into the query:
///
///     configuration.urlFilters = [QueryFilter(["version": "5.1", "platform": "linux"])]
///
/// A name that is already in the URL's query is not added.
public struct QueryFilter: URLFilter {
    private let arguments: Arguments
    private let encoding: ArgumentEncoding

    /// Creates a filter with the arguments and their encoding.
    public init(_ arguments: Arguments, encoding: ArgumentEncoding = ArgumentEncoding()) {
        self.arguments = arguments
        self.encoding = encoding
    }

    /// Adds the arguments after the query and before the fragment.
    ///
    /// - Throws: ``RequestError/Code/invalidArguments``, ``RequestError/Code/invalidURL``.
    public func filter(_ url: String, of request: RequestDescription) throws(RequestError) -> String
    {
        var uri = try URI(parsingEndpoint: url)
        let present = Set(
            (uri.query ?? "").pieces(at: "&").map { pair in pair.prefix(upToByte: "=") })
        let bytes = try FormWriter.bytes(of: arguments, encoding: encoding)
        let added = String(decoding: bytes, as: UTF8.self).pieces(at: "&")
            .filter { pair in !present.contains(pair.prefix(upToByte: "=")) }
        uri.appendQuery(added.joined(separator: "&"))
        return uri.string
    }
}

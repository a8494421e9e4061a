import Foundation

/// Adds arguments to the query of every request, whatever its method (row URL-9).
///
/// `Configuration.sharedArguments` go where the endpoint's own arguments go, into the body of a POST; these do not:
///
///     configuration.urlFilters = [QueryFilter(["version": "5.1", "platform": "linux"])]
///
/// A name that the URL's query has already is left alone.
public struct QueryFilter: URLFilter {
    private let arguments: Arguments
    private let encoding: ArgumentEncoding

    /// Makes a filter; the arguments are written as the encoding says, by default as in every query.
    public init(_ arguments: Arguments, encoding: ArgumentEncoding = ArgumentEncoding()) {
        self.arguments = arguments
        self.encoding = encoding
    }

    /// Adds the arguments behind the query and before the fragment.
    ///
    /// - Throws: ``RequestError/Code/invalidArguments``, ``RequestError/Code/invalidURL``.
    public func filter(_ url: String, of request: RequestDescription) throws(RequestError) -> String
    {
        var uri = try URI(parsing: url)
        let present = Set(
            (uri.query ?? "").split(separator: "&").map { pair in pair.prefix { $0 != "=" } })
        let bytes = try FormWriter.bytes(of: arguments, encoding: encoding)
        let added = String(decoding: bytes, as: UTF8.self).split(separator: "&")
            .filter { pair in !present.contains(pair.prefix { $0 != "=" }) }
        uri.appendQuery(added.joined(separator: "&"))
        return uri.string
    }
}

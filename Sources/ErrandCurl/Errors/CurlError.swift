/// What libcurl said, beneath a `RequestError`: found in its `underlying`.
public struct CurlError: Error, Sendable, Hashable, CustomStringConvertible {
    /// libcurl's number, such as 7 for `CURLE_COULDNT_CONNECT`.
    public let code: Int
    /// libcurl's own words for the number.
    public let text: String

    package init(code: Int, text: String) {
        self.code = code
        self.text = text
    }

    /// Number and words.
    public var description: String { "libcurl \(code): \(text)" }
}

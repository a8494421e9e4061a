/// An error reported by libcurl, available as the `underlying` error of a `RequestError`.
public struct CurlError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The libcurl error code, such as 7 for `CURLE_COULDNT_CONNECT`.
    public let code: Int
    /// libcurl's description of the code.
    public let text: String

    package init(code: Int, text: String) {
        self.code = code
        self.text = text
    }

    /// The code and its description.
    public var description: String { "libcurl \(code): \(text)" }
}

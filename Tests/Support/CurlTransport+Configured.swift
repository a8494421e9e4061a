package import ErrandCurl

extension CurlTransport {
    /// A transport with a changed configuration.
    package convenience init(_ change: (inout CurlConfiguration) -> Void) {
        var configuration = CurlConfiguration()
        change(&configuration)
        self.init(configuration: configuration)
    }
}

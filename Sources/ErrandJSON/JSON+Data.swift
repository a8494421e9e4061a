public import ErrandSystem

extension JSON {
    /// Parses a document from `Data`.
    ///
    /// - Throws: `JSONError` with the line, column and byte offset of the first error.
    public init(parsing data: Data, options: Options = Options()) throws(JSONError) {
        let result = data.withUnsafeBytes { JSON.attempt($0, options) }
        self = try result.get()
    }

    /// Serializes the value as JSON text in UTF-8; an absent value is written as `null`.
    public func data(pretty: Bool = false, sortedKeys: Bool = false) -> Data {
        Data(serialized(pretty: pretty, sortedKeys: sortedKeys))
    }
}

import ErrandSystem

extension BaseRequest: CustomDebugStringConvertible {
    /// The endpoint's name, the method, the URL without query, the names of the arguments, and the tag: no secrets.
    ///
    /// Reads overrides, as ``makeDescription()`` does. It is not `description`, because subclasses may declare that name
    /// themselves.
    nonisolated public var debugDescription: String {
        let url = url
        // The text of a refused URL may have credentials, which are encoded as a value is.
        let text = url.fault == nil ? url.text : "(refused URL)"
        let address = text.prefix(upToByte: "?").prefix(upToByte: "#")
        // User and password before the host are not shown.
        let start = address.firstRange(ofBytes: "//")?.upperBound
        let end = start.flatMap { start in
            address[start...].prefix(upToByte: "/").lastIndex(ofByte: "@")
        }
        var shown = String(address)
        if let start, let end { shown = address[..<start] + "…" + address[end...] }
        var result = "\(EndpointType.of(type(of: self)).name) \(method.rawValue) \(shown)"
        let names = arguments?.names ?? []
        if !names.isEmpty { result += " (\(names.joined(separator: ", ")))" }
        if tag != 0 { result += " #\(tag)" }
        return result
    }
}

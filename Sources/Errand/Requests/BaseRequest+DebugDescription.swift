import Foundation

extension BaseRequest: CustomDebugStringConvertible {
    /// The endpoint's name, its method and its address without query, the names of its arguments and its tag: nothing
    /// that is secret.
    ///
    /// Reads overrides, as ``describe()`` does. Not `description`: that name is the endpoints' own.
    nonisolated public var debugDescription: String {
        let address = url.prefix { $0 != "?" && $0 != "#" }
        // User and password in front of a host.
        let start = address.range(of: "//")?.upperBound
        let end = start.flatMap { start in
            address[start...].prefix { $0 != "/" }.lastIndex(of: "@")
        }
        var shown = String(address)
        if let start, let end { shown = address[..<start] + "…" + address[end...] }
        var text = "\(EndpointName.of(type(of: self))) \(method.rawValue) \(shown)"
        let names = arguments?.names ?? []
        if !names.isEmpty { text += " (\(names.joined(separator: ", ")))" }
        if tag != 0 { text += " #\(tag)" }
        return text
    }
}

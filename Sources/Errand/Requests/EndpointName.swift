import Synchronization

/// The names of endpoint types, each created once: creating one costs as much as building a small request.
nonisolated enum EndpointName {
    private static let names = Mutex<[ObjectIdentifier: String]>([:])

    static func of(_ type: BaseRequest.Type) -> String {
        names.withLock { names in
            if let name = names[ObjectIdentifier(type)] { return name }
            // The same text as `String(describing:)`, without its lookup of conformances, which a metatype never has: the
            // first such lookup in a process costs more than its first request.
            let name = _typeName(type, qualified: false)
            names[ObjectIdentifier(type)] = name
            return name
        }
    }
}

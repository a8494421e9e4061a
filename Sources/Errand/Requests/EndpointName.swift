import Synchronization

/// The names of endpoint types, each made once: making one costs as much as building a small request.
nonisolated enum EndpointName {
    private static let names = Mutex<[ObjectIdentifier: String]>([:])

    static func of(_ type: BaseRequest.Type) -> String {
        names.withLock { names in
            if let name = names[ObjectIdentifier(type)] { return name }
            // What `String(describing:)` comes to, after looking for conformances that a metatype never has: the first
            // such look in a process costs more than its first request.
            let name = _typeName(type, qualified: false)
            names[ObjectIdentifier(type)] = name
            return name
        }
    }
}

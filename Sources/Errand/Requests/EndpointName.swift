import Synchronization

/// The names of endpoint types, each made once: making one costs as much as building a small request.
nonisolated enum EndpointName {
    private static let names = Mutex<[ObjectIdentifier: String]>([:])

    static func of(_ type: BaseRequest.Type) -> String {
        names.withLock { names in
            if let name = names[ObjectIdentifier(type)] { return name }
            let name = String(describing: type)
            names[ObjectIdentifier(type)] = name
            return name
        }
    }
}

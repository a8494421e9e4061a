import Errand

nonisolated struct ConstantKey: Authenticator {
    func apply(to request: inout TransportRequest) async throws {}
}

// error: non-class type 'ConstantKey' cannot conform to class protocol 'Authenticator'

import Errand

struct Cargo: Decodable {
    var weight: Int
}

nonisolated final class GetCargo: BaseRequest, DecodableOutput {
    typealias Output = Cargo
    override var url: EndpointURL { "cargo" }
}

// error in main actor: main actor-isolated conformance of 'Cargo' to 'Decodable' cannot satisfy conformance requirement for a 'Sendable' type parameter 'Self.Output' [#IsolatedConformances]
// error in main actor: type 'GetCargo' does not conform to protocol 'DecodableOutput'

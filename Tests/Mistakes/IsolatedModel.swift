import Errand

struct Cargo: Decodable {
    var weight: Int
}

nonisolated final class GetCargo: BaseRequest, DecodableOutput {
    typealias Output = Cargo
    override var url: EndpointURL { "cargo" }
}

// error in main actor: x

import Errand

/// A user, by number.
final class GetUser: HubRequest, DecodableOutput {
    typealias Output = User

    let id: Int
    init(id: Int) { self.id = id }

    override var url: EndpointURL { "users/\(id)" }
}

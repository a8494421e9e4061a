import Errand

/// A passenger.
struct User: Decodable {
    var id: Int
    var nick: String
    var level: Int
    var gate: String
    /// The process that created this response; a different process means that it comes from the cache.
    var servedBy: Int32
}

/// User info, fresh for three minutes.
final class GetUser: JSONRequest<User> {
    let id: Int
    init(id: Int) { self.id = id }

    override var url: EndpointURL { "iphone/users" }
    override var arguments: Arguments? { ["id": id] }
    override var cacheSeconds: Int { 180 }
    // The process ends soon after the response, so the entry must be on disk by then.
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.cache.writesAsynchronously = false
    }
}

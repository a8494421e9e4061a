import Errand

/// A passenger as the airline knows them.
struct User: Decodable {
    var id: Int
    var nick: String
    var level: Int
    var gate: String
    /// The process that made up this answer: an answer of an earlier run comes from the store.
    var answeredBy: Int32
}

/// User info, fresh for three minutes.
final class GetUser: JSONRequest<User> {
    let id: Int
    init(id: Int) { self.id = id }

    override var url: String { "iphone/users" }
    override var arguments: Arguments? { ["id": id] }
    override var cacheSeconds: Int { 180 }
    // The example ends right after the answer: the entry must be on disk by then.
    override var writesCacheAsynchronously: Bool { false }
}

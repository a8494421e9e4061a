import Errand

/// A new passenger.
///
/// The arguments go out as a form; the answer must have the validator's shape.
final class Register: BaseRequest {
    let username: String
    let password: String

    init(username: String, password: String) {
        self.username = username
        self.password = password
    }

    override var url: String { "iphone/register" }
    override var method: HTTPMethod { .post }
    override var arguments: Arguments? { ["username": username, "password": password] }
    override var validator: JSONShape? { ["userId": .int, "nick": .string, "level": .number] }

    /// Results live on the request.
    var userId: Int? { response?.json["userId"].int }
}

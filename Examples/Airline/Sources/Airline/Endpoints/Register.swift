import Errand

/// Registers a passenger.
///
/// The arguments are sent as a form; the response must match the validator.
final class Register: BaseRequest {
    let username: String
    let password: String

    init(username: String, password: String) {
        self.username = username
        self.password = password
    }

    override var url: EndpointURL { "iphone/register" }
    override var method: HTTPMethod { .post }
    override var arguments: Arguments? { ["username": username, "password": password] }
    override var validator: JSONShape? { ["userId": .int, "nick": .string, "level": .number] }

    /// The passenger's number, read from the response.
    var userId: Int? { response?.json["userId"].int }
}

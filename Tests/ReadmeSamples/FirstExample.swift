import Errand

final class Register: BaseRequest {  // an endpoint is a class
    let name: String
    let password: String

    init(name: String, password: String) {
        self.name = name
        self.password = password
    }

    override var url: String { "/iphone/register" }  // below the base URL, or absolute
    override var method: HTTPMethod { .post }
    override var arguments: Arguments? { ["username": name, "password": password] }
    override var validator: JSONShape? { ["userId": .int, "nick": .string] }

    var userId: Int? { response?.json["userId"].int }  // results live on the request
}

final class GetUser: JSONRequest<User> {  // a typed one: its output is a User
    let id: Int
    init(id: Int) { self.id = id }

    override var url: String { "/iphone/users" }
    override var arguments: Arguments? { ["id": id] }
    override var cacheSeconds: Int { 180 }
}

struct User: Codable { var nick, title: String }

func signUp(at base: String = "https://api.example.com") async throws -> User {
    RequestAgent.shared.configuration.baseURL = base
    let register = Register(name: "amelia", password: "earhart")
    try await register.send()
    return try await GetUser(id: register.userId ?? 0).value()
}

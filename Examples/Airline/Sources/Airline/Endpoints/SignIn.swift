import Errand

/// A passenger with a password: JSON out, a token back.
///
/// A wrong password is the airline's own error, in an answer with status 200.
final class SignIn: Request<String> {
    let username: String
    let password: String

    init(username: String, password: String) {
        self.username = username
        self.password = password
    }

    override var url: String { "iphone/sign-in" }
    override var method: HTTPMethod { .post }
    override var arguments: Arguments? { ["username": username, "password": password] }
    override var requestSerializer: RequestSerializer { .json }
    override var processors: [any ResponseProcessor] { [Complaint.Check()] }
    override var decoder: ResponseDecoder<String> {
        ResponseDecoder { $0.json["token"].string ?? "" }
    }
}

/// What the airline says when it cannot help.
struct Complaint: Error {
    var text: String

    /// Finds a complaint in an answer; runs off the main actor, for cached answers too.
    struct Check: ResponseProcessor {
        func process(_ response: Response, attempt: Int) async throws -> Response {
            if let text = response.json["complaint"].string { throw Complaint(text: text) }
            return response
        }
    }
}

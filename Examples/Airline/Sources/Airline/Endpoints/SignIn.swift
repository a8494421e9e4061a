import Errand

/// Signs a passenger in: sends JSON and returns a token.
///
/// The server reports a wrong password in a response with status 200.
final class SignIn: BaseRequest, TypedRequest {
    let username: String
    let password: String

    init(username: String, password: String) {
        self.username = username
        self.password = password
    }

    override var url: EndpointURL { "iphone/sign-in" }
    override var method: HTTPMethod { .post }
    override var arguments: Arguments? { ["username": username, "password": password] }
    override var requestSerializer: RequestSerializer { .json }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        // Runs off the main actor, and for cached responses too.
        request.responseProcessors.append { response in
            if let text = response.json["complaint"].string { throw Complaint(text: text) }
        }
    }
    var decoder: ResponseDecoder<String> {
        ResponseDecoder { $0.json["token"].string ?? "" }
    }
}

/// An error that the server reports in the response body.
struct Complaint: Error {
    var text: String
}

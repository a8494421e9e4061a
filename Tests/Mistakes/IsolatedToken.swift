import Errand

@MainActor enum Session {
    static var token = ""
}

nonisolated final class GetAccount: BaseRequest {
    override var url: EndpointURL { "account" }
    override var headers: HTTPFields { [.custom("X-Token"): Session.token] }
}

// error: main actor-isolated static property 'token' can not be referenced from a nonisolated context

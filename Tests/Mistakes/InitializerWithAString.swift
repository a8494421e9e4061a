import Errand

final class InitializerWithAString: BaseRequest {
    let text: String
    init(_ text: String) { self.text = text }
    override var url: EndpointURL { EndpointURL(text) }
}

// error: 'init(_:)' is unavailable: Write a literal with values, "users/\(id)", or EndpointURL(raw: text) for text that is ready.

import Errand

final class StringURL: BaseRequest {
    let id = 7
    override var url: String { "users/\(id)" }
}

// error: property 'url' with type 'String' cannot override a property with type 'EndpointURL'

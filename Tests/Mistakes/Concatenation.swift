import Errand

final class Concatenation: BaseRequest {
    let name = "a"
    override var url: EndpointURL { "users/" + name }
}

// error: cannot convert return expression of type 'String' to return type 'EndpointURL'

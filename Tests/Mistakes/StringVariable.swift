import Errand

final class StringVariable: BaseRequest {
    let id = 7
    override var url: EndpointURL {
        let path = "users/\(id)"
        return path
    }
}

// error: cannot convert return expression of type 'String' to return type 'EndpointURL'

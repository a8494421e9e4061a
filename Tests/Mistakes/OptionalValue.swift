import Errand

final class OptionalValue: BaseRequest {
    let id: Int? = 7
    override var url: EndpointURL { "users/\(id)" }
}

// error: 'appendInterpolation' is unavailable: A URL has no text for nil. Unwrap the value, or leave out its part of the URL.

import Errand

/// The endpoint of W1 and W2: a small GET with a JSON response.
final class Small: BaseRequest {
    let target: EndpointURL
    init(_ target: EndpointURL) { self.target = target }
    override var url: EndpointURL { target }
}

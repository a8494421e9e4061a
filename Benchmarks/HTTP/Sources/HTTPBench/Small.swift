import Errand

/// The endpoint of W1 and W2: a small GET with a JSON response.
final class Small: BaseRequest {
    let target: String
    init(_ target: String) { self.target = target }
    override var url: String { target }
}

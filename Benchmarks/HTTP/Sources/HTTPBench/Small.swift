import Errand

/// The endpoint: a small GET whose answer is JSON.
final class Small: BaseRequest {
    let target: String
    init(_ target: String) { self.target = target }
    override var url: String { target }
}

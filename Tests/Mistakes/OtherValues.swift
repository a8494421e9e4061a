import Errand
import Foundation

final class OtherValues: BaseRequest {
    struct Key { var text = "a" }
    let ids = [1, 2]
    let key = Key()
    override var url: EndpointURL { "users/\(ids)" }
    override var baseURL: EndpointURL? { "https://example.com/\(key)" }
    override var cdnURL: EndpointURL? { "\(URL(fileURLWithPath: "/"))" }
}

// error: 'appendInterpolation' is unavailable: A URL takes text, numbers, Booleans, UUIDs and raw values. Convert other values to text; for a ready URL use \(raw: url.absoluteString).

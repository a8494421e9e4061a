import Errand
import Foundation

final class OtherValues: BaseRequest {
    struct Key { var text = "a" }
    let ids = [1, 2]
    let key = Key()
    override var url: EndpointURL { "users/\(ids)" }
    override var baseURL: EndpointURL? { "https://example.com/\(key)" }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.cdnURL = "\(URL(fileURLWithPath: "/"))"
    }
}

// error: 'appendInterpolation' is unavailable: A URL takes text, numbers, Booleans, UUIDs and raw values. Convert other values to text; for a ready URL use \(raw: url.absoluteString).

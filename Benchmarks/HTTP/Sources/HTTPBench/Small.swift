import Errand
import Foundation

/// The endpoint of W1, W2 and W6: a small GET with a JSON response.
final class Small: BaseRequest {
    let target: EndpointURL
    init(_ target: EndpointURL) { self.target = target }
    override var url: EndpointURL { target }
}

/// The endpoint of W6u: the upload of a file.
final class Upload: BaseRequest {
    let target: EndpointURL
    let file: URL
    init(_ target: EndpointURL, _ file: URL) { (self.target, self.file) = (target, file) }
    override var url: EndpointURL { target }
    override var method: HTTPMethod { .put }
    override var body: HTTPBody? { .file(file) }
}

extension Job {
    /// The endpoint of a workload with small responses.
    var endpoint: BaseRequest { upload.map { Upload(url, $0) } ?? Small(url) }
}

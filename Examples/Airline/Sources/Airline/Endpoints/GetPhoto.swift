import Errand
import Foundation

/// Downloads a photo from the CDN to a file.
final class GetPhoto: BaseRequest, FileOutput {
    let file: URL
    init(to file: URL) { self.file = file }

    override var url: EndpointURL { "photos/sunset.ppm" }
    override var usesCDN: Bool { true }
    var download: DownloadPlan { .to(file) }
}

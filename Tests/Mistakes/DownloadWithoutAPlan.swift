import Errand

final class DownloadWithoutAPlan: BaseRequest, FileOutput {
    override var url: EndpointURL { "archive.tar" }
}

// error: type 'DownloadWithoutAPlan' does not conform to protocol 'FileOutput'

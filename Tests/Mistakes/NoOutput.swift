import Errand

final class NoOutput: BaseRequest, DecodableOutput {
    override var url: EndpointURL { "users" }
}

// error: type 'NoOutput' does not conform to protocol 'TypedRequest'

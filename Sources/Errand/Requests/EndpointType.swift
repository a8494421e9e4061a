import ErrandSystem
import Synchronization

/// How an endpoint came by its decoder.
nonisolated enum DecoderOrigin: Sendable {
    /// It is the endpoint's own, or that of its output.
    case custom
    /// It reads JSON.
    case json
    /// The endpoint is a download.
    case file
}

/// A kind of endpoint of another module that changes its description itself, and sets its decoder there.
nonisolated package protocol SelfDescribingEndpoint: TypedRequest {
    /// Changes the description after all overrides were read.
    func complete(_ description: inout RequestDescription)
}

/// What a class of endpoints adds to a description, found once for each class: creating the name, and looking up a
/// conformance, cost as much as building a small request.
nonisolated struct EndpointType: Sendable {
    /// Adds to a description what the conformances of the class require.
    typealias Describe = @Sendable (BaseRequest, inout RequestDescription) -> Void

    /// The class.
    let id: ObjectIdentifier
    /// The name of the class, without module and enclosing types.
    let name: String
    /// Adds the output and the file, before ``BaseRequest/configure(_:)``; `nil` for an endpoint without them.
    let describe: Describe?
    /// The last change, after ``BaseRequest/configure(_:)``; `nil` for most classes.
    let complete: Describe?

    /// By the address of the class.
    private static let known = Mutex(IntegerTable<EndpointType>())

    /// The entry of the dynamic class of a request.
    static func of(_ type: BaseRequest.Type) -> EndpointType {
        known.withLock { known in
            let id = ObjectIdentifier(type)
            let address = Int(bitPattern: id)
            if let entry = known[address] { return entry }
            // The same text as `String(describing:)`, without its lookup of conformances, which a metatype never has.
            let name = _typeName(type, qualified: false)
            let own = (type as? any SelfDescribingEndpoint.Type).map { selfDescribed($0) }
            let entry = EndpointType(
                id: id, name: name, describe: own == nil ? describer(of: type) : nil, complete: own)
            known[address] = entry
            return entry
        }
    }

    private static func describer(of type: BaseRequest.Type) -> Describe? {
        guard let typed = type as? any TypedRequest.Type else { return nil }
        if let file = type as? any FileOutput.Type { return download(file) }
        return output(typed)
    }

    // The dynamic class of the request is the key of the entry, so that no cast can fail.

    private static func output<Endpoint: TypedRequest>(_ type: Endpoint.Type) -> Describe {
        { request, it in
            let decoder = unsafeDowncast(request, to: Endpoint.self).decoder
            it.hasJSONOutput = decoder.origin == .json
            it.decode = { (response, json, path) throws(RequestError) in
                try decoder.decode(response, with: json, at: path)
            }
        }
    }

    private static func selfDescribed<Endpoint: SelfDescribingEndpoint>(
        _ type: Endpoint.Type
    ) -> Describe {
        { request, it in unsafeDowncast(request, to: Endpoint.self).complete(&it) }
    }

    private static func download<Endpoint: FileOutput>(_ type: Endpoint.Type) -> Describe {
        { request, it in
            let endpoint = unsafeDowncast(request, to: Endpoint.self)
            if [.custom, .json].contains(endpoint.decoder.origin) {
                it.mistake = .replacedFile(of: it.endpoint)
            }
            let decoder = ResponseDecoder<DownloadedFile>.file
            it.decode = { (response, json, path) throws(RequestError) in
                try decoder.decode(response, with: json, at: path)
            }
            it.download = endpoint.download
        }
    }

    /// Whether the class is `type` or one of its subclasses.
    static func isClass(_ id: ObjectIdentifier?, _ type: BaseRequest.Type) -> Bool {
        guard let id else { return false }
        let wanted = ObjectIdentifier(type)
        // An endpoint's class is the only source of this identifier.
        var current: AnyClass? = unsafeBitCast(id, to: AnyClass.self)
        while let found = current {
            if ObjectIdentifier(found) == wanted { return true }
            current = _getSuperclass(found)
        }
        return false
    }
}

extension RequestError {
    nonisolated fileprivate static func replacedFile(of endpoint: String) -> RequestError {
        RequestError(
            .invalidCombination, stage: .build,
            "\(endpoint) is a download with a decoder of its own. Its output is the file: remove the decoder, and read "
                + "the file after the end; or replace FileOutput by DecodableOutput.")
    }
}

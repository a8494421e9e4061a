public import ErrandCore

/// An endpoint with a typed output, of any base class.
///
///     final class Nick: HubRequest, TypedRequest {
///         override var url: EndpointURL { "/nick" }
///         var decoder: ResponseDecoder<String> { ResponseDecoder { $0.json["nick"].string ?? "" } }
///     }
///     let nick = try await Nick().value()
///
/// ``DecodableOutput`` is the short form for JSON of a `Decodable` type, ``FileOutput`` the one for downloads.
/// In a base class whose subclasses replace the decoder, declare
/// ``decoder`` in that base class: a subclass can override only what its superclass declares.
nonisolated public protocol TypedRequest<Output>: BaseRequest, TypedUnit {
    // Declared again, so that the compiler infers it from `decoder`.
    /// The type of the output.
    override associatedtype Output
    /// Makes the output from a validated response, off the main actor.
    ///
    /// `.string`, `.json(User.self)`, `.propertyList(…)`, `.xml { … }`, `.firstOf([…])`, or a closure.
    var decoder: ResponseDecoder<Output> { get }
}

/// An endpoint whose response is JSON of a `Decodable` type.
///
///     final class GetUser: HubRequest, DecodableOutput {
///         typealias Output = User
///         override var url: EndpointURL { "/users/7" }
///     }
///
/// ``RequestDescription/json`` applies: its strategies, and the keys that lead to the output. A response without a body is
/// decoded as `nil` for an optional output; other outputs fail with ``RequestError/Code/undecodable``, and ``VoidOutput``
/// needs none.
/// ``JSONRequest`` is the short form for endpoints without a base class of their own.
nonisolated public protocol DecodableOutput: TypedRequest where Output: Decodable {}

extension DecodableOutput {
    /// Decodes the JSON, with ``RequestDescription/json``.
    ///
    /// Validation has parsed the JSON already; it is not parsed again.
    nonisolated public var decoder: ResponseDecoder<Output> { .json() }
}

extension TypedRequest {
    /// The output of the last run; `nil` before it, and after a failure.
    nonisolated public var output: Output? {
        // Two steps: the cast of an absent value to an optional output would succeed.
        guard let storedOutput else { return nil }
        return storedOutput.value as? Output
    }

    /// The output or the error of the last run; `nil` before it.
    nonisolated public var outputResult: Result<Output, RequestError>? {
        if let error { return .failure(error) }
        if let output { return .success(output) }
        guard let response else { return nil }
        return .failure(.missingOutput(Output.self, response))
    }
}

extension RequestError {
    nonisolated static func missingOutput(
        _ type: Any.Type, _ response: Response? = nil
    ) -> RequestError {
        RequestError(
            .undecodable, stage: .decode, "The run has no output of type \(type).",
            response: response)
    }
}

extension TaskOutcome {
    /// The typed output of a run.
    nonisolated func output<Output: Sendable>(
        as type: Output.Type
    ) -> Result<Output, RequestError> {
        switch result {
        case .failure(let error): return .failure(error)
        case .success(let response):
            if let output, let typed = output.value as? Output { return .success(typed) }
            return .failure(.missingOutput(Output.self, response))
        }
    }
}

import ErrandJSON
import ErrandSystem
package import ErrandTransport
import HTTPTypes

/// Passes only responses that satisfy the endpoint's rules.
package final class ValidateStep: DirectStep {
    package func before(_ pipelineRequest: inout PipelineRequest) -> Passing { .unchanged }

    package func after(
        _ result: inout Result<Response, RequestError>, _ sent: PipelineRequest
    ) -> Bool {
        guard case .success(let response) = result else { return true }
        do throws(RequestError) {
            try Self.validate(response, sent)
        } catch {
            result = .failure(error)
        }
        return true
    }

    /// Whether a 304 is a response to the request (RFC 9110 §15.4.5) that its caller knows how to use.
    ///
    /// A download is not: there would be no file.
    private static func hasOwnCondition(_ pipelineRequest: PipelineRequest) -> Bool {
        let request = pipelineRequest.request
        guard request.method == .get || request.method == .head,
            !pipelineRequest.task.description.isDownload
        else { return false }
        return request.headers.contains(.ifNoneMatch) || request.headers.contains(.ifModifiedSince)
    }

    private static func validate(
        _ response: Response, _ sent: PipelineRequest
    ) throws(RequestError) {
        let task = sent.task
        // The cache validates the stored response that a 304 confirms.
        if response.statusCode == 304 {
            if sent.cache.isRevalidation { return }
            // The response to the caller's own condition has no content that could be checked.
            if hasOwnCondition(sent) { return task.emit(.validated(nil)) }
        }
        do throws(RequestError) {
            try ResponseValidation.check(response, description: task.description)
        } catch {
            task.emit(.validated(error))
            throw error
        }
        task.emit(.validated(nil))
    }
}

extension PipelineRequest {
    /// The response with the decoder of the endpoint or the configuration, if that has strategies.
    func decodable(_ response: Response) -> Response {
        guard let decoder = task.description.jsonDecoder else { return response }
        var response = response
        response.use(decoder)
        return response
    }
}

/// Validates responses from the network and from the store; a pure function.
///
/// The checks run in this order, and the first failure counts: status, content type, body, shape,
/// business rules. The status comes first: a proxy's HTML error page is a 502, not a wrong content
/// type.
package enum ResponseValidation {
    /// Validates a response; its errors are validation failures and have the response.
    package static func check(
        _ response: Response, description: RequestDescription
    ) throws(RequestError) {
        do throws(RequestError) {
            try runChecks(response, description: description)
        } catch {
            var failure = error
            failure.isValidationFailure = true
            if failure.response == nil { failure.response = response }
            throw failure
        }
    }

    private static func runChecks(
        _ response: Response, description: RequestDescription
    ) throws(RequestError) {
        var response = response
        // For errors and response rules, which may decode the body.
        if let decoder = description.jsonDecoder { response.use(decoder) }
        let status = response.statusCode
        let isAccepted =
            description.upgrade == nil ? description.acceptsStatus(status) : response.isStreamed
        guard isAccepted else {
            let expected: StatusCodes =
                description.upgrade == nil ? description.acceptance.statuses : [101]
            let rule = expected.expectation
            let hint =
                status == 401 && description.uses.contains(.authenticators)
                ? " Set authorization, or configuration.authenticators for the host \(response.url.host ?? "")."
                : ""
            let advice = "print error.response?.string to read it."
            let body =
                if response.isCut {
                    "The error's response has the first \(response.data.count) bytes of the body; \(advice)"
                } else if response.hasEmptyBody {
                    "The response has no body."
                } else {
                    "The error's response has the body; \(advice)"
                }
            throw RequestError(
                .unacceptableStatus, stage: .validate,
                "status \(status) (\(rule)). \(body)\(hint)",
                response: response)
        }
        if description.isDownload || description.isStreamed {
            try checkContentType(response, description: description)
        } else {
            let isEmpty = response.hasEmptyBody
            if !isEmpty { try checkContentType(response, description: description) }
            try checkBody(
                response, as: description.requiredFormat, isEmpty: isEmpty)
            try checkShape(response, description: description, isEmpty: isEmpty)
        }
        guard description.hasRareMembers else { return }
        for rule in description.acceptance.rules { try rule.check(response) }
    }

    /// The maximum number of collected bytes of a response that is refused by its head; the rest is not received.
    static let refusedBodyLimit: Int64 = 1 << 20

    /// Whether status and content type of a response head are accepted, before the body is received.
    static func accepts(_ head: ResponseHead, _ description: RequestDescription) -> Bool {
        description.acceptsStatus(head.status.code)
            && acceptsContentType(of: head, description: description)
    }

    /// Whether the content type of a response head is accepted, before the body is received.
    package static func acceptsContentType(
        of head: ResponseHead, description: RequestDescription
    ) -> Bool {
        let response = Response(status: head.status, headers: head.headers, url: HTTPURL())
        return (try? checkContentType(response, description: description)) != nil
    }

    private static func checkContentType(
        _ response: Response, description: RequestDescription
    ) throws(RequestError) {
        let accepted: ContentTypePatterns
        if description.hasRareMembers, description.upgrade == nil,
            let types = description.acceptance.contentTypes
        {
            accepted = ContentTypePatterns(types)
        } else {
            // Downloads and streams accept any content type unless the endpoint sets one.
            guard !description.isDownload, !description.isStreamed else { return }
            guard let patterns = ContentTypePatterns.automatic(for: description.requiredFormat)
            else { return }
            accepted = patterns
        }
        // Not the subscript, which joins repeated fields: the first of several content types
        // counts.
        let type = response.headers.first { $0.name == .contentType }?.value ?? ""
        // A missing content type is accepted, as in AFNetworking.
        guard !type.isEmpty, !accepted.match(type) else { return }
        throw RequestError(
            .unacceptableContentType, stage: .validate,
            "The response's content type is \(type.prefix(80)). If that is correct, add it "
                + "to acceptance.contentTypes; [\"*/*\"] accepts every type.",
            response: response)
    }

    private static func checkBody(
        _ response: Response, as format: RequestDescription.Acceptance.Format, isEmpty: Bool
    ) throws(RequestError) {
        switch format {
        case .automatic, .any, .text, .xml: break
        case .json:
            if !isEmpty { try checkJSON(response) }
        case .propertyList:
            if !isEmpty { try checkPropertyList(response) }
        case .custom(let check):
            do { try check(response) } catch let error as RequestError { throw error } catch {
                throw undecodable(
                    response, "The closure of acceptance.format rejected the body.", error)
            }
        case .firstOf(let formats):
            var first: RequestError?
            for format in formats {
                do throws(RequestError) {
                    return try checkBody(response, as: format, isEmpty: isEmpty)
                } catch {
                    first = first ?? error
                }
            }
            if let first { throw first }
        }
    }

    private static func checkJSON(_ response: Response) throws(RequestError) {
        do { _ = try response.parsedJSON() } catch {
            throw undecodable(
                response,
                "The body is not JSON: \(error). Set acceptance.format if JSON is not expected.",
                error)
        }
    }

    private static func checkShape(
        _ response: Response, description: RequestDescription, isEmpty: Bool
    ) throws(RequestError) {
        guard let shape = description.validator else { return }
        guard !isEmpty else {
            guard shape.requiresBody else { return }
            throw RequestError(
                .emptyBody, stage: .validate,
                "The response has no body, and the validator requires one. If it may be empty, make the "
                    + "validator's requirements optional.",
                response: response)
        }
        let json: JSON
        do { json = try response.parsedJSON() } catch {
            throw undecodable(
                response,
                "The validator requires JSON, but the body is not JSON: \(error). Remove the validator, or "
                    + "check other formats in acceptance.rules.",
                error)
        }
        guard let fault = shape.firstFault(in: json) else { return }
        throw RequestError(
            .shapeMismatch, stage: .validate,
            "The JSON does not match the validator at \(fault.path): expected \(fault.expected), "
                + "found \(fault.found). Correct the validator, or the service.",
            response: response, shapeFault: fault)
    }

    /// Decodes nothing: the decoder has parsed the whole document before.
    private struct AnyPropertyList: Decodable {
        init(from decoder: any Decoder) {}
    }

    private static func checkPropertyList(_ response: Response) throws(RequestError) {
        do {
            _ = try PropertyListDecoder().decode(AnyPropertyList.self, from: response.data)
        } catch {
            throw undecodable(response, "The body is not a property list.", error)
        }
    }

    package static func undecodable(
        _ response: Response, _ message: String, _ underlying: (any Error)?
    ) -> RequestError {
        RequestError(
            .undecodable, stage: .decode, message, response: response, underlying: underlying)
    }
}

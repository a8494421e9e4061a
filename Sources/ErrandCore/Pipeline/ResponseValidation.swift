import ErrandJSON
import Foundation
import HTTPTypes

/// The checks an answer must pass, from the network and from the store alike: a pure function.
///
/// The first failure wins: status, content type, body, shape (row LIFE-3; the status comes first, since a
/// proxy's error page in HTML is a 502 and not a wrong content type).
package enum ResponseValidation {
    package static func check(
        _ response: Response, description: RequestDescription
    ) throws(RequestError) {
        let status = response.status.code
        guard description.acceptsStatus(status) else {
            let rule =
                description.statusCodeValidator == nil
                ? "is outside \(description.acceptableStatusCodes)"
                : "the statusCodeValidator does not accept"
            let hint =
                status == 401
                ? " Credentials come from authorization, or from configuration.authenticators." : ""
            throw RequestError(
                .unacceptableStatus, stage: .validate,
                "The server answered \(status), which \(rule). The error's response holds what it said.\(hint)",
                response: response)
        }
        if description.download != nil {
            try checkContentType(response, description: description)
        } else {
            let isEmpty = hasNoBody(response)
            if !isEmpty { try checkContentType(response, description: description) }
            try checkBody(
                response, as: description.responseSerializer, isEmpty: isEmpty)
            try checkShape(response, description: description, isEmpty: isEmpty)
        }
        for validator in description.businessValidators { try validator.check(response) }
    }

    /// Nothing, or one single space, counts as nothing (row RSP-4).
    private static func hasNoBody(_ response: Response) -> Bool {
        guard case .data(let data) = response.body else { return false }
        return data.isEmpty || (data.count == 1 && data.first == 0x20)
    }

    /// Whether a head's content type passes, before a byte of the body is taken.
    package static func acceptsContentType(
        of head: ResponseHead, description: RequestDescription
    ) -> Bool {
        let response = Response(status: head.status, headers: head.headers, url: URI())
        return (try? checkContentType(response, description: description)) != nil
    }

    private static func checkContentType(
        _ response: Response, description: RequestDescription
    ) throws(RequestError) {
        let accepted: ContentTypePatterns
        switch description.acceptableContentTypes {
        case .any: return
        case .types(let types): accepted = ContentTypePatterns(types)
        case .automatic:
            // A download's bytes are its own affair, unless the endpoint says what they must be.
            guard description.download == nil else { return }
            guard let patterns = ContentTypePatterns.automatic(for: description.responseSerializer)
            else { return }
            accepted = patterns
        }
        // Not the subscript, which joins repeated fields: two content types are a server's mistake, the first counts.
        let type = response.headers.first { $0.name == .contentType }?.value ?? ""
        // A server that says nothing says nothing wrong (AFNetworking judges alike).
        guard !type.isEmpty, !accepted.match(type) else { return }
        throw RequestError(
            .unacceptableContentType, stage: .validate,
            "The answer's content type is \(type.prefix(80)). If that is right, override acceptableContentTypes, with .any to ignore it.",
            response: response)
    }

    private static func checkBody(
        _ response: Response, as serializer: ResponseSerializer, isEmpty: Bool
    ) throws(RequestError) {
        switch serializer {
        case .data, .string, .xml: break
        case .json:
            if !isEmpty { try checkJSON(response) }
        case .plist:
            if !isEmpty { try checkPropertyList(response) }
        case .custom(let check):
            do { try check(response) } catch let error as RequestError { throw error } catch {
                throw undecodable(response, "The custom serializer rejected the body.", error)
            }
        case .compound(let serializers):
            var first: RequestError?
            for serializer in serializers {
                do throws(RequestError) {
                    return try checkBody(response, as: serializer, isEmpty: isEmpty)
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
                "The body is no JSON: \(error). Override responseSerializer if it is not meant to be.",
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
                "The answer has no body and the validator requires one.", response: response)
        }
        let json: JSON
        // A body that is no JSON passes a validator of an endpoint that does not ask for JSON (row VAL-1).
        do { json = try response.parsedJSON() } catch { return }
        guard let fault = shape.firstFault(in: json) else { return }
        throw RequestError(
            .shapeMismatch, stage: .validate,
            "The JSON departs from the validator at \(fault.path): expected \(fault.expected), found \(fault.found).",
            response: response, shapeFault: fault)
    }

    private static func checkPropertyList(_ response: Response) throws(RequestError) {
        do {
            _ = try PropertyListSerialization.propertyList(from: response.data, format: nil)
        } catch {
            throw undecodable(response, "The body is no property list.", error)
        }
    }

    package static func undecodable(
        _ response: Response, _ message: String, _ underlying: (any Error)?
    ) -> RequestError {
        RequestError(
            .undecodable, stage: .decode, message, response: response, underlying: underlying)
    }
}

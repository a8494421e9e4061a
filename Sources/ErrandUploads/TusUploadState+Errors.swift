import ErrandHTTP

// The errors with which a run ends.
extension TusUploadState {
    static let outOfOrder = RequestError(
        .processingFailed, stage: .process, "An event of the upload arrived out of order.")

    static let changed = RequestError(
        .resumeFailed, stage: .build,
        "The file, its metadata or the URL has changed since the upload began. Call discard() to remove "
            + "the upload, or override startsOver with true.")

    static let noChecksum = RequestError(
        .unsupported, stage: .validate,
        "The server lists none of the checksum algorithms "
            + "\(UploadChecksum.supported.joined(separator: ", ")). Nothing was sent. "
            + "Use the checksum .ifSupported or .none.")

    static func gone(_ error: RequestError?, isAgain: Bool) -> RequestError {
        RequestError(
            .resumeFailed, stage: .validate,
            "The upload has expired or does not exist on the server any more. "
                + (isAgain
                    ? "It was created again in this run already. Start the upload again later."
                    : "Call discard() to forget it, or override startsOver with true."),
            response: error?.response)
    }

    static func contradiction(
        _ text: String, _ error: RequestError? = nil
    ) -> RequestError {
        RequestError(
            .resumeFailed, stage: .validate,
            text + " Call discard(), then start the upload again.", response: error?.response)
    }

    static func locked(_ error: RequestError?) -> RequestError {
        RequestError(
            .unacceptableStatus, stage: .validate,
            "Another request still holds the upload (status 423). Start the upload again later, or use "
                + "a retryPolicy with more attempts.", response: error?.response)
    }

    static func wrongVersion(_ response: TusResponse) -> RequestError {
        let versions = response.versions.joined(separator: ", ")
        return RequestError(
            .unsupported, stage: .validate,
            "The server does not support tus 1.0.0; it supports \(versions.isEmpty ? "other versions" : versions)."
        )
    }

    static func status(_ response: TusResponse) -> RequestError {
        RequestError(
            .unacceptableStatus, stage: .validate,
            "The server refused the upload with status \(response.status).")
    }
}

import ErrandTransport

/// The reason why Security cannot import a client certificate in PKCS#12.
enum PKCS12Failure: Sendable, Hashable {
    case wrongPassword, noPKCS12, noIdentity
    /// The result of `SecPKCS12Import`.
    case other(Int32)

    /// The reason for a result of `SecPKCS12Import`.
    init(status: Int32) {
        self =
            switch status {
            // errSecAuthFailed, errSecPkcs12VerifyFailure
            case -25293, -25264: .wrongPassword
            // errSecDecode, errSecUnknownFormat
            case -26275, -25257: .noPKCS12
            default: .other(status)
            }
    }

    /// The error of a request that presents the certificate; nothing was sent.
    ///
    /// - Parameter text: The system's text for the result.
    func error(_ text: String?) -> RequestError {
        let message =
            switch self {
            case .wrongPassword:
                "The password of the client certificate is wrong. Correct the password of the clientIdentity."
            case .noPKCS12: "The client certificate is not a PKCS#12 file. Correct the file."
            case .noIdentity:
                "The PKCS#12 file of the clientIdentity contains no certificate with its private key. Export both."
            case .other(let status):
                "The client certificate could not be imported: \(text ?? "error") (\(status)). Export it again as PKCS#12."
            }
        return RequestError(.clientCertificateRejected, stage: .transport, message)
    }
}

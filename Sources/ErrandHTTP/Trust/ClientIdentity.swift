public import ErrandSystem

/// A client certificate and its private key, for TLS client authentication.
///
///     policy.clientIdentity = .pkcs12(file: "/etc/app/client.p12", password: password)
///
/// `URLSessionTransport` accepts PKCS#12 only, on Apple platforms, and no identity on Linux.
///
/// A request fails with ``RequestError/Code/clientCertificateRejected`` if the identity cannot be read
/// or if the server refuses it. Descriptions and dumps contain neither the key nor the password.
public struct ClientIdentity: Sendable, Hashable {
    package enum Form: Sendable, Hashable { case pem, pkcs12 }

    package enum Source: Sendable, Hashable {
        case file(String)
        case bytes(Data)
    }

    package let form: Form
    package let certificate: Source
    /// The private key; `nil` when it is in the same file or data as the certificate.
    package let key: Source?
    package let password: String?

    /// An identity from a PKCS#12 file (`.p12`, `.pfx`) with the certificate, its key, and its chain.
    ///
    /// OpenSSL 3 refuses files with the legacy RC2 encryption; export such files again.
    public static func pkcs12(file: String, password: String) -> ClientIdentity {
        ClientIdentity(form: .pkcs12, certificate: .file(file), key: nil, password: password)
    }

    /// An identity from the bytes of a PKCS#12 file.
    public static func pkcs12(_ data: Data, password: String) -> ClientIdentity {
        ClientIdentity(form: .pkcs12, certificate: .bytes(data), key: nil, password: password)
    }

    /// An identity from PEM files.
    ///
    /// - Parameters:
    ///   - certificateFile: The path of the certificate, followed by the other certificates of its chain.
    ///   - keyFile: The path of the private key; `nil`, the default, if it is in `certificateFile`.
    ///   - password: The password of the private key; default none.
    public static func pem(
        certificateFile: String, keyFile: String? = nil, password: String? = nil
    ) -> ClientIdentity {
        ClientIdentity(
            form: .pem, certificate: .file(certificateFile), key: .file(keyFile ?? certificateFile),
            password: password)
    }

    /// An identity from PEM text.
    ///
    /// - Parameters:
    ///   - certificate: The certificate.
    ///   - key: The private key.
    ///   - password: The password of the private key; default none.
    public static func pem(
        certificate: String, key: String, password: String? = nil
    ) -> ClientIdentity {
        ClientIdentity(
            form: .pem, certificate: .bytes(Data(certificate.utf8)), key: .bytes(Data(key.utf8)),
            password: password)
    }

    /// An identity from a certificate and a private key in DER, such as the files `client.cer` and `client.key`.
    ///
    /// A request fails with ``RequestError/Code/invalidConfiguration`` if the bytes are no certificate, or no key.
    ///
    /// - Parameters:
    ///   - certificate: The certificate (RFC 5280).
    ///   - key: The private key: PKCS#8 (RFC 5958), also encrypted, PKCS#1 (RFC 8017) or SEC 1 (RFC 5915).
    ///   - password: The password of the private key; default none.
    public static func der(
        certificate: Data, key: Data, password: String? = nil
    ) -> ClientIdentity {
        let label = PrivateKeyForm(der: key).map(\.rawValue)
        return pem(
            certificate: PEMText.isCertificate(certificate)
                ? PEMText.text("CERTIFICATE", certificate) : "",
            key: label.map { PEMText.text($0, key) } ?? "", password: password)
    }

    /// The paths of the files that must exist.
    package var files: [String] {
        [certificate, key].compactMap { source in
            if case .file(let path) = source { path } else { nil }
        }
    }
}

extension SecurityPolicy {
    /// Identifies the client certificate, for keys; `nil` if there is none.
    package var clientName: String? {
        if let clientCertificateFile { return clientCertificateFile }
        switch clientIdentity?.certificate {
        case .file(let path): return path
        case .bytes(let data): return SHA256.hex(data)
        case nil: return nil
        }
    }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The format and the first file, or "in memory"; never the key or the password.
    public var description: String {
        let form = form == .pem ? "PEM" : "PKCS#12"
        return files.first.map { "\(form) in \($0)" } ?? "\(form) in memory"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// An empty mirror, so that dumps do not contain the password.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

public import Foundation

/// The certificate and the key with which a client shows who it is.
///
///     policy.clientIdentity = .pkcs12(file: "/etc/app/client.p12", password: password)
///
/// What cannot be read, and what the server refuses, ends requests with
/// ``RequestError/Code/clientCertificateRejected``. Descriptions and dumps hold neither key nor password.
public struct ClientIdentity: Sendable, Hashable {
    package enum Form: Sendable, Hashable { case pem, pkcs12 }

    package enum Place: Sendable, Hashable {
        case file(String)
        case bytes(Data)
    }

    package let form: Form
    package let certificate: Place
    /// `nil` where it stands beside the certificate.
    package let key: Place?
    package let password: String?

    /// A PKCS#12 file (`.p12`, `.pfx`) with certificate, key, and further certificates to send.
    ///
    /// Files in the old RC2 encryption are refused by OpenSSL 3; write them anew.
    public static func pkcs12(file: String, password: String) -> ClientIdentity {
        ClientIdentity(form: .pkcs12, certificate: .file(file), key: nil, password: password)
    }

    /// The bytes of a PKCS#12 file.
    public static func pkcs12(_ data: Data, password: String) -> ClientIdentity {
        ClientIdentity(form: .pkcs12, certificate: .bytes(data), key: nil, password: password)
    }

    /// PEM files.
    ///
    /// - Parameters:
    ///   - certificateFile: The certificate, and behind it those to send with it.
    ///   - keyFile: The key; `nil`, the default, where it is in the same file.
    ///   - password: The password of the key; default none.
    public static func pem(
        certificateFile: String, keyFile: String? = nil, password: String? = nil
    ) -> ClientIdentity {
        ClientIdentity(
            form: .pem, certificate: .file(certificateFile), key: .file(keyFile ?? certificateFile),
            password: password)
    }

    /// PEM text.
    ///
    /// - Parameters:
    ///   - certificate: The certificate.
    ///   - key: The key.
    ///   - password: The password of the key; default none.
    public static func pem(
        certificate: String, key: String, password: String? = nil
    ) -> ClientIdentity {
        ClientIdentity(
            form: .pem, certificate: .bytes(Data(certificate.utf8)), key: .bytes(Data(key.utf8)),
            password: password)
    }

    /// The files that must be there.
    package var files: [String] {
        [certificate, key].compactMap { place in
            if case .file(let path) = place { path } else { nil }
        }
    }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The form and where it comes from.
    public var description: String {
        let form = form == .pem ? "PEM" : "PKCS#12"
        return files.first.map { "\(form) in \($0)" } ?? "\(form) in memory"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing within, so that dumps hold no password.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

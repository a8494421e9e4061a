import Foundation

/// Certificates that openssl created, valid until 2126: DER in base64, and the digests of their public keys.
enum SampleCertificates {
    /// `CN=root`, which signed ``leaf``.
    static let root = sample(
        "MIIBdDCCARugAwIBAgIUG2JuRaxox/59GlzHjt9VdgQc8kEwCgYIKoZIzj0EAwIwDzENMAsGA1UEAwwEcm9vdDAg"
            + "Fw0yNjExMjkyMTQwNTJaGA8yMTI2MTEwNTIxNDA1MlowDzENMAsGA1UEAwwEcm9vdDBZMBMGByqGSM49AgEGCCqG"
            + "SM49AwEHA0IABAkRJBUPE7B7QX+Ewmx+DfnTAsSCpQ5lo3hCa6jg61DpspaL4ShI+oGq4MzEBG4Xk4w1hZcVJ+gP"
            + "j2hVPQW4SRejUzBRMB0GA1UdDgQWBBQ3VwLpvHDOig0v4EIFSQhbnzgqxzAfBgNVHSMEGDAWgBQ3VwLpvHDOig0v"
            + "4EIFSQhbnzgqxzAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIDYpvdKmT0sRk1eYdoiN/WAtuEqT"
            + "lJt8w3mWfGPvksYVAiBjgIrDWjCVts0qu63T1Yhd8R6CFNHGl0G0MU1PCkf8TA==")
    /// `CN=subject.example.org`, with the names `Example.com`, `*.wild.example.com`, `*.com`, `a*.example.net`,
    /// 192.0.2.7 and 2001:db8::7, and an address of mail.
    static let leaf = sample(
        "MIIB6TCCAZCgAwIBAgIUUBBy7uYizpO0/vDRf+mqePZAZy8wCgYIKoZIzj0EAwIwDzENMAsGA1UEAwwEcm9vdDAg"
            + "Fw0yNjExMjkyMTQwNTJaGA8yMTI2MTEwNTIxNDA1MlowHjEcMBoGA1UEAwwTc3ViamVjdC5leGFtcGxlLm9yZzBZ"
            + "MBMGByqGSM49AgEGCCqGSM49AwEHA0IABHJmAzmX9H1RqDg0n7rwUS646DOOuVkG6BhHlAbMPnFo5L88Fq6bGtXc"
            + "fUgdy6l7dSdosDYa8ovx9ZlCRS4mDKajgbgwgbUwCQYDVR0TBAIwADBoBgNVHREEYTBfggtFeGFtcGxlLmNvbYIS"
            + "Ki53aWxkLmV4YW1wbGUuY29tggUqLmNvbYIOYSouZXhhbXBsZS5uZXSHBMAAAgeHECABDbgAAAAAAAAAAAAAAAeB"
            + "DWFAZXhhbXBsZS5jb20wHQYDVR0OBBYEFA/KyVcm/FhkSGvvqTiPWqpoYOFxMB8GA1UdIwQYMBaAFDdXAum8cM6K"
            + "DS/gQgVJCFufOCrHMAoGCCqGSM49BAMCA0cAMEQCIAa5Uo7wavvMRYudKRFLjYJQebUGymLrcoAaEA/h0eOVAiBn"
            + "orfbR+TZDOJmexaE42NmNUpnRaICL7IFujAD1LE/Dg==")
    /// `CN=plain.example.org`, of version 1, which has no extensions.
    static let plain = sample(
        "MIIBMzCB2wIUY7IT1/ESxI4HFoN1GPmjengq4v8wCgYIKoZIzj0EAwIwHDEaMBgGA1UEAwwRcGxhaW4uZXhhbXBs"
            + "ZS5vcmcwIBcNMjYxMTI5MjE0MDUyWhgPMjEyNjExMDUyMTQwNTJaMBwxGjAYBgNVBAMMEXBsYWluLmV4YW1wbGUu"
            + "b3JnMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEVmjqIEl32DJRYtO8Lw8LnL7vKJGsbOVM7S/BQPUqtdKVCIzd"
            + "xexto9W4Fr3JDhicnVAlTHzibApPR2PTbslMuzAKBggqhkjOPQQDAgNHADBEAiBX50VvhQw4vxZqQBzdAiMA/4gY"
            + "21Z9iSqmOYEu3mjOewIgSQ76w9wJ2dcrVE7Pt8JTo1XfmyNfgT5FtV2xsCIczH8=")

    static let rootPin = "ktn27jXjWS12HyjidYnknxFU3G7DXQT19D6TvjioIaM="
    static let leafPin = "ooTVGNGvHBkbasHmzLAxTbBXkr0cb3KkKXnghfvq4Iw="
    static let plainPin = "pa0F71IHAA3nHUsUlWeyta4OFm1pnh0yHSNfdO3viyE="

    private static func sample(_ base64: String) -> Data {
        Data(base64Encoded: base64) ?? Data()
    }
}

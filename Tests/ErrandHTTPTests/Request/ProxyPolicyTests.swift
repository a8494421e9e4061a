import ErrandCore
import Testing

@testable import ErrandHTTP

/// Descriptions of proxy policies, and proxy security per endpoint.
@Suite struct ProxyPolicyTests {
    @Test(arguments: [
        ("http://user:hush@proxy:3128", "http://proxy:3128"),
        ("http://proxy:3128", "http://proxy:3128"),
        ("user:hush@proxy", "proxy"), ("http://us@er:hu@sh@proxy", "http://proxy"),
    ])
    func descriptionsContainNoPassword(url: String, shown: String) {
        let policy = TransportOptions.ProxyPolicy.url(url, bypass: [])
        var options = TransportOptions()
        options.proxy = policy
        var dumped = ""
        dump(options, to: &dumped)
        dump(policy, to: &dumped)
        #expect(policy.description == shown)
        for text in ["\(policy)", String(reflecting: policy), "\(options)", dumped] {
            #expect(!text.contains("hush") && !text.contains("hu@"), "\(text)")
        }
    }

    @Test func descriptionsOfPolicies() {
        #expect("\(TransportOptions.ProxyPolicy.environment)" == "environment")
        #expect("\(TransportOptions.ProxyPolicy.none)" == "none")
        #expect(
            "\(TransportOptions.ProxyPolicy.url("http://a", bypass: ["b"]))"
                == #"http://a, not for ["b"]"#)
    }

    @Test func endpointsMayOverrideTheProxySecurity() {
        var security = SecurityPolicy()
        security.authorityFile = "/proxy.pem"
        var overrides = TransportOverrides()
        #expect(overrides.proxySecurity == nil)
        overrides.proxySecurity = security
        var options = TransportOptions()
        overrides.apply(to: &options)
        #expect(options.proxySecurity == security)
        #expect(overrides != TransportOverrides())
    }
}

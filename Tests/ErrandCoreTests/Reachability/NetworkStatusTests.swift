import ErrandCore
import ErrandHTTP
import Testing

@Suite struct NetworkStatusTests {
    private static let connected: [NetworkStatus.Kind: Bool] = [
        .none: false, .wired: true, .wifi: true, .cellular: true, .other: true,
    ]

    @Test(arguments: NetworkStatus.Kind.allCases)
    func connectionDependsOnTheKindOnly(kind: NetworkStatus.Kind) {
        // Nil for `unknown` only.
        let expected = Self.connected[kind]
        #expect((expected == nil) == (kind == .unknown))
        #expect(NetworkStatus(kind).isConnected == expected)
        #expect(
            NetworkStatus(kind, isExpensive: true, isConstrained: true).isConnected == expected)
    }

    @Test func descriptionNamesTheFlagsThatAreSet() {
        #expect(NetworkStatus(.wifi).description == "wifi")
        #expect(NetworkStatus(.none, isConstrained: true).description == "none, constrained")
        #expect(
            NetworkStatus(.cellular, isExpensive: true, isConstrained: true).description
                == "cellular, expensive, constrained")
    }
}

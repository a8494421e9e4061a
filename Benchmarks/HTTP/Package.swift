// swift-tools-version: 6.2
import PackageDescription

// Errand and plain C libcurl against the same server in the same rounds. `make bench` runs it.
let package = Package(
    name: "HTTPBench",
    platforms: [.macOS(.v15)],
    dependencies: [.package(path: "../errand", traits: [.defaults, "Inspector"])],
    targets: [
        .executableTarget(name: "PlainCurl", linkerSettings: [.linkedLibrary("curl")]),
        .executableTarget(
            name: "HTTPBench",
            dependencies: [
                .product(name: "Errand", package: "errand"),
                .product(name: "ErrandTransport", package: "errand"),
                .product(name: "ErrandInspector", package: "errand"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

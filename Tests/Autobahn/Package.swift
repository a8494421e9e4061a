// swift-tools-version: 6.2
import PackageDescription

// The client of the Autobahn test suite: the values of ErrandWebSocket on a blocking socket. Scripts/autobahn builds it
// for release, because the suite sends 30 GB.
let package = Package(
    name: "Autobahn",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "errand", path: "../..")],
    targets: [
        .executableTarget(
            name: "AutobahnClient",
            dependencies: [.product(name: "ErrandWebSocket", package: "errand")])
    ],
    swiftLanguageModes: [.v6]
)

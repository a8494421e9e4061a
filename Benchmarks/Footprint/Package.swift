// swift-tools-version: 6.2
import PackageDescription

// One GET in a few lines, without traits. `Benchmarks/footprint` measures what it costs.
let package = Package(
    name: "Footprint",
    platforms: [.macOS(.v15)],
    dependencies: [.package(path: "../errand", traits: [])],
    targets: [
        .executableTarget(name: "Nothing"),
        .executableTarget(
            name: "GetWithErrand", dependencies: [.product(name: "Errand", package: "errand")]),
        .executableTarget(
            name: "GetWithCore",
            dependencies: [
                .product(name: "ErrandCore", package: "errand"),
                .product(name: "ErrandCurl", package: "errand"),
                .product(name: "ErrandHTTP", package: "errand"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

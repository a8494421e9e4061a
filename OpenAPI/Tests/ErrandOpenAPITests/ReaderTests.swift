@testable import ErrandOpenAPI

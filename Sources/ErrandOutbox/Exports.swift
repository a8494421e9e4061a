@_exported public import ErrandCore

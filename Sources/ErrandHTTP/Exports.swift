// Headers are `HTTPFields`, JSON responses are `JSON`, and their shapes are `JSONShape`. The exports let code that
// imports ErrandHTTP use these types without further imports.
@_exported public import ErrandJSON
@_exported public import HTTPTypes

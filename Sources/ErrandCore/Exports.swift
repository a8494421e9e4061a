// Users of Errand see its currency without importing it: `HTTPFields` for headers, `JSON` and
// `JSONShape` for answers.
@_exported public import ErrandJSON
@_exported public import HTTPTypes

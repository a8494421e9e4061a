// `import Errand` is enough to define endpoints, configure agents and read responses.
@_exported public import ErrandCore

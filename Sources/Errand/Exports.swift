// `import Errand` is enough to define endpoints, configure agents and read responses and streams.

@_exported public import ErrandCore

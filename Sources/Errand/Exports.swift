// `import Errand` is enough to write endpoints, configure agents and read answers.
@_exported public import ErrandCore

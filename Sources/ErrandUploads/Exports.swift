@_exported public import Errand

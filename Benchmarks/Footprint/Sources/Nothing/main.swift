// What Swift itself costs.
print("nothing")

// ErrandTesting

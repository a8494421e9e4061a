// ErrandCoreTests

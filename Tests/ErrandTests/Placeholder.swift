// ErrandTests

// ErrandSQLiteTests

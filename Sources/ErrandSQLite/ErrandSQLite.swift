// ErrandSQLite

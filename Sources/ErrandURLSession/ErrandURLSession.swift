// ErrandURLSession

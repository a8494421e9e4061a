// ErrandCurl

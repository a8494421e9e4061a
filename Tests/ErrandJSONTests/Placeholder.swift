// ErrandJSONTests

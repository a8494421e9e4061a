// ErrandJSON

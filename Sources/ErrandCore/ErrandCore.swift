// ErrandCore

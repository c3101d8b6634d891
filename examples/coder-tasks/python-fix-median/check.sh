python3 -B -c 'from stats import median; assert median([1, 2, 3, 10]) == 2.5; assert median([7]) == 7'

int max2(int one, int two);

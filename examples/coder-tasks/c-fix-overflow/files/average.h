int average(int one, int two);

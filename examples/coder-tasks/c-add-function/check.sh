mkdir -p build
cat > build/checked.c <<'END'
#include "../pick.h"
int main(void) { return !(max3(1, 2, 9) == 9 && max3(-3, -2, -5) == -2 && max3(7, 1, 1) == 7); }
END
cc -Wall -Werror -o build/checked pick.c build/checked.c
./build/checked

"""The broken programs: what they are, how they are run, and what is expected of the rules. See make.py."""
CASES = []

def case(name, cls, needs, run, files, file=None, line=None, cause=None):
    CASES.append({"name": name, "class": cls, "needs": needs, "run": run, "files": files, "file": file, "line": line, "cause": cause})

def c(name, cls, code, line=None, flags="", run=None, cause=None, needs="gcc", file="main.c", link=False, more=None):
    files = {"main.c": code, **(more or {})}
    case(name, cls, needs, run or f"gcc -Wall {flags} {'main.c -o main' if link else '-c main.c'}", files, file if line else None, line, cause)

# gcc
c("gcc-missing-semicolon", "compile", "int main(void) {\n  int a = 1\n  return a;\n}\n", 3, cause="expected")
c("gcc-undeclared", "compile", "#include <stdio.h>\nint main(void) {\n  printf(\"%d\\n\", counter);\n  return 0;\n}\n", 3, cause="counter")
c("gcc-accepted-with-a-warning", "none", "typedef struct { int x } point;\npoint origin(void) { point p; p.x = 0; return p; }\nint main(void) { point q = origin(); return q.x; }\n")
c("gcc-warnings-then-error", "compile", "#include <stdio.h>\nint f(int a) { int unused; return a; }\nint g(char *s) { if (s = 0) return 1; return 0; }\nint main(void) {\n  unsigned u = -1;\n  if (u < 0) puts(\"error: impossible\");\n  return missing_function_result.value;\n}\n", 7, "-Wextra", cause="missing_function_result")
c("gcc-werror", "compile", "int main(void) {\n  int unused = 3;\n  return 0;\n}\n", 2, "-Werror", cause="unused")
c("gcc-missing-header", "missing_dependency", "#include <stdio.h>\n#include \"driver/uart_hal.h\"\nint main(void) { uart_init(); return 0; }\n", 2, cause="driver/uart_hal.h")
c("gcc-too-few-arguments", "compile", "int add(int a, int b) { return a + b; }\nint main(void) {\n  return add(1);\n}\n", 3, cause="add")
c("gcc-conflicting-types", "compile", "long size(void);\nint size(void) { return 1; }\n", 2, cause="size")
c("gcc-incompatible-pointer", "compile", "struct a { int x; }; struct b { int y; };\nint f(struct a *p) { return p->x; }\nint g(struct b *q) {\n  return f(q);\n}\n", 4, "-Werror=incompatible-pointer-types")
c("gcc-redefinition", "compile", "int value(void) { return 1; }\nint value(void) { return 2; }\n", 2, cause="value")
c("gcc-error-directive", "compile", "#ifndef BOARD\n#error \"BOARD must be defined, see boards/README\"\n#endif\nint x;\n", 2, cause="BOARD must be defined")
c("gcc-bad-option", "configuration", "int x;\n", run="gcc -march=pentium99 -c main.c")
c("gcc-no-input", "missing_dependency", "int x;\n", run="gcc -c missing.c -o missing.o", cause="missing.c")
c("gcc-static-assert", "compile", "struct packet { char kind; int length; };\n_Static_assert(sizeof(struct packet) == 5, \"packet must be packed\");\n", 2, cause="packet must be packed")
c("gcc-only-warnings", "none", "#include <stdio.h>\nint error_count(void) { int failed; return 0; }\nint main(void) { printf(\"errors: %d, no fatal error\\n\", error_count()); return 0; }\n", link=True, run="gcc -Wall main.c -o main && ./main")
# linking
c("ld-undefined", "link", "int helper(int);\nint main(void) { return helper(2); }\n", link=True, cause="helper")
c("ld-multiple-definition", "link", "int state;\nint main(void) { return state; }\nint init(void) { return 1; }\n", run="gcc main.c other.c -o main", more={"other.c": "int init(void) { return 2; }\n"}, cause="init")
c("ld-no-library", "missing_dependency", "int main(void) { return 0; }\n", run="gcc main.c -lfrobnicate -o main", cause="frobnicate")
c("ld-no-main", "link", "int start(void) { return 0; }\n", link=True, cause="main")
c("ld-cpp-undefined", "link", "", run="g++ a.cpp -o a", needs="g++", more={"a.cpp": "#include <string>\nstruct Parser { std::string parse(int) const; };\nint main() { return Parser().parse(1).size(); }\n"}, cause="Parser::parse")
c("ld-script-overflow", "link", "char big[70000] = {1};\nint main(void) { return big[1]; }\n", run="arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -nostdlib -T small.ld main.c -o fw.elf", needs="arm-none-eabi-gcc", more={"small.ld": "MEMORY { FLASH (rx) : ORIGIN = 0, LENGTH = 64K  RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 16K }\nENTRY(main)\nSECTIONS { .text : { *(.text*) } > FLASH  .data : { *(.data*) } > RAM AT > FLASH  .bss : { *(.bss*) } > RAM }\n"}, cause="RAM")
c("ld-make-follow-up", "link", "int spin(void);\nint main(void) { return spin(); }\n", run="make", needs="make gcc", more={"Makefile": "all: app\napp: main.o\n\tgcc main.o -o app\nmain.o: main.c\n\tgcc -Wall -c main.c\n"}, cause="spin")
c("ld-relocation", "link", "int main(void) { return 0; }\n", run="gcc -c -fno-pic -mcmodel=large main.c && gcc -c abs.s && gcc -shared abs.o -o libabs.so", more={"abs.s": ".text\n.globl f\nf: movl $table, %eax\n ret\n.data\ntable: .long 1\n"})
# g++ and clang
def cpp(name, cls, code, line=None, run="g++ -Wall -c main.cpp", cause=None, needs="g++"):
    case(name, cls, needs, run, {"main.cpp": code}, "main.cpp" if line else None, line, cause)
cpp("gpp-template", "compile", "#include <vector>\n#include <algorithm>\n#include <list>\nint main() {\n  std::list<int> l{3, 1, 2};\n  std::sort(l.begin(), l.end());\n}\n")
cpp("gpp-no-member", "compile", "#include <string>\nint main() {\n  std::string s = \"a\";\n  return s.lenght();\n}\n", 4, cause="lenght")
cpp("gpp-const", "compile", "void set(const int &x) {\n  x = 4;\n}\n", 2, cause="read-only")
cpp("gpp-no-match", "compile", "#include <iostream>\nstruct P { int x; };\nint main() {\n  P p{1};\n  std::cout << p << std::endl;\n}\n", 5, cause="operator<<")
cpp("gpp-missing-header", "missing_dependency", "#include <boost/asio/nothing_here.hpp>\nint main() {}\n", 1, cause="boost/asio/nothing_here.hpp")
cpp("gpp-abstract", "compile", "struct Shape { virtual double area() const = 0; };\nint main() {\n  Shape s;\n  return s.area();\n}\n", 3, cause="abstract")
cpp("clang-undeclared", "compile", "int main() {\n  return conter;\n}\nint counter;\n", 2, "clang++ -c main.cpp", "conter", "clang++")
cpp("clang-many-errors", "compile", "struct A { int v; };\nint f(A a) { return a.w; }\nint g(A a) { return a.u; }\nint h() { return f(1); }\n", 2, "clang++ -c main.cpp", "no member named 'w'", "clang++")
cpp("clang-missing-brace", "compile", "int f() {\n  if (1) {\n    return 2;\n}\nint g() { return 3; }\n", None, "clang++ -c main.cpp", None, "clang++")
cpp("asan-overflow", "crash", "#include <cstdlib>\nint main(int argc, char **) {\n  int *a = (int *)malloc(4 * sizeof(int));\n  a[argc + 3] = 7;\n  free(a);\n  return 0;\n}\n", 4, "g++ -g -fsanitize=address main.cpp -o main && ./main", "heap-buffer-overflow")
cpp("ubsan-overflow", "crash", "#include <limits>\nint main(int argc, char **) {\n  int big = std::numeric_limits<int>::max();\n  big += argc;\n  return big == 0;\n}\n", 4, "g++ -g -fsanitize=undefined -fno-sanitize-recover=all main.cpp -o main && ./main", "signed integer overflow")
cpp("cpp-uncaught", "panic", "#include <stdexcept>\n#include <iostream>\nint main() {\n  std::cout << \"starting\\n\";\n  throw std::runtime_error(\"cannot open calibration table\");\n}\n", None, "g++ main.cpp -o main && ./main", "cannot open calibration table")
# running C
c("c-segfault", "crash", "#include <stdio.h>\nint main(void) { int *p = 0; puts(\"reading\"); fflush(stdout); return *p; }\n", run="gcc main.c -o main 2>/dev/null; ./main; echo exit $?")
c("c-assert", "assertion", "#include <assert.h>\n#include <stdio.h>\nstatic int queue_length(void) { return 9; }\nint main(void) {\n  puts(\"filling\");\n  assert(queue_length() <= 8 && \"queue overflow\");\n  return 0;\n}\n", 6, run="gcc main.c -o main && ./main", cause="queue overflow")
c("c-double-free", "crash", "#include <stdlib.h>\nint main(void) { char *p = malloc(8); free(p); free(p); return 0; }\n", run="gcc -w main.c -o main && ./main", cause="double free")
c("c-stack-smash", "crash", "#include <string.h>\nvoid f(const char *s) { char b[8]; strcpy(b, s); }\nint main(int c, char **v) { f(\"much too long for eight bytes of room\"); return 0; }\n", run="gcc -w -O0 -fstack-protector-all main.c -o main && ./main", cause="stack smashing")
c("c-fpe", "crash", "#include <stdlib.h>\nint main(int argc, char **v) { volatile int zero = argc - 1; return 5 / zero; }\n", run="gcc -w main.c -o main; ./main; echo exit $?")
c("c-bus-valgrind", "crash", "#include <stdlib.h>\nint main(void) {\n  int *a = malloc(8);\n  free(a);\n  return a[1];\n}\n", 5, run="gcc -w -g main.c -o main && valgrind --error-exitcode=9 ./main", needs="gcc valgrind", cause="Invalid read")
c("c-pass-with-scary-words", "none", "#include <stdio.h>\nint main(void) {\n  puts(\"[test] error handling: returns ERROR_NONE\");\n  puts(\"[test] failed login is rejected: ok\");\n  puts(\"[test] timeout handler: 0 timeouts, 0 panics, no crash\");\n  puts(\"[test] out of memory path simulated: handled\");\n  puts(\"5 Tests 0 Failures 0 Ignored\");\n  puts(\"OK\");\n  return 0;\n}\n", run="gcc main.c -o main && ./main")
# Unity's form
UNITY = '#include <stdio.h>\n#define RUN(n, l, ok, m) do { printf("test/test_ring.c:%d:%s:%s%s%s\\n", l, n, ok ? "PASS" : "FAIL", ok ? "" : ": ", ok ? "" : m); } while (0)\n'
c("unity-one-failure", "test_failure", UNITY + 'int main(void) { RUN("test_push", 12, 1, ""); RUN("test_wraps", 31, 0, "Expected 3 Was 7"); RUN("test_pop", 40, 1, ""); puts("\\n-----------------------\\n3 Tests 1 Failures 0 Ignored \\nFAIL"); return 1; }\n', run="gcc main.c -o main && ./main", cause="test_wraps")
c("unity-pass", "none", UNITY + 'int main(void) { RUN("test_error_code", 12, 1, ""); RUN("test_fail_safe", 20, 1, ""); puts("\\n-----------------------\\n2 Tests 0 Failures 0 Ignored \\nOK"); return 0; }\n', run="gcc main.c -o main && ./main")
c("unity-ignored", "none", UNITY + 'int main(void) { RUN("test_a", 12, 1, ""); puts("test/test_ring.c:44:test_later:IGNORE: not written yet"); puts("\\n-----------------------\\n2 Tests 0 Failures 1 Ignored \\nOK"); return 0; }\n', run="gcc main.c -o main && ./main")
# make and cmake
case("make-no-rule", "configuration", "make", "make", {"Makefile": "all: app.elf\napp.elf: startup.o main.o\n\techo link\nmain.o:\n\ttouch main.o\n"}, cause="startup.o")
case("make-missing-separator", "configuration", "make", "make", {"Makefile": "all:\n    echo spaces instead of a tab\n"}, "Makefile", 2, "missing separator")
case("make-tool-missing", "missing_tool", "make", "make", {"Makefile": "all:\n\tarm-frob-eabi-gcc -c main.c\n"}, cause="arm-frob-eabi-gcc")
case("make-compile-error-deep", "compile", "make gcc", "make -k", {"Makefile": "all: a.o b.o c.o\n%.o: %.c\n\tgcc -Wall -c $<\n", "a.c": "int a(void) { return 1; }\n", "b.c": "int b(void) { return undeclared_thing; }\n", "c.c": "int c(void) { return 3; }\n"}, "b.c", 1, "undeclared_thing")
case("make-parallel-two-errors", "compile", "make gcc", "make -j1 -k", {"Makefile": "all: a.o b.o\n%.o: %.c\n\tgcc -c $<\n", "a.c": "int a(void) { return ; x }\n", "b.c": "int b(void) { return y; }\n"}, "a.c", 1)
case("make-recipe-fails", "configuration", "make", "make", {"Makefile": "all: gen.h\ngen.h: table.csv\n\tpython3 -c 'import sys; sys.exit(3)'\ntable.csv:\n\ttouch table.csv\n"})
case("make-pass", "none", "make", "make", {"Makefile": "all:\n\t@echo '[1/3] checking error paths'\n\t-@false\n\t@echo 'build finished, 0 errors, 0 failed'\n"})
case("cmake-no-compiler", "missing_tool", "cmake", "cmake -DCMAKE_C_COMPILER=frob-cc -S . -B b", {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(p C)\n"}, cause="frob-cc")
case("cmake-no-package", "missing_dependency", "cmake gcc", "cmake -S . -B b", {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nfind_package(Frobnicator 2.1 REQUIRED)\n"}, "CMakeLists.txt", 3, "Frobnicator")
case("cmake-unknown-command", "configuration", "cmake gcc", "cmake -S . -B b", {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_excutable(p main.c)\n"}, "CMakeLists.txt", 3, "add_excutable")
case("cmake-missing-source", "configuration", "cmake gcc", "cmake -S . -B b", {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_executable(p main.c gone.c)\n", "main.c": "int main(void) { return 0; }\n"}, "CMakeLists.txt", 3, "gone.c")
CT = "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nenable_testing()\nadd_executable(t t.c)\n"
case("ctest-failure", "test_failure", "cmake gcc", "cmake -S . -B b >/dev/null && cmake --build b >/dev/null && cd b && ctest", {"CMakeLists.txt": CT + "add_test(NAME ring_wraps COMMAND t 1)\nadd_test(NAME ring_empty COMMAND t 0)\n", "t.c": "int main(int c, char **v) { return v[1][0] - '0'; }\n"}, cause="ring_wraps")
case("ctest-timeout", "timeout", "cmake gcc", "cmake -S . -B b >/dev/null && cmake --build b >/dev/null && cd b && ctest", {"CMakeLists.txt": CT + "add_test(NAME waits COMMAND t)\nset_tests_properties(waits PROPERTIES TIMEOUT 1)\n", "t.c": "#include <unistd.h>\nint main(void) { sleep(20); return 0; }\n"}, cause="waits")
case("ctest-segfault", "crash", "cmake gcc", "cmake -S . -B b >/dev/null && cmake --build b >/dev/null 2>&1 && cd b && ctest", {"CMakeLists.txt": CT + "add_test(NAME parses COMMAND t)\n", "t.c": "int main(void) { int *volatile p = 0; return *p; }\n"}, cause="parses")
case("ctest-pass", "none", "cmake gcc", "cmake -S . -B b >/dev/null && cmake --build b >/dev/null && cd b && ctest", {"CMakeLists.txt": CT + "add_test(NAME error_path COMMAND t)\nadd_test(NAME failed_auth COMMAND t)\n", "t.c": "int main(void) { return 0; }\n"})
GT = "#include <gtest/gtest.h>\n"
def gtest(name, cls, code, line=None, cause=None, tail=""):
    case(name, cls, "g++", f"g++ t.cpp -lgtest -lgtest_main -pthread -o t && ./t {tail}", {"t.cpp": GT + code}, "t.cpp" if line else None, line, cause)
gtest("gtest-failure", "test_failure", "TEST(Ring, Wraps) {\n  EXPECT_EQ(3, 1 + 1);\n}\nTEST(Ring, Empty) { EXPECT_TRUE(true); }\n", 3, "Ring.Wraps")
gtest("gtest-pass", "none", "TEST(ErrorHandling, FailsGracefully) { EXPECT_TRUE(true); }\nTEST(Panic, NoCrash) { EXPECT_TRUE(true); }\n")
gtest("gtest-crash", "crash", "TEST(Ring, Reads) { int *volatile p = nullptr; EXPECT_EQ(*p, 1); }\n", tail="; echo exit $?")
gtest("gtest-throws", "test_failure", "#include <stdexcept>\nTEST(Parser, Rejects) { throw std::out_of_range(\"index 9\"); }\n", cause="Parser.Rejects")
# rust
def rs(name, cls, code, line=None, cause=None, run="rustc --edition 2021 main.rs"):
    case(name, cls, "rustc", run, {"main.rs": code}, "main.rs" if line else None, line, cause)
rs("rustc-types", "compile", "fn main() {\n    let n: u32 = \"four\";\n    println!(\"{n}\");\n}\n", 2, "mismatched types")
rs("rustc-borrow", "compile", "fn main() {\n    let mut v = vec![1];\n    let first = &v[0];\n    v.push(2);\n    println!(\"{first}\");\n}\n", 4, "cannot borrow")
rs("rustc-moved", "compile", "fn take(_: String) {}\nfn main() {\n    let s = String::new();\n    take(s);\n    println!(\"{s}\");\n}\n", 5, "moved value")
rs("rustc-warnings-then-error", "compile", "use std::fmt;\nfn unused() {}\nfn main() {\n    let x = 5;\n    let y = nothing();\n}\n", 5, "nothing")
rs("rustc-no-crate", "missing_dependency", "use serde_frob::Deserialize;\nfn main() {}\n", 1, "serde_frob")
rs("rustc-trait", "compile", "struct P;\nfn show<T: std::fmt::Display>(t: T) -> String { t.to_string() }\nfn main() {\n    show(P);\n}\n", 4, "Display")
rs("rustc-syntax", "compile", "fn main() {\n    let x = (1, 2;\n}\n", 2)
rs("rust-panic-index", "panic", "fn main() {\n    let v: Vec<i32> = std::env::args().map(|_| 1).collect();\n    println!(\"{}\", v[7]);\n}\n", 3, "index out of bounds", run="rustc main.rs 2>/dev/null && ./main")
rs("rust-unwrap-none", "panic", "fn find(key: &str) -> Option<u32> { key.parse().ok() }\nfn main() {\n    println!(\"{}\", find(\"x\").unwrap());\n}\n", 3, "unwrap", run="rustc main.rs && ./main")
rs("rust-assert", "assertion", "fn main() {\n    let total = std::env::args().count() + 1;\n    assert_eq!(total, 5, \"every channel is counted\");\n}\n", 3, "every channel is counted", run="rustc main.rs && ./main")
rs("rust-overflow", "crash", "#![allow(unconditional_recursion)]\nfn deep(n: u64) -> u64 { let a = [n; 100]; deep(n + 1) + a[5] }\nfn main() { println!(\"{}\", deep(0)); }\n", run="rustc main.rs && ./main; echo exit $?", cause="overflowed its stack")
T = "pub fn add(a: i32, b: i32) -> i32 { a - b }\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn adds() { assert_eq!(add(2, 2), 4); }\n    #[test]\n    fn zero() { assert_eq!(add(0, 0), 0); }\n}\n"
rs("rust-test-failure", "test_failure", T, cause="tests::adds", run="rustc --test main.rs && ./main")
rs("rust-test-pass", "none", "#[test]\nfn fails_on_error() { }\n#[test]\n#[should_panic(expected = \"boom\")]\nfn panics() { panic!(\"boom\") }\n", run="rustc --test main.rs && ./main --nocapture --test-threads=1")
rs("rust-test-panics", "test_failure", "#[test]\nfn parses() { let n: u8 = \"300\".parse().unwrap(); assert_eq!(n, 44); }\n", cause="parses", run="rustc --test main.rs && ./main")
case("cargo-bad-manifest", "configuration", "cargo", "cargo build", {"Cargo.toml": "[package]\nname = \"x\"\nversion = \"1\n", "src/main.rs": "fn main() {}\n"}, "Cargo.toml", 3)
case("cargo-offline-dependency", "network", "cargo", "cargo build --offline", {"Cargo.toml": "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nfrobnicator-no-such = \"1\"\n", "src/main.rs": "fn main() {}\n"}, cause="frobnicator-no-such")
case("cargo-test-compile-error", "compile", "cargo", "cargo test", {"Cargo.toml": "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "src/lib.rs": "pub fn f() -> u8 { 1 }\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() { assert_eq!(super::g(), 1); }\n}\n"}, "src/lib.rs", 5, "`g`")
case("cargo-test-failure", "test_failure", "cargo", "cargo test", {"Cargo.toml": "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "src/lib.rs": "#[test]\nfn error_paths() {}\n#[test]\nfn rounds_up() { assert_eq!(7 / 2, 4, \"rounding\"); }\n"}, "src/lib.rs", 4, "rounds_up")
# python
def py(name, cls, code, line=None, cause=None, run="python3 main.py", more=None):
    case(name, cls, "python3", run, {"main.py": code, **(more or {})}, "main.py" if line else None, line, cause)
py("python-exception", "panic", "def load(table):\n    return table['gain']\n\nprint('starting')\nload({'offset': 1})\n", 2, "KeyError")
py("python-syntax", "compile", "def f(:\n    pass\n", 1, "invalid syntax")
py("python-indent", "compile", "def f():\n    x = 1\n   return x\n", 3)
py("python-no-module", "missing_dependency", "import os\nimport frobnicator.core\n", 2, "frobnicator")
py("python-import-name", "missing_dependency", "from os import frobnicate\n", 1, "frobnicate")
py("python-type-error", "panic", "def total(items):\n    return sum(items)\n\ntotal(['1', 2])\n", 2, "TypeError")
py("python-chained", "missing_dependency", "def read(path):\n    try:\n        return open(path)\n    except OSError as error:\n        raise RuntimeError('no settings') from error\n\nread('settings.ini')\n", 3, "settings.ini")
py("python-handled", "none", "import traceback\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    traceback.print_exc()\n    print('recovered from the error, going on')\nprint('===== 4 passed in 0.01s =====')\n")
py("python-assert", "assertion", "def check(samples):\n    assert len(samples) == 3, 'three samples are needed'\ncheck([1])\n", 2, "three samples are needed")
py("python-permission", "permission", "open('/proc/1/mem', 'w')\nopen('locked/file', 'w')\n", None, None, run="mkdir locked; chmod 500 locked; python3 -c \"import os; os.setuid(65534); open('locked/file', 'w')\"")
py("python-no-file", "missing_dependency", "print(open('data/table.csv').read())\n", 1, "data/table.csv")
py("python-recursion", "panic", "def f(n):\n    return f(n + 1)\nf(0)\n", None, "recursion")
py("python-memory", "out_of_memory", "import resource\nresource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))\nx = bytearray(1 << 30)\n", 3)
py("python-refused", "network", "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9/')\n", None, "refused")
py("python-name", "panic", "import sys\nprint('warning: error count is', 0, file=sys.stderr)\nprint(valu)\n", 3, "valu")
def pt(name, cls, code, line=None, cause=None, run="pytest -q", file="test_ring.py", more=None):
    case(name, cls, "pytest", run, {"test_ring.py": code, **(more or {})}, file if line else None, line, cause)
pt("pytest-failure", "test_failure", "def test_push():\n    assert True\n\ndef test_wraps():\n    assert (3 + 5) % 4 == 1\n", 5, "test_wraps")
pt("pytest-error-in-fixture", "test_failure", "import pytest\n\n@pytest.fixture\ndef board():\n    raise RuntimeError('no board on /dev/ttyUSB0')\n\ndef test_boot(board):\n    assert board\n", 5, "no board on /dev/ttyUSB0")
pt("pytest-import-error", "missing_dependency", "import frobnicator\n\ndef test_a():\n    pass\n", 1, "frobnicator")
pt("pytest-exception", "test_failure", "def parse(text):\n    return int(text)\n\ndef test_parse():\n    assert parse('x1') == 1\n", 2, "test_parse")
pt("pytest-pass", "none", "import warnings\n\ndef test_error_is_raised():\n    warnings.warn('failed over to the spare', UserWarning)\n\ndef test_timeout():\n    print('ERROR: simulated')\n", run="pytest -q -s")
pt("pytest-xfail", "none", "import pytest\n\n@pytest.mark.xfail\ndef test_known():\n    assert 1 == 2\n\ndef test_ok():\n    pass\n")
pt("pytest-verbose-three", "test_failure", "import pytest\n\n@pytest.mark.parametrize('n', [1, 2, 3])\ndef test_even(n):\n    assert n % 2 == 0, f'{n} is odd'\n", 5, "test_even[1]", run="pytest -v")
pt("pytest-syntax", "compile", "def test_a():\n    assert 1 ==\n", 2)
pt("pytest-none-collected", "configuration", "def check_a():\n    pass\n")
case("unittest-failure", "test_failure", "python3", "python3 -m unittest -v test_a", {"test_a.py": "import unittest\n\nclass Ring(unittest.TestCase):\n    def test_wraps(self):\n        self.assertEqual(7 % 4, 2)\n\n    def test_ok(self):\n        pass\n"}, "test_a.py", 5, "test_wraps")
case("unittest-pass", "none", "python3", "python3 -m unittest -v test_a", {"test_a.py": "import unittest\n\nclass Errors(unittest.TestCase):\n    def test_error_path(self):\n        print('ERROR: simulated failure')\n\n    def test_fail_safe(self):\n        pass\n"})
# node
def js(name, cls, code, line=None, cause=None, run="node main.js", file="main.js", more=None, needs="node"):
    case(name, cls, needs, run, {"main.js": code, **(more or {})}, file if line else None, line, cause)
js("node-throw", "panic", "function gain(table) {\n  return table.gain.value;\n}\ngain({});\n", 2, "TypeError")
js("node-syntax", "compile", "const a = {\n  b: 1,\n  c: [2, 3\n};\n", 4, "SyntaxError")
js("node-no-module", "missing_dependency", "const frob = require('frobnicator');\n", None, "frobnicator")
js("node-rejection", "panic", "async function load() { throw new Error('no calibration'); }\nload();\n", 1, "no calibration")
js("node-reference", "panic", "console.log('errors: 0');\nconsole.log(cuonter);\n", 2, "cuonter")
js("node-refused", "network", "require('http').get('http://127.0.0.1:9/');\n", None, "ECONNREFUSED")
js("node-heap", "out_of_memory", "const a = [];\nfor (;;) a.push(new Array(1e5).fill(a.length));\n", run="node --max-old-space-size=20 main.js", cause="heap")
js("node-test-failure", "test_failure", "const test = require('node:test');\nconst assert = require('node:assert');\ntest('adds', () => { assert.strictEqual(1 + 1, 2); });\ntest('wraps around', () => {\n  assert.strictEqual(7 % 4, 2);\n});\n", None, "wraps around", run="node --test-reporter=spec --test main.js || true")
js("node-test-pass", "none", "const test = require('node:test');\ntest('handles error', () => {});\ntest('fails safely', () => {});\n", run="node --test-reporter=tap --test main.js")
js("node-test-tap-failure", "test_failure", "const test = require('node:test');\nconst assert = require('node:assert');\ntest('first', () => {});\ntest('second one', () => { assert.ok(false, 'no signal'); });\n", None, "second one", run="node --test-reporter=tap --test main.js")
js("tsc-types", "compile", "", 2, "TS2322", run="tsc --noEmit main.ts", file="main.ts", more={"main.ts": "const a: number = 1;\nconst b: string = a;\nexport { b };\n"}, needs="tsc")
js("tsc-no-module", "missing_dependency", "", 1, "frobnicator", run="tsc --noEmit main.ts", file="main.ts", more={"main.ts": "import { frob } from 'frobnicator';\nexport const x = frob();\n"}, needs="tsc")
js("tsc-two-errors", "compile", "", 3, "TS2339", run="tsc --noEmit --strict main.ts", file="main.ts", more={"main.ts": "interface Point { x: number }\nexport function f(p: Point): number {\n  return p.y;\n}\nexport const n: number = 'a';\n"}, needs="tsc")
js("jest-failure", "test_failure", "module.exports = {};\n", 3, "ring", run="jest --rootDir . --no-cache", file="ring.test.js", more={"ring.test.js": "describe('ring', () => {\n  test('wraps', () => {\n    expect(7 % 4).toBe(2);\n  });\n  test('handles an error', () => {});\n});\n", "package.json": "{}"}, needs="jest")
js("jest-pass", "none", "module.exports = {};\n", run="jest --rootDir . --no-cache", more={"ring.test.js": "test('error: failed state', () => { console.error('ERROR: simulated'); });\n", "package.json": "{}"}, needs="jest")
js("mocha-failure", "test_failure", "const assert = require('assert');\ndescribe('ring', function () {\n  it('is empty', function () {});\n  it('wraps', function () { assert.equal(7 % 4, 2); });\n});\n", None, "wraps", run="mocha main.js", needs="mocha")
js("npm-missing-script", "configuration", "", None, "lint", run="npm run lint", more={"package.json": "{\"name\": \"x\", \"version\": \"1.0.0\", \"scripts\": {}}"}, needs="npm")
js("npm-test-follow-up", "panic", "null.f();\n", 1, "TypeError", run="npm test", more={"package.json": "{\"name\": \"x\", \"version\": \"1.0.0\", \"scripts\": {\"test\": \"node main.js\"}}"}, needs="npm")
# go
def go(name, cls, code, line=None, cause=None, run="go run main.go", file="main.go", more=None):
    case(name, cls, "go", run, {"main.go": code, **(more or {})}, file if line else None, line, cause)
go("go-undefined", "compile", "package main\n\nfunc main() {\n\tprintln(couter)\n}\n", 4, "couter")
go("go-unused", "compile", "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tx := 1\n}\n", None, None)
go("go-types", "compile", "package main\n\nfunc main() {\n\tvar n int = \"four\"\n\tprintln(n)\n}\n", 4)
go("go-no-package", "missing_dependency", "package main\n\nimport \"example.com/frobnicator\"\n\nfunc main() { frobnicator.Run() }\n", 3, "example.com/frobnicator", run="go mod init x 2>/dev/null; go build ./...", )
go("go-panic-index", "panic", "package main\n\nimport \"os\"\n\nfunc main() {\n\ta := make([]int, len(os.Args))\n\tprintln(a[9])\n}\n", 7, "index out of range")
go("go-nil", "panic", "package main\n\ntype T struct{ n int }\n\nfunc get(t *T) int { return t.n }\n\nfunc main() {\n\tprintln(get(nil))\n}\n", 5, "nil pointer")
go("go-deadlock", "panic", "package main\n\nfunc main() {\n\tc := make(chan int)\n\tc <- 1\n}\n", 5, "deadlock")
go("go-test-failure", "test_failure", "package main\n\nfunc main() {}\n", 7, "TestWraps", run="go mod init x 2>/dev/null; go test ./...", file="a_test.go", more={"a_test.go": "package main\n\nimport \"testing\"\n\nfunc TestWraps(t *testing.T) {\n\tif 7%4 != 2 {\n\t\tt.Errorf(\"got %d, want 2\", 7%4)\n\t}\n}\n\nfunc TestErrorPath(t *testing.T) {}\n"})
go("go-test-pass", "none", "package main\n\nfunc main() {}\n", run="go mod init x 2>/dev/null; go test -v ./...", more={"a_test.go": "package main\n\nimport \"testing\"\n\nfunc TestErrorFails(t *testing.T) { t.Log(\"error: simulated failure\") }\n"})
go("go-test-timeout", "timeout", "package main\n\nfunc main() {}\n", None, None, run="go mod init x 2>/dev/null; go test -timeout 1s ./...", more={"a_test.go": "package main\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestWaits(t *testing.T) { time.Sleep(30 * time.Second) }\n"})
go("go-vet", "compile", "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Printf(\"%d\\n\", \"four\")\n}\n", 6, "Printf", run="go vet main.go")
# java
def java(name, cls, code, line=None, cause=None, run="javac Main.java && java Main", more=None):
    case(name, cls, "javac", run, {"Main.java": code, **(more or {})}, "Main.java" if line else None, line, cause)
java("javac-symbol", "compile", "public class Main {\n  public static void main(String[] a) {\n    System.out.println(couter);\n  }\n}\n", 3, "cannot find symbol")
java("javac-types", "compile", "public class Main {\n  int n = \"four\";\n  public static void main(String[] a) {}\n}\n", 2, "incompatible types")
java("javac-package", "missing_dependency", "import org.frobnicator.Frob;\npublic class Main {\n  public static void main(String[] a) { new Frob(); }\n}\n", 1, "org.frobnicator")
java("java-npe", "panic", "public class Main {\n  static int length(String s) { return s.length(); }\n  public static void main(String[] a) {\n    System.out.println(length(null));\n  }\n}\n", 2, "NullPointerException")
java("java-caused-by", "panic", "public class Main {\n  public static void main(String[] a) {\n    try {\n      Integer.parseInt(\"x\");\n    } catch (NumberFormatException e) {\n      throw new IllegalStateException(\"bad settings\", e);\n    }\n  }\n}\n", None, None)
java("java-heap", "out_of_memory", "import java.util.*;\npublic class Main {\n  public static void main(String[] a) {\n    List<int[]> l = new ArrayList<>();\n    for (;;) l.add(new int[1 << 20]);\n  }\n}\n", None, "heap", run="javac Main.java && java -Xmx16m Main")
java("java-no-class", "missing_dependency", "public class Main {}\n", None, "Missing", run="java Missing")
JU = "import org.junit.Test;\nimport static org.junit.Assert.*;\npublic class Main {\n  @Test public void wraps() { assertEquals(2, 7 % 4); }\n  @Test public void errorPath() {}\n}\n"
java("junit-failure", "test_failure", JU, 4, "wraps", run="CP=/usr/share/java/junit4.jar:/usr/share/java/hamcrest-core.jar:. ; javac -cp $CP Main.java && java -cp $CP org.junit.runner.JUnitCore Main")
java("junit-pass", "none", JU.replace("assertEquals(2", "assertEquals(3"), run="CP=/usr/share/java/junit4.jar:/usr/share/java/hamcrest-core.jar:. ; javac -cp $CP Main.java && java -cp $CP org.junit.runner.JUnitCore Main")
# shell and the machine
case("sh-not-found", "missing_tool", "bash", "frobnicate --all", {}, cause="frobnicate")
case("sh-not-found-in-script", "missing_tool", "sh", "sh build.sh", {"build.sh": "set -e\necho building\nfrob-flash --port 3\necho done\n"}, "build.sh", 3, "frob-flash")
case("sh-permission", "permission", "sh", "chmod 644 run.sh; ./run.sh", {"run.sh": "echo hi\n"}, cause="run.sh")
case("sh-no-file", "missing_dependency", "sh", "cat boards/none.cfg", {}, cause="boards/none.cfg")
case("sh-timeout", "timeout", "timeout", "timeout -v 1 sleep 20", {})
case("sh-disk-full", "disk_full", "sh", "head -c 1000 /dev/zero > /dev/full", {})
case("sh-dns", "network", "python3", "python3 -c \"import urllib.request; urllib.request.urlopen('http://no-such-host.invalid/')\"", {})
case("git-clone-refused", "network", "git", "git clone http://127.0.0.1:9/a.git", {}, cause="127.0.0.1")
case("git-not-a-repository", "configuration", "git", "cd / && git -C /usr status", {})
case("tap-plan-short", "crash", "sh", "sh t.sh", {"t.sh": "echo 1..4\necho ok 1 - boots\necho ok 2 - reads\nkill -SEGV $$\n"}, cause=None)
case("tap-failure", "test_failure", "sh", "sh t.sh", {"t.sh": "echo TAP version 13\necho 1..3\necho ok 1 - boots\necho 'not ok 2 - reads the error register'\necho '  ---'\necho '  message: got 0x10, want 0x00'\necho '  ...'\necho ok 3 - sleeps\n"}, cause="reads the error register")
case("tap-todo", "none", "sh", "sh t.sh", {"t.sh": "echo 1..2\necho ok 1 - boots\necho 'not ok 2 - sleeps # TODO not written yet'\n"})
case("build-log-harmless", "none", "sh", "sh t.sh", {"t.sh": "echo '-- Looking for strerror - found'\necho '-- Performing Test HAVE_ERROR_H - Failed'\necho '[ 50%] Building C object src/error.c.o'\necho '[ 75%] Building C object src/panic_handler.c.o'\necho '[100%] Linking C executable failover'\necho '[100%] Built target failover'\n"})
case("retry-then-pass", "none", "sh", "sh t.sh", {"t.sh": "echo 'connect: Connection refused, retrying (1/3)'\necho 'connected'\necho '100% tests passed, 0 tests failed out of 12'\n"})

# firmware: Cortex-M3 in QEMU
LD = "MEMORY { FLASH (rx) : ORIGIN = 0, LENGTH = 256K  RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 64K }\nENTRY(Reset)\nSECTIONS { .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } > FLASH  .data : { *(.data*) } > RAM AT > FLASH  .bss : { *(.bss*) } > RAM }\n"
START = r'''
typedef unsigned int u32;
#define UART ((volatile u32 *)0x40004000)
static void putc_(char c) { while (UART[1] & 1) ; UART[0] = c; }
static void put(const char *s) { while (*s) putc_(*s++); }
static void hex(const char *n, u32 v) { put(n); put("0x"); for (int i = 28; i >= 0; i -= 4) putc_("0123456789abcdef"[v >> i & 15]); put("\r\n"); }
static void leave(u32 code) { u32 block[2] = {0x20026, code}; register u32 r0 __asm__("r0") = 0x20; register void *r1 __asm__("r1") = block; __asm__ volatile("bkpt 0xab" :: "r"(r0), "r"(r1) : "memory"); for (;;) ; }
int test(void);
void Reset(void) { UART[2] = 1; UART[4] = 16; put("boot: ring firmware 1.4.2\r\n"); leave(test()); }
'''
FAULT = r'''
void fault_c(u32 *f) { put("*** HardFault ***\r\n"); hex("pc=", f[6]); hex("lr=", f[5]); hex("cfsr=", *(volatile u32 *)0xE000ED28); hex("hfsr=", *(volatile u32 *)0xE000ED2C); leave(139); }
__attribute__((naked)) void Fault(void) { __asm__ volatile("mrs r0, msp\n b fault_c"); }
'''
VEC = "__attribute__((section(\".vectors\"), used)) void *const vectors[16] = {(void *)0x20010000, Reset, %s, %s, %s, %s, %s};\n"
def fw(name, cls, body, handler=True, cause=None, shown="", tail=""):
    h = "Fault" if handler else "0"
    vec = VEC % (h, h, h, h, h)
    code = START + (FAULT if handler else "") + body + vec
    run = ("arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -O1 -w -ffreestanding -nostdlib -T fw.ld fw.c -o fw.elf && " + shown +
           "timeout -v 10 qemu-system-arm -M mps2-an385 -kernel fw.elf -display none -monitor none -serial stdio -semihosting-config enable=on,target=native" + tail + "; echo exit $?")
    case(name, cls, "arm-none-eabi-gcc qemu-system-arm", run, {"fw.c": code, "fw.ld": LD}, cause=cause)
fw("fw-pass", "none", 'int test(void) { put("test_error_register:PASS\\r\\n"); put("2 Tests 0 Failures 0 Ignored\\r\\nOK\\r\\n"); return 0; }\n')
fw("fw-hardfault-bus", "hard_fault", 'int test(void) { put("test_dma: start\\r\\n"); return *(volatile u32 *)0x90000000; }\n', cause="HardFault")
fw("fw-hardfault-unaligned-jump", "hard_fault", 'int test(void) { put("jumping\\r\\n"); ((void (*)(void))0x20000100)(); return 0; }\n')
fw("fw-lockup", "hard_fault", 'int test(void) { put("reading sensor\\r\\n"); return *(volatile u32 *)0x90000000; }\n', handler=False, cause="Lockup")
fw("fw-fault-after-pass", "hard_fault", 'int test(void) { put("test/test_ring.c:12:test_push:PASS\\r\\n"); put("1 Tests 0 Failures 0 Ignored\\r\\nOK\\r\\n"); return *(volatile u32 *)0x90000000; }\n')
fw("fw-assert", "assertion", 'int test(void) { put("ASSERT failed: head < RING_SIZE at src/ring.c:88\\r\\n"); return 1; }\n', cause="head < RING_SIZE")
fw("fw-unity-failure", "test_failure", 'int test(void) { put("test/test_ring.c:12:test_push:PASS\\r\\n"); put("test/test_ring.c:40:test_wraps:FAIL: Expected 0x03 Was 0x07\\r\\n"); put("\\r\\n2 Tests 1 Failures 0 Ignored\\r\\nFAIL\\r\\n"); return 1; }\n', cause="test_wraps")
fw("fw-hang", "timeout", 'int test(void) { put("waiting for DMA\\r\\n"); for (;;) ; }\n')
fw("fw-watchdog", "watchdog_reset", 'int test(void) { put("test_sleep: start\\r\\n"); put("reset cause: WDT (watchdog timeout)\\r\\nboot: ring firmware 1.4.2\\r\\n"); return 1; }\n')
fw("fw-stack-overflow", "hard_fault", 'static u32 deep(u32 n) { volatile u32 a[64]; a[n % 64] = n; return deep(n + 1) + a[3]; }\nint test(void) { put("recursing\\r\\n"); return deep(0); }\n')
fw("fw-truncated", "crash", 'int test(void) { put("1..3\\r\\nok 1 - boots\\r\\n"); leave(0); }\n')
case("fw-freertos-stack", "crash", "sh", "sh t.sh", {"t.sh": "echo '[00:00:01.204] task ADC started'\necho '[00:00:01.210] vApplicationStackOverflowHook: task ADC'\necho 'rebooting'\n"}, cause="ADC")
case("fw-zephyr-fault", "hard_fault", "sh", "sh t.sh", {"t.sh": "echo '*** Booting Zephyr OS build v3.5.0 ***'\necho '[00:00:00.010,000] <err> os: ***** MPU FAULT *****'\necho '[00:00:00.010,000] <err> os:   Data Access Violation'\necho '[00:00:00.010,000] <err> os: Faulting instruction address (r15/pc): 0x000012a4'\necho '[00:00:00.010,000] <err> os: >>> ZEPHYR FATAL ERROR 19: Unknown error on CPU 0'\necho '[00:00:00.010,000] <err> os: Current thread: 0x20000120 (sensor)'\n"}, cause="MPU FAULT")
case("fw-kernel-panic", "panic", "sh", "sh t.sh", {"t.sh": "echo '[    1.120000] VFS: Cannot open root device \"mmcblk0p2\" or unknown-block(0,0): error -6'\necho '[    1.130000] Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)'\n"}, cause="Unable to mount root fs")
case("fw-oom-killer", "out_of_memory", "sh", "sh t.sh", {"t.sh": "echo 'collector: started'\necho '[ 812.331] Out of memory: Killed process 411 (collector) total-vm:812332kB, anon-rss:401220kB'\necho Killed\n"}, cause="collector")
case("fw-esp-brownout", "watchdog_reset", "sh", "sh t.sh", {"t.sh": "echo 'E (10234) task_wdt: Task watchdog got triggered. The following tasks did not reset the watchdog in time:'\necho 'E (10234) task_wdt:  - IDLE (CPU 0)'\necho 'rst:0x8 (TG1WDT_SYS_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)'\n"}, cause="watchdog")
case("fw-openocd-no-target", "network", "sh", "sh t.sh", {"t.sh": "echo 'Open On-Chip Debugger 0.12.0'\necho 'Info : Listening on port 6666 for tcl connections'\necho 'Error: unable to open ftdi device with description'\n"}, cause="ftdi")
case("fw-serial-busy", "permission", "sh", "sh t.sh", {"t.sh": "echo 'A fatal error occurred: Could not open /dev/ttyUSB0, the port is busy or does not exist.'\necho \"([Errno 13] could not open port /dev/ttyUSB0: [Errno 13] Permission denied: '/dev/ttyUSB0')\"\n"}, cause="/dev/ttyUSB0")

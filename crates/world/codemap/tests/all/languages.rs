//! The symbols that are found in each language.

use expect_test::{Expect, expect};

use crate::Folder;

/// Checks every symbol of a file with its kind.
fn check(path: &str, text: &str, expected: Expect) {
    let map = Folder::new(&[(path, text)]).map("");
    let symbols = map.entries.iter().flat_map(|entry| &entry.symbols);
    let lines = symbols.map(|it| format!("{}-{} {} {}: {}\n", it.line, it.end_line, it.kind, it.name, it.signature));
    let language = map.languages.first().map_or("", |one| one.language);
    expected.assert_eq(&format!("{language}\n{}", lines.collect::<String>()));
}

#[test]
fn c_has_functions_types_and_macros() {
    check(
        "ring.c",
        "#define SIZE 16\n#define NEXT(at) (((at) + 1) % SIZE)\nstruct ring { int head; };\ntypedef unsigned long word_t;\n\
         enum state { IDLE };\nint ring_pop(struct ring *r);\nstatic int ring_push(struct ring *r,\n                     int value)\n{\n    return NEXT(r->head);\n}\n\
         char **names(void) { return 0; }\n",
        expect![[r#"
            c
            1-1 macro SIZE: #define SIZE 16
            2-2 macro NEXT: #define NEXT(at) (((at) + 1) % SIZE)
            3-3 struct ring: struct ring
            4-4 type word_t: typedef unsigned long word_t
            5-5 enum state: enum state
            6-6 prototype ring_pop: int ring_pop(struct ring *r)
            7-11 function ring_push: static int ring_push(struct ring *r, int value)
            12-12 function names: char **names(void)
        "#]],
    );
}

#[test]
fn cpp_has_classes_and_their_functions() {
    check(
        "ring.hpp",
        "namespace io {\ntemplate <typename T> class Ring {\npublic:\n  Ring();\n  void push(const T &value);\n  T &front() { return data[0]; }\n};\n}\n\
         void io::Ring<int>::push(const int &value) {}\nusing Ints = io::Ring<int>;\n",
        expect![[r#"
            c++
            1-8 namespace io: namespace io
            2-7 class Ring: class Ring
            4-4 prototype Ring: Ring()
            5-5 prototype push: void push(const T &value)
            6-6 function front: T &front()
            9-9 function push: void io::Ring<int>::push(const int &value)
            10-10 type Ints: using Ints = io::Ring<int>
        "#]],
    );
}

#[test]
fn rust_has_functions_types_traits_and_constants() {
    check(
        "src/ring.rs",
        "pub const SIZE: usize = 16;\npub struct Ring<T> { data: Vec<T> }\npub trait Queue { fn push(&mut self, value: u8); }\n\
         impl Queue for Ring<u8> {\n    fn push(&mut self, value: u8) {\n        self.data.push(value);\n    }\n}\nmod tests { }\nmod other;\nmacro_rules! ring { () => {} }\n",
        expect![[r#"
            rust
            1-1 constant SIZE: pub const SIZE: usize = 16
            2-2 struct Ring: pub struct Ring<T>
            3-3 trait Queue: pub trait Queue
            3-3 prototype push: fn push(&mut self, value: u8)
            5-7 function push: fn push(&mut self, value: u8)
            9-9 module tests: mod tests
            11-11 macro ring: macro_rules! ring { () => {} }
        "#]],
    );
}

#[test]
fn python_has_classes_functions_and_variables() {
    check(
        "ring.py",
        "SIZE = 16\n\nclass Ring(Base):\n    def push(self, value: int) -> None:\n        local = 1\n\n@cached\nasync def main():\n    pass\n",
        expect![[r#"
            python
            1-1 variable SIZE: SIZE = 16
            3-5 class Ring: class Ring(Base)
            4-5 function push: def push(self, value: int) -> None
            8-9 function main: async def main()
        "#]],
    );
}

#[test]
fn javascript_has_functions_under_every_assigned_name() {
    check(
        "ring.js",
        "export const SIZE = 16;\nexport class Ring { push(value) { return value; } }\nfunction make() {}\nconst next = (at) => at + 1;\n\
         module.exports.old = function () {};\nconst local = 3;\n",
        expect![[r#"
            javascript
            1-1 variable SIZE: SIZE = 16
            2-2 class Ring: class Ring
            2-2 method push: push(value)
            3-3 function make: function make()
            4-4 function next: next = (at) =>
            5-5 function old: module.exports.old = function ()
        "#]],
    );
}

#[test]
fn typescript_has_interfaces_types_and_enums() {
    check(
        "ring.ts",
        "export interface Queue { push(value: number): void }\nexport type Size = 16 | 32;\nexport enum State { Idle }\n\
         export abstract class Ring implements Queue {\n  abstract push(value: number): void;\n  get head(): number { return 0; }\n}\nexport const next = (at: number): number => at + 1;\n",
        expect![[r#"
            typescript
            1-1 interface Queue: interface Queue
            1-1 prototype push: push(value: number): void
            2-2 type Size: type Size = 16 | 32
            3-3 enum State: enum State
            4-7 class Ring: abstract class Ring implements Queue
            5-5 prototype push: abstract push(value: number): void
            6-6 method head: get head(): number
            8-8 function next: next = (at: number): number =>
        "#]],
    );
    check(
        "view.tsx",
        "export const View = (props: Props) => <div>{props.name}</div>;\n",
        expect![[r#"
        typescript
        1-1 function View: View = (props: Props) =>
    "#]],
    );
}

#[test]
fn go_has_functions_methods_and_types() {
    check(
        "ring.go",
        "package ring\n\nconst Size = 16\n\nvar table = map[string]int{}\n\ntype Ring struct {\n\thead int\n}\n\ntype Queue interface{ Push(int) }\n\n\
         func (r *Ring) Push(value int) error {\n\treturn nil\n}\n\nfunc New() *Ring { return &Ring{} }\n",
        expect![[r#"
            go
            3-3 constant Size: Size = 16
            5-5 variable table: table = map[string]int{}
            7-9 type Ring: Ring struct { head int }
            11-11 type Queue: Queue interface{ Push(int) }
            13-15 method Push: func (r *Ring) Push(value int) error
            17-17 function New: func New() *Ring
        "#]],
    );
}

#[test]
fn java_has_classes_records_and_methods() {
    check(
        "Ring.java",
        "package a;\npublic final class Ring implements Queue {\n  public Ring() {}\n  @Override\n  public void push(int value) { }\n}\n\
         interface Queue { void push(int value); }\nrecord Pair(int a, int b) {}\nenum State { IDLE }\n",
        expect![[r#"
            java
            2-6 class Ring: public final class Ring implements Queue
            3-3 constructor Ring: public Ring()
            4-5 method push: @Override public void push(int value)
            7-7 interface Queue: interface Queue
            7-7 method push: void push(int value)
            8-8 record Pair: record Pair(int a, int b)
            9-9 enum State: enum State
        "#]],
    );
}

#[test]
fn dart_has_classes_mixins_and_functions() {
    check(
        "ring.dart",
        "const size = 16;\nclass Ring extends Base {\n  Ring(this.head);\n  int head;\n  void push(int value) {\n    head = value;\n  }\n  int get tail => head;\n}\n\
         mixin Walks on Ring {}\nextension More on Ring {}\nenum State { idle }\ntypedef Callback = void Function(int);\nint next(int at) => at + 1;\n",
        expect![[r#"
            dart
            1-1 constant size: const size = 16
            2-9 class Ring: class Ring extends Base
            3-3 constructor Ring: Ring(this.head)
            5-7 method push: void push(int value)
            8-8 method tail: int get tail
            10-10 mixin Walks: mixin Walks on Ring
            11-11 extension More: extension More on Ring
            12-12 enum State: enum State
            13-13 type Callback: typedef Callback = void Function(int)
            14-14 function next: int next(int at)
        "#]],
    );
}

#[test]
fn a_header_has_the_language_of_its_content() {
    check(
        "a.h",
        "int ring_pop(void);\n",
        expect![[r#"
        c
        1-1 prototype ring_pop: int ring_pop(void)
    "#]],
    );
    check(
        "b.h",
        "class Ring { void push(); };\n",
        expect![[r#"
        c++
        1-1 class Ring: class Ring
        1-1 prototype push: void push()
    "#]],
    );
}

#[test]
fn broken_code_has_symbols() {
    check(
        "broken.c",
        "int good(void) { return 0; }\nint bad( { if (\n\nint after(void) { return 1; }\n",
        expect![[r#"
        c
        1-1 function good: int good(void)
    "#]],
    );
}

#[test]
fn assigned_strings_are_not_shown() {
    check(
        "keys.py",
        "TOKEN = 'tok-4711'\nSIZE = 16\n",
        expect![[r#"
        python
        1-1 variable TOKEN: TOKEN = …
        2-2 variable SIZE: SIZE = 16
    "#]],
    );
    check(
        "keys.h",
        "#define PASSWORD \"hunter2\"\n",
        expect![[r#"
        c
        1-1 macro PASSWORD: #define PASSWORD …
    "#]],
    );
}

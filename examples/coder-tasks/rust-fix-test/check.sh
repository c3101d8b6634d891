grep -q 'fn words_are_joined_by_one_dash' lib.rs
mkdir -p build
cat > build/checked.rs <<'END'
#[path = "../lib.rs"]
mod lib;
fn main() {
    assert_eq!(lib::slug(" A  b   C"), "a-b-c");
}
END
rustc --edition 2021 build/checked.rs -o build/checked
./build/checked

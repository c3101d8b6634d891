//! Prints its arguments, each cut to 20 characters.

fn line(word: Option<String>) -> String {
    text::cut(&word.unwrap_or_default(), 20)
}

fn main() {
    for word in std::env::args().skip(1) {
        println!("{}", line(Some(word)));
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_is_empty() {
        assert_eq!(super::line(None), "");
    }
}

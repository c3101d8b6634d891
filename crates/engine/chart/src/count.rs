//! Counts with a noun in the matching form, singular or plural.

use std::fmt::Display;

/// Formats a count with its noun and verb: `1 file is`, `2 files are`.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    let words = if count == N::from(1) { one } else { many };
    format!("{count} {words}")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn only_a_count_of_one_is_singular() {
        let said = [0_usize, 1, 2].map(|count| counted(count, "file is", "files are"));
        assert_eq!(said, ["0 files are", "1 file is", "2 files are"]);
    }
}

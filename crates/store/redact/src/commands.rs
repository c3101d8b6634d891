//! Programs that take a password through an option without a telling name: `mysql -pVALUE`, `curl -u NAME:VALUE`.

use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::value::{self, Style};

/// The maximum length of a command line that is examined.
const LINE_BYTES_MAX: usize = 512;

/// The rule for one program.
pub(crate) struct Rule {
    /// The program's name, which triggers the rule.
    pub(crate) hint: &'static str,
    form: Option<Regex>,
}

/// The program, and a pattern for the line from there on, with the secret as its group.
#[rustfmt::skip]
const ROWS: [(&str, &str); 9] = [
    ("mysql", r#"mysql(?:dump|admin|import|show|check)?\b[^|;&\n]*?\s-p'?"?([^\s'"|;&\\]+)"#),
    ("mariadb", r#"mariadb(?:-\w+)?\b[^|;&\n]*?\s-p'?"?([^\s'"|;&\\]+)"#),
    ("sshpass", r#"sshpass\s+-p\s*'?"?([^\s'"|;&\\]+)"#),
    ("curl", r#"curl\b[^|;\n]*?\s(?:-u\s*|--user[ =]+)'?"?[^\s:'"]*:([^\s'"|;&\\]+)"#),
    ("wget", r#"wget\b[^|;&\n]*?\s--(?:http-)?password[ =]'?"?([^\s'"|;&\\]+)"#),
    ("redis-cli", r#"redis-cli\b[^|;&\n]*?\s-a\s+'?"?([^\s'"|;&\\]+)"#),
    ("docker login", r#"docker login\b[^|;&\n]*?\s-p\s+'?"?([^\s'"|;&\\]+)"#),
    ("ldapsearch", r#"ldapsearch\b[^|;&\n]*?\s-w\s+'?"?([^\s'"|;&\\]+)"#),
    ("7z", r#"7z\w?\s[^|;&\n]*?\s-p'?"?([^\s'"|;&\\]+)"#),
];

/// Returns the rules of all programs.
pub(crate) fn all() -> &'static [Rule] {
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| ROWS.iter().map(Rule::new).collect());
    &RULES
}

impl Rule {
    fn new(&(hint, form): &(&'static str, &'static str)) -> Self {
        Rule { hint, form: Regex::new(&format!("^(?-u:{form})")).ok() }
    }

    /// Returns the range of the secret in a command line that has this program at `at`.
    pub(crate) fn find(&self, text: &[u8], at: usize) -> Option<(usize, usize)> {
        let line = &text[at..text.len().min(at + LINE_BYTES_MAX)];
        let found = self.form.as_ref()?.captures(line)?.get(1)?;
        value::is_password(found.as_bytes(), Style::Given).then_some((at + found.start(), at + found.end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_a_regular_expression() {
        for rule in all() {
            assert!(rule.form.is_some(), "{}", rule.hint);
        }
    }
}

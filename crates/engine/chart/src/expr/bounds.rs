//! The maximum size of an expression.
//!
//! The parser, the checker and the evaluator recurse once for each level of an expression, and a chain of thousands of
//! links would overflow the stack. So the text is measured first, by a scan that does not recurse.

use super::tokens::{Kind, tokens};

/// The maximum length of an expression in characters.
pub const SOURCE_CHARS_MAX: usize = 4_096;

/// The maximum nesting depth of brackets, conditionals and signs.
pub const NESTING_MAX: usize = 64;

/// The maximum number of operators in an expression. Selections, calls and indexing count.
pub const OPERATORS_MAX: usize = 256;

/// The bound that an expression exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Excess {
    Characters(usize),
    /// The nesting depth; holds the byte offset at which the bound is exceeded.
    Nesting(usize),
    /// The number of operators; holds the byte offset at which the bound is exceeded.
    Operators(usize),
}

impl Excess {
    pub(super) fn message(self) -> String {
        match self {
            Excess::Characters(length) => {
                format!("the expression has {length} characters, more than {SOURCE_CHARS_MAX}")
            }
            Excess::Nesting(_) => format!("the expression nests deeper than {NESTING_MAX} levels"),
            Excess::Operators(_) => format!("the expression has more than {OPERATORS_MAX} operators"),
        }
    }
}

/// Checks `source` against the bounds.
pub(super) fn measure(source: &str) -> Result<(), Excess> {
    // The number of bytes is known without a scan and is never less than the number of characters.
    if source.len() > SOURCE_CHARS_MAX {
        let length = source.chars().count();
        if length > SOURCE_CHARS_MAX {
            return Err(Excess::Characters(length));
        }
    }
    let mut meter = Meter::default();
    for token in tokens(source) {
        meter.take(token.kind, &source[token.range.clone()]);
        if meter.depth() > NESTING_MAX {
            return Err(Excess::Nesting(token.range.start));
        }
        if meter.operators > OPERATORS_MAX {
            return Err(Excess::Operators(token.range.start));
        }
    }
    Ok(())
}

/// The state of a scan.
#[derive(Default)]
struct Meter {
    /// The number of conditionals begun inside each open bracket.
    open: Vec<usize>,
    /// The number of conditionals begun since the last bracket.
    conditionals: usize,
    /// The sum of all numbers in `open`.
    outer_conditionals: usize,
    /// The number of consecutive `!` and `-` signs.
    signs: usize,
    operators: usize,
    /// True if a value ends here, so that `[`, `(` and `-` belong to it.
    after_value: bool,
}

impl Meter {
    fn depth(&self) -> usize {
        self.open.len() + self.outer_conditionals + self.conditionals + self.signs
    }

    fn take(&mut self, kind: Kind, text: &str) {
        let before_value = !self.after_value;
        match (kind, text) {
            (Kind::Blank, _) => return,
            (Kind::Sign, "(" | "[" | "{") => {
                self.operators += usize::from(self.after_value);
                self.outer_conditionals += self.conditionals;
                self.open.push(std::mem::take(&mut self.conditionals));
            }
            (Kind::Sign, ")" | "]" | "}") => {
                self.conditionals = self.open.pop().unwrap_or(0);
                self.outer_conditionals -= self.conditionals.min(self.outer_conditionals);
            }
            (Kind::Sign, ",") => self.conditionals = 0,
            (Kind::Sign, "?") => {
                self.conditionals += 1;
                self.operators += 1;
            }
            (Kind::Sign, ":") => {}
            (Kind::Sign, _) | (Kind::Word, "in") => self.operators += 1,
            (Kind::Word | Kind::Number | Kind::Text, _) => {}
        }
        let is_sign = before_value && matches!(text, "!" | "-");
        self.signs = if is_sign { self.signs + 1 } else { 0 };
        self.after_value = match kind {
            Kind::Sign => matches!(text, ")" | "]" | "}"),
            _ => text != "in",
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: Result<(), Excess>) {
        assert_eq!(measure(source), expected, "{}", source.chars().take(40).collect::<String>());
    }

    #[test]
    fn an_expression_may_reach_each_bound() {
        check(&format!("'{}'", "é".repeat(SOURCE_CHARS_MAX - 2)), Ok(()));
        check(&format!("{}1{}", "(".repeat(NESTING_MAX), ")".repeat(NESTING_MAX)), Ok(()));
        check(&format!("{}a", "!".repeat(NESTING_MAX)), Ok(()));
        check(&format!("a{}", "+a".repeat(OPERATORS_MAX)), Ok(()));
        check(&format!("[{}1]", "a ? b : c, ".repeat(100)), Ok(()));
    }

    #[test]
    fn an_expression_that_exceeds_a_bound_is_refused() {
        let length = SOURCE_CHARS_MAX + 1;
        check(&format!("'{}'", "é".repeat(length - 2)), Err(Excess::Characters(length)));
        check(&"(".repeat(NESTING_MAX + 1), Err(Excess::Nesting(NESTING_MAX)));
        check(&"([{f(".repeat(NESTING_MAX), Err(Excess::Nesting(80)));
        check(&"a?b:".repeat(NESTING_MAX + 1), Err(Excess::Nesting(NESTING_MAX * 4 + 1)));
        check(&"a?(b:".repeat(NESTING_MAX), Err(Excess::Nesting(161)));
        check(&"! ".repeat(NESTING_MAX + 1), Err(Excess::Nesting(NESTING_MAX * 2)));
        check(&format!("a{}", "+a".repeat(OPERATORS_MAX + 1)), Err(Excess::Operators(OPERATORS_MAX * 2 + 1)));
        check(&format!("a{}", ".b".repeat(OPERATORS_MAX + 1)), Err(Excess::Operators(OPERATORS_MAX * 2 + 1)));
        check(&format!("a{}", "[0]".repeat(OPERATORS_MAX + 1)), Err(Excess::Operators(OPERATORS_MAX * 3 + 1)));
        check(&format!("a{}", "()".repeat(OPERATORS_MAX + 1)), Err(Excess::Operators(OPERATORS_MAX * 2 + 1)));
    }
}

//! The names of the templates, their prior probabilities, and their record of correct repairs.

use std::fmt;

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Template {
    /// `<` for `<=`, `>` for `>=`, and the reverse.
    Boundary,
    /// Another comparison operator, such as `==` for `!=`.
    Comparison,
    /// An expression plus one or minus one.
    OffByOne,
    /// Another arithmetic, bitwise or shift operator.
    Operator,
    /// `&&` for `||`, and the reverse.
    Logic,
    /// Parentheses for another order of evaluation.
    Precedence,
    /// The operands are swapped.
    SwappedOperands,
    /// Two arguments are swapped.
    SwappedArguments,
    /// Another assignment operator, such as `|=` for `=`.
    Assignment,
    /// `++` for `--`, prefix for postfix.
    Step,
    /// `!`, `~`, `-`, `&` or `*` added or removed.
    Unary,
    /// A mask: its complement, or one less than a power of two.
    Mask,
    /// Another number in place of a literal.
    Number,
    /// Another named constant of the enumeration, or with a similar name.
    NamedConstant,
    /// Another variable or field of the same type.
    Variable,
    /// Another index into an array.
    Index,
    /// Another function with the same signature.
    Function,
    /// A condition is negated.
    Negated,
    /// A condition that is true less often.
    Strengthened,
    /// A condition that is true more often.
    Weakened,
    /// A missing term is added: an offset, a factor, a flag.
    MissingTerm,
    /// A superfluous term is removed.
    ExtraTerm,
    /// The expression is written as elsewhere in the file.
    AsElsewhere,
    /// A division that rounds to the nearest or up.
    Rounding,
    /// Another type of a variable, parameter or field.
    Type,
    /// A cast is added, removed or changed.
    Cast,
    /// A declaration becomes `volatile`.
    Volatile,
    /// A variable gets an initial value.
    Initialisation,
    /// A format of `printf` that fits its argument.
    Format,
    /// A `break` at the end of a case.
    Break,
    /// A `return` at the end of a block.
    Return,
    /// Another value in a `return` statement.
    ReturnValue,
    /// A check for a null pointer is added.
    NullCheck,
    /// A check for a value out of range is added.
    RangeCheck,
    /// A check for an overflow is added.
    OverflowCheck,
    /// A missing statement is added.
    MissingStatement,
    /// Two statements are swapped.
    SwappedStatements,
    /// A statement is removed. This comes last, because deleted code cannot fail.
    Delete,
    /// Two changes that each repaired a part.
    Combined,
}

/// The name, the prior probability (0 to 1), and the factor by which the odds of being correct exceed those of an
/// average template.
struct Facts(&'static str, f64, f64);

impl Template {
    /// Returns the template's name in reports.
    pub fn name(self) -> &'static str {
        self.facts().0
    }

    /// Returns the prior probability, 0 to 1, independent of the place.
    pub fn prior(self) -> f64 {
        self.facts().1
    }

    /// Returns the factor by which the odds of being correct, once all cases pass, exceed those of an average template.
    pub(crate) fn odds(self) -> f64 {
        self.facts().2
    }

    /// Returns the exponent of the line's score. A large change of a line breaks the cases that passed with it, so if
    /// many passing cases execute a line, a small change is more likely.
    pub(crate) fn line_power(self) -> f64 {
        match self {
            Template::Boundary
            | Template::OffByOne
            | Template::Rounding
            | Template::Cast
            | Template::Type
            | Template::Volatile => 1.1,
            Template::OverflowCheck
            | Template::RangeCheck
            | Template::Weakened
            | Template::Strengthened
            | Template::Number => 1.3,
            Template::Comparison
            | Template::Negated
            | Template::Operator
            | Template::SwappedOperands
            | Template::SwappedArguments => 2.1,
            Template::ReturnValue | Template::Unary | Template::Step | Template::Function | Template::Logic => 2.1,
            _ => 1.6,
        }
    }

    fn facts(self) -> Facts {
        match self {
            Template::Boundary => Facts("boundary", 0.90, 4.0),
            Template::Comparison => Facts("comparison", 0.50, 2.0),
            Template::OffByOne => Facts("off-by-one", 0.50, 3.0),
            Template::Operator => Facts("operator", 0.35, 2.0),
            Template::Logic => Facts("logic", 0.60, 3.0),
            Template::Precedence => Facts("precedence", 0.20, 2.0),
            Template::SwappedOperands => Facts("swapped-operands", 0.25, 2.0),
            Template::SwappedArguments => Facts("swapped-arguments", 0.35, 3.0),
            Template::Assignment => Facts("assignment", 0.55, 3.0),
            Template::Step => Facts("step", 0.30, 2.0),
            Template::Unary => Facts("unary", 0.50, 3.0),
            Template::Mask => Facts("mask", 0.55, 3.0),
            Template::Number => Facts("number", 0.40, 1.5),
            Template::NamedConstant => Facts("named-constant", 0.45, 3.0),
            Template::Variable => Facts("variable", 0.40, 2.5),
            Template::Index => Facts("index", 0.45, 2.5),
            Template::Function => Facts("function", 0.35, 3.0),
            Template::Negated => Facts("negated", 0.45, 1.5),
            Template::Strengthened => Facts("strengthened", 0.25, 1.5),
            Template::Weakened => Facts("weakened", 0.25, 1.5),
            Template::MissingTerm => Facts("missing-term", 0.28, 2.0),
            Template::ExtraTerm => Facts("extra-term", 0.25, 1.5),
            Template::AsElsewhere => Facts("as-elsewhere", 0.22, 2.0),
            Template::Rounding => Facts("rounding", 0.20, 3.0),
            Template::Type => Facts("type", 0.30, 3.0),
            Template::Cast => Facts("cast", 0.35, 3.0),
            Template::Volatile => Facts("volatile", 0.60, 4.0),
            Template::Initialisation => Facts("initialisation", 0.50, 3.0),
            Template::Format => Facts("format", 0.50, 4.0),
            Template::Break => Facts("break", 0.60, 3.0),
            Template::Return => Facts("return", 0.30, 2.0),
            Template::ReturnValue => Facts("return-value", 0.35, 1.5),
            Template::NullCheck => Facts("null-check", 0.30, 2.0),
            Template::RangeCheck => Facts("range-check", 0.25, 2.0),
            Template::OverflowCheck => Facts("overflow-check", 0.20, 2.0),
            Template::MissingStatement => Facts("missing-statement", 0.28, 2.0),
            Template::SwappedStatements => Facts("swapped-statements", 0.12, 1.5),
            Template::Delete => Facts("delete", 0.01, 0.25),
            Template::Combined => Facts("combined", 0.50, 1.0),
        }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

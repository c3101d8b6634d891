//! The names of the templates, how likely each is to be what is needed, and how often it has been right.

use std::fmt;

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Template {
    /// `<` for `<=`, `>` for `>=`, and back.
    Boundary,
    /// Another comparison.
    Comparison,
    /// One more or one less than an expression says.
    OffByOne,
    /// Another arithmetic, bitwise or shift operator.
    Operator,
    /// `&&` for `||`, and back.
    Logic,
    /// Another order of evaluation: parentheses.
    Precedence,
    /// Operands the other way round.
    SwappedOperands,
    /// Arguments the other way round.
    SwappedArguments,
    /// Another assignment operator.
    Assignment,
    /// `++` for `--`, before for behind.
    Step,
    /// `!`, `~`, `-`, `&` or `*` put in or taken out.
    Unary,
    /// A mask: its complement, or one less than a power of two.
    Mask,
    /// Another number.
    Number,
    /// Another named constant.
    NamedConstant,
    /// Another variable or field of the type.
    Variable,
    /// Another index.
    Index,
    /// Another function of the same kind.
    Function,
    /// A condition turned over.
    Negated,
    /// A condition that holds less often.
    Strengthened,
    /// A condition that holds more often.
    Weakened,
    /// A term that was forgotten: an offset, a factor, a flag.
    MissingTerm,
    /// A term too many.
    ExtraTerm,
    /// Written as it is elsewhere in the file.
    AsElsewhere,
    /// Division that rounds to the nearest or up.
    Rounding,
    /// Another type of a variable, parameter or field.
    Type,
    /// Another cast.
    Cast,
    /// `volatile`.
    Volatile,
    /// A variable that starts with a value.
    Initialisation,
    /// A format of `printf` that fits its argument.
    Format,
    /// `break` at the end of a case.
    Break,
    /// `return` at the end of a block.
    Return,
    /// Another value that is returned.
    ReturnValue,
    /// A check for a null pointer.
    NullCheck,
    /// A check for a value out of range.
    RangeCheck,
    /// A check for an overflow.
    OverflowCheck,
    /// A statement that was forgotten.
    MissingStatement,
    /// Two statements the other way round.
    SwappedStatements,
    /// A statement too many. Last of all: what is not done cannot fail.
    Delete,
    /// Two changes that each repaired a part.
    Combined,
}

/// Name, how likely it is to be what is needed (0 to 1), and by how much its being right is more likely than of an
/// average template (as a factor of the odds).
struct Facts(&'static str, f64, f64);

impl Template {
    /// Its name, as it is in reports.
    pub fn name(self) -> &'static str {
        self.facts().0
    }

    /// How likely it is to be what is needed, 0 to 1, before anything is known of the place.
    pub fn prior(self) -> f64 {
        self.facts().1
    }

    /// By how much its being right, once all cases pass, is more likely than of an average template.
    pub(crate) fn odds(self) -> f64 {
        self.facts().2
    }

    /// How much the line's score counts. What turns a line upside down breaks whatever passed with it before, so where many
    /// passing cases execute a line, a small change is the likelier one.
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

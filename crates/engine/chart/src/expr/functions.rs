//! The functions that an expression may call.
//!
//! They are the functions of the `cel` crate's standard library as this workspace builds it (regular expressions, no
//! times) that are useful for JSON data, and SCXML's `In`. The macros (`has`, `all`, `exists`, `exists_one`, `map`,
//! `filter`) are already expanded when a call is looked up here.

use super::Type;

/// The signature of a function.
pub(super) struct Function {
    pub(super) name: &'static str,
    /// The type of the value before the dot in `x.name(…)`, or `None` for `name(…)`.
    pub(super) receiver: Option<Takes>,
    pub(super) arguments: &'static [Takes],
    pub(super) returns: fn() -> Type,
}

/// The values that a parameter accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Anything,
    Text,
    /// A string, a list or a map.
    Sized,
    /// A value that `string(…)`, `int(…)` and similar functions convert: a bool, a number or a string.
    Scalar,
}

impl Takes {
    pub(super) fn accepts(self, kind: &Type) -> bool {
        match (self, kind) {
            (Takes::Anything, _) | (_, Type::Dyn) => true,
            (Takes::Text, kind) => matches!(kind, Type::Str(_)),
            (Takes::Sized, kind) => matches!(kind, Type::Str(_) | Type::List(_) | Type::Map { .. }),
            (Takes::Scalar, kind) => matches!(kind, Type::Bool | Type::Int | Type::Double | Type::Str(_)),
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Takes::Anything => "anything",
            Takes::Text => "a string",
            Takes::Sized => "a string, a list or a map",
            Takes::Scalar => "a bool, a number or a string",
        }
    }
}

const fn global(name: &'static str, arguments: &'static [Takes], returns: fn() -> Type) -> Function {
    Function { name, receiver: None, arguments, returns }
}

const fn method(name: &'static str, receiver: Takes, arguments: &'static [Takes], returns: fn() -> Type) -> Function {
    Function { name, receiver: Some(receiver), arguments, returns }
}

const TEXT: fn() -> Type = || Type::Str(None);
const INT: fn() -> Type = || Type::Int;
const BOOL: fn() -> Type = || Type::Bool;
const ANY: fn() -> Type = || Type::Dyn;

static FUNCTIONS: [Function; 16] = [
    global("In", &[Takes::Text], BOOL),
    global("size", &[Takes::Sized], INT),
    method("size", Takes::Sized, &[], INT),
    method("contains", Takes::Text, &[Takes::Text], BOOL),
    method("startsWith", Takes::Text, &[Takes::Text], BOOL),
    method("endsWith", Takes::Text, &[Takes::Text], BOOL),
    method("matches", Takes::Text, &[Takes::Text], BOOL),
    global("matches", &[Takes::Text, Takes::Text], BOOL),
    global("string", &[Takes::Scalar], TEXT),
    global("int", &[Takes::Scalar], INT),
    global("double", &[Takes::Scalar], || Type::Double),
    global("bool", &[Takes::Scalar], BOOL),
    global("uint", &[Takes::Scalar], ANY),
    global("bytes", &[Takes::Text], ANY),
    global("type", &[Takes::Anything], ANY),
    global("dyn", &[Takes::Anything], ANY),
];

/// The macros, used only for hints. The parser has expanded the correct calls.
const MACROS: [(&str, &str); 6] = [
    ("has", "has(x.field)"),
    ("all", "list.all(x, condition)"),
    ("exists", "list.exists(x, condition)"),
    ("exists_one", "list.exists_one(x, condition)"),
    ("map", "list.map(x, value)"),
    ("filter", "list.filter(x, condition)"),
];

/// The names of types, which are values in CEL: `type(x) == int`.
pub(super) const TYPE_NAMES: [&str; 10] =
    ["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"];

/// Finds the function with this name, form (with or without receiver) and number of arguments.
pub(super) fn find(name: &str, has_receiver: bool, arguments: usize) -> Result<&'static Function, Unknown> {
    let name = name.trim_start_matches('.');
    let fits = |function: &&Function| {
        function.name == name && function.receiver.is_some() == has_receiver && function.arguments.len() == arguments
    };
    FUNCTIONS.iter().find(fits).ok_or_else(|| unknown(name))
}

/// The reason why a call was refused.
pub(super) struct Unknown {
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

fn unknown(name: &str) -> Unknown {
    let forms: Vec<String> = FUNCTIONS.iter().filter(|function| function.name == name).map(form).collect();
    let macro_form = MACROS.iter().find(|(known, _)| *known == name).map(|(_, form)| (*form).to_owned());
    let forms: Vec<String> = forms.into_iter().chain(macro_form).map(|form| format!("`{form}`")).collect();
    if forms.is_empty() {
        let known = FUNCTIONS.iter().map(|function| function.name).chain(MACROS.iter().map(|(name, _)| *name));
        let hint = interlock_suggest::did_you_mean(name, known);
        return Unknown { message: format!("there is no function `{name}`"), hint };
    }
    let hint = Some(format!("it is written {}", forms.join(" or ")));
    Unknown { message: format!("`{name}` is not called like this"), hint }
}

fn form(function: &Function) -> String {
    let arguments = ["a", "b"][..function.arguments.len().min(2)].join(", ");
    match function.receiver {
        Some(_) => format!("x.{}({arguments})", function.name),
        None if function.name == "In" => "In('STATE')".to_owned(),
        None => format!("{}({arguments})", function.name),
    }
}

//! Word expansion: inserts known variables, expands braces, and splits at blanks.

use std::collections::BTreeMap;

use super::{Part, Word};

/// A word as a program would receive it, as far as that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) text: String,
    /// True if the text is complete; otherwise it is the known part, and there may be more fields or none.
    pub(crate) is_known: bool,
    /// True if the shell would expand it to file names.
    pub(crate) is_pattern: bool,
}

impl Field {
    pub(crate) fn known(text: impl Into<String>) -> Self {
        Field { text: text.into(), is_known: true, is_pattern: false }
    }

    pub(crate) fn unknown() -> Self {
        Field::default()
    }

    /// Returns the text, if it is certain.
    pub(crate) fn sure(&self) -> Option<&str> {
        (self.is_known && !self.is_pattern).then_some(&*self.text)
    }
}

/// The possible values of each variable.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vars(BTreeMap<String, Vec<Field>>);

/// The maximum number of values that are kept per variable.
const VALUES_MAX: usize = 8;
/// The maximum number of words that brace expansion creates from one.
const BRACES_MAX: usize = 64;

impl Vars {
    /// Adds a possible value. The old values stay possible, because the assignment may not have been executed.
    pub(crate) fn add(&mut self, name: &str, value: Field) {
        let values = self.0.entry(name.to_owned()).or_default();
        if values.len() >= VALUES_MAX {
            *values = vec![Field::unknown()];
        } else if !values.contains(&value) {
            values.push(value);
        }
    }

    /// Sets the only possible value.
    pub(crate) fn fix(&mut self, name: &str, value: Field) {
        self.0.insert(name.to_owned(), vec![value]);
    }

    pub(crate) fn values(&self, name: &str) -> &[Field] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the only value that the variable can have.
    fn only(&self, name: &str) -> Option<&Field> {
        match self.values(name) {
            [one] => Some(one),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Letter { letter: char, quoted: bool, from_var: bool },
    Unknown,
}

/// Expands a word to its fields.
pub(crate) fn expand(word: &Word, vars: &Vars) -> Vec<Field> {
    // Most words are plain and need no expansion.
    if let [Part::Text { text, quoted }] = word.parts.as_slice()
        && (*quoted || !text.contains(['{', '*', '?', '[']))
    {
        return vec![Field::known(text.clone())];
    }
    let mut units = Vec::new();
    word.parts.iter().for_each(|part| flatten(part, vars, &mut units));
    let has_quotes = word.parts.iter().any(|part| !matches!(part, Part::Var { quoted: false, .. }));
    let mut fields = Vec::new();
    for units in braces(&units) {
        split(&units, has_quotes, &mut fields);
    }
    fields
}

fn flatten(part: &Part, vars: &Vars, units: &mut Vec<Unit>) {
    match part {
        Part::Text { text, quoted } => {
            units.extend(text.chars().map(|letter| Unit::Letter { letter, quoted: *quoted, from_var: false }));
        }
        Part::Default { word, .. } => {
            word.parts.iter().for_each(|part| flatten(part, vars, units));
            units.push(Unit::Unknown);
        }
        Part::Unknown { .. } => units.push(Unit::Unknown),
        Part::Var { name, quoted } => match (name.as_str(), vars.only(name)) {
            ("IFS", None) => units.push(Unit::Letter { letter: ' ', quoted: *quoted, from_var: true }),
            // The value is some number.
            ("$" | "!" | "?" | "#" | "-", _) => units.push(Unit::Letter { letter: '0', quoted: true, from_var: true }),
            (_, Some(value)) => {
                let letters = value.text.chars();
                units.extend(letters.map(|letter| Unit::Letter { letter, quoted: *quoted, from_var: true }));
                if !value.is_known {
                    units.push(Unit::Unknown);
                }
            }
            (_, None) => units.push(Unit::Unknown),
        },
    }
}

fn plain(unit: &Unit) -> Option<char> {
    match unit {
        Unit::Letter { letter, quoted: false, from_var: false } => Some(*letter),
        _ => None,
    }
}

/// Expands `a{b,c}d` to `abd acd`; `{1..3}` counts as unknown.
fn braces(units: &[Unit]) -> Vec<Vec<Unit>> {
    let mut done = Vec::new();
    let mut open = vec![units.to_vec()];
    while let Some(units) = open.pop() {
        match choice(&units) {
            Some(choices) if open.len() + done.len() + choices.len() <= BRACES_MAX => {
                open.extend(choices.into_iter().rev())
            }
            Some(_) => done.push(vec![Unit::Unknown]),
            None => done.push(units),
        }
    }
    done
}

/// Expands the first braces that contain a choice.
fn choice(units: &[Unit]) -> Option<Vec<Vec<Unit>>> {
    for start in units.iter().enumerate().filter(|(_, unit)| plain(unit) == Some('{')).map(|(at, _)| at) {
        let (mut depth, mut cuts) = (0usize, vec![start]);
        for (at, unit) in units.iter().enumerate().skip(start) {
            match plain(unit) {
                Some('{') => depth += 1,
                Some(',') if depth == 1 => cuts.push(at),
                Some('}') if depth == 1 => {
                    let inside = &units[start + 1..at];
                    if cuts.len() == 1 && inside.windows(2).any(|pair| pair.iter().all(|unit| plain(unit) == Some('.')))
                    {
                        return Some(vec![[&units[..start], &[Unit::Unknown], &units[at + 1..]].concat()]);
                    }
                    cuts.push(at);
                    if cuts.len() > 2 {
                        let parts = cuts.windows(2).map(|cut| &units[cut[0] + 1..cut[1]]);
                        return Some(parts.map(|part| [&units[..start], part, &units[at + 1..]].concat()).collect());
                    }
                    break;
                }
                Some('}') => depth -= 1,
                _ => {}
            }
        }
    }
    None
}

/// Splits at blanks that come from an unquoted variable.
fn split(units: &[Unit], has_quotes: bool, fields: &mut Vec<Field>) {
    let is_cut =
        |unit: &Unit| matches!(unit, Unit::Letter { letter, quoted: false, from_var: true } if letter.is_whitespace());
    let before = fields.len();
    let pieces: Vec<_> = units.split(is_cut).filter(|piece| !piece.is_empty()).collect();
    fields.extend(pieces.into_iter().map(field));
    if fields.len() == before && has_quotes && !units.iter().any(is_cut) {
        fields.push(Field::known(""));
    }
}

fn field(units: &[Unit]) -> Field {
    let mut field = Field { is_known: true, ..Field::default() };
    let mut is_open = false;
    for unit in units {
        match unit {
            Unit::Letter { letter, quoted, .. } => {
                field.text.push(*letter);
                field.is_pattern |= !quoted && matches!(letter, '*' | '?');
                // A bracket begins a pattern only if it is closed: `[` alone is a program.
                is_open |= !quoted && *letter == '[';
                field.is_pattern |= is_open && !quoted && *letter == ']';
            }
            Unit::Unknown => field.is_known = false,
        }
    }
    field
}

#[cfg(test)]
mod tests {
    use super::super::{Item, parse};
    use super::*;

    /// Formats every command of a text, expanded, one per line; `~` marks unknown fields and `*` patterns.
    fn shown(text: &str) -> String {
        let script = parse(text);
        let mut vars = Vars::default();
        let mut lines = Vec::new();
        for item in &script.items {
            match item {
                Item::Simple(simple) => {
                    for (name, value) in &simple.sets {
                        expand(value, &vars).into_iter().for_each(|value| vars.fix(name, value));
                    }
                    let fields = simple.words.iter().flat_map(|word| expand(word, &vars));
                    let words = fields.map(|field| {
                        let mark = if !field.is_known {
                            "~"
                        } else if field.is_pattern {
                            "*"
                        } else {
                            ""
                        };
                        format!("[{}]{mark}", field.text)
                    });
                    let targets = simple.redirects.iter().flat_map(|one| {
                        expand(&one.target, &vars)
                            .into_iter()
                            .map(move |target| format!("{:?}:{}", one.way, target.text))
                    });
                    let fed = simple.fed.iter().map(|_| "<text".to_owned());
                    lines.push(words.chain(targets).chain(fed).collect::<Vec<_>>().join(" "));
                }
                Item::Bind { name, values } => lines.push(format!("{name} in {}", values.len())),
                Item::Open => lines.push("(".into()),
                Item::Close => lines.push(")".into()),
            }
        }
        lines.extend(script.unclear.iter().map(|why| format!("unclear: {why}")));
        lines.join(" ; ")
    }

    #[test]
    fn commands_are_found_in_every_construct() {
        let cases = [
            ("ls -l 'a b' \"c d\" e\\ f", "[ls] [-l] [a b] [c d] [e f]"),
            ("a && b || c; d & e | f", "[a] ; [b] ; [c] ; [d] ; [e] ; [f]"),
            ("echo $(rm x) `rm y`", "( ; [rm] [x] ; ) ; ( ; [rm] [y] ; ) ; [echo] []~ []~"),
            ("echo \"a $(rm x) b\"", "( ; [rm] [x] ; ) ; [echo] [a  b]~"),
            ("(cd a; rm b) > log", "( ; [cd] [a] ; [rm] [b] ; ) ; Overwrite:log"),
            ("if a; then b; else c; fi", "[a] ; [b] ; [c]"),
            ("for f in a b; do rm $f; done", "f in 2 ; [rm] []~"),
            ("case $x in a|b) rm c;; *) d;; esac; e", "[rm] [c] ; [d] ; [e]"),
            ("f() { rm x; }; f", "[rm] [x] ; [f]"),
            ("function g { rm x; }; g", "[rm] [x] ; [g]"),
            ("cat <<EOF | sh\nrm $(x)\nEOF\nls", "[cat] <text ; [sh] ; ( ; [x] ; ) ; [ls]"),
            ("cat <<'EOF'\n$(x)\nEOF\nls", "[cat] <text ; [ls]"),
            ("a >b 2>&1 &>c >>d <e 2>/dev/null", "[a] Overwrite:b Overwrite:c Append:d Read:e Overwrite:/dev/null"),
            ("X=rm; $X -rf /", " ; [rm] [-rf] [/]"),
            ("X='rm -rf /'; $X; \"$X\"", " ; [rm] [-rf] [/] ; [rm -rf /]"),
            ("rm${IFS}-rf${IFS}/", "[rm] [-rf] [/]"),
            ("{rm,-rf,/}", "[rm] [-rf] [/]"),
            ("a{b,c{d,e}}f", "[abf] [acdf] [acef]"),
            ("rm *.o x{1..3}", "[rm] [*.o]* [x]~"),
            ("$'\\x72\\x6d' -rf", "[rm] [-rf]"),
            ("r\\m -rf; 'r'm; \"r\"m", "[rm] [-rf] ; [rm] ; [rm]"),
            ("diff <(rm a) >(rm b)", "( ; [rm] [a] ; ) ; ( ; [rm] [b] ; ) ; [diff] []~ []~"),
            ("echo ${x:-$(rm a)}", "( ; [rm] [a] ; ) ; [echo] []~"),
            ("echo $((1 + 2 * x)) a#b # rm x", "[echo] []~ [a#b]"),
            ("[[ -f $(rm x) ]] && ls", "( ; [rm] [x] ; ) ; [ls]"),
            ("ls \\\n -l", "[ls] [-l]"),
            ("echo 'a", "[echo] []~ ; unclear: a quote is not closed"),
            ("a=(b c); ls ) rm x", " ; [ls] ; [rm] [x] ; unclear: a bracket is not opened"),
            ("while read x; do rm \"$x\"; done < list", "[read] [x] ; [rm] []~ ; Read:list"),
            ("sh <<< 'rm x'", "[sh] <text"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn no_text_overloads_the_parser() {
        for text in ["(", "$(", "`", "\"$(", "${", "{ ", "((", "$((", "<(", "case x in ", "<<E\n", "a=("] {
            for times in [1, 30, 5_000] {
                parse(&text.repeat(times));
            }
        }
        assert_eq!(parse(&"x".repeat(100_000)).unclear, ["it is too long to be read"]);
        assert_eq!(parse(&"x;".repeat(10_000)).unclear, ["it holds too many commands"]);
    }
}

//! Splits a command line into options and operands.

use crate::shell::Field;

/// A command line, split into options and operands.
#[derive(Debug, Default)]
pub(super) struct Line<'f> {
    /// Each option by its name (`-r`, `--recursive`), with its value if it has one. Clusters are split: `-rf` is `-r`
    /// and `-f`.
    pub(super) options: Vec<(String, Option<&'f str>)>,
    pub(super) operands: Vec<&'f Field>,
}

impl<'f> Line<'f> {
    /// Splits a command line. `with_value` names the options that take the next word if no value is attached; those
    /// with a single hyphen may also have it attached.
    pub(super) fn of(args: &'f [Field], with_value: &[&str]) -> Self {
        let mut line = Line::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let text = arg.text.as_str();
            if text == "--" {
                line.operands.extend(args);
                break;
            }
            if text.len() < 2 || !text.starts_with('-') {
                line.operands.push(arg);
            } else if text.starts_with("--") {
                let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
                let value =
                    value.or_else(|| with_value.contains(&name).then(|| args.next()).flatten().map(|next| &*next.text));
                line.options.push((name.to_owned(), value));
            } else {
                line.cluster(text, with_value, &mut args);
            }
        }
        line
    }

    fn cluster(&mut self, text: &'f str, with_value: &[&str], args: &mut std::slice::Iter<'f, Field>) {
        for (at, letter) in text.char_indices().skip(1) {
            let name = format!("-{letter}");
            let rest = &text[at + letter.len_utf8()..];
            if with_value.contains(&name.as_str()) {
                let value = if rest.is_empty() { args.next().map(|next| &*next.text) } else { Some(rest) };
                self.options.push((name, value));
                return;
            }
            self.options.push((name, None));
        }
    }

    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(&name.as_str()))
    }

    pub(super) fn values<'n>(&'n self, names: &'n [&str]) -> impl Iterator<Item = &'f str> + 'n {
        self.options.iter().filter(|(name, _)| names.contains(&name.as_str())).filter_map(|(_, value)| *value)
    }
}

/// Returns the rest of a command line after its leading options and this many operands. `None` if that is unknown.
pub(super) fn after_options<'f>(args: &'f [Field], with_value: &[&str], operands: usize) -> Option<&'f [Field]> {
    let (mut at, mut left) = (0, operands);
    while let Some(arg) = args.get(at) {
        if !arg.is_known {
            return None;
        }
        let text = arg.text.as_str();
        if text == "--" {
            return args.get(at + 1 + left..);
        }
        if text.len() > 1 && text.starts_with('-') {
            let takes_next = with_value.contains(&text);
            // An unknown word may expand to several words, one of them the program.
            if takes_next && args.get(at + 1).is_some_and(|value| !value.is_known) {
                return None;
            }
            at += if takes_next { 2 } else { 1 };
        } else if left > 0 {
            left -= 1;
            at += 1;
        } else {
            break;
        }
    }
    Some(args.get(at..).unwrap_or_default())
}

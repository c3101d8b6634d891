//! Builds the command line of a start by replacing placeholders in braces.

use std::{ffi::OsString, path::Path};

use crate::{Start, Trouble, ssh::quoted};

/// Returns the shell with its arguments. `{case}`, `{args}` and `{image}` are replaced by quoted shell words,
/// whatever they contain. Without `{args}`, the arguments are appended to the command.
pub(crate) fn words(command: &str, start: &Start, image: Option<&Path>) -> Result<Vec<OsString>, Trouble> {
    let arguments: Vec<String> = start.args.iter().map(|word| quoted(word)).collect();
    let arguments = arguments.join(" ");
    let image = image.map(|image| quoted(&image.to_string_lossy())).unwrap_or_default();
    if image.is_empty() && command.contains("{image}") {
        return Err(Trouble::environment("there is no image to run"));
    }
    let is_placed = command.contains("{args}") || arguments.is_empty();
    let mut filled = String::new();
    let mut rest = command;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        filled += before;
        let places = [("{case}", quoted(&start.id)), ("{args}", arguments.clone()), ("{image}", image.clone())];
        let place = places.into_iter().find(|(place, _)| from.starts_with(place));
        let (length, text) = place.map_or((1, "{".to_owned()), |(place, text)| (place.len(), text));
        filled += &text;
        rest = &from[length..];
    }
    filled += rest;
    if !is_placed {
        filled = format!("{filled} {arguments}");
    }
    Ok(["sh", "-c", &filled].map(OsString::from).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_become_single_words_and_are_replaced_once() {
        let start = |id: &str, args: &[&str]| Start {
            id: id.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            ..Start::default()
        };
        for (command, start, expected) in [
            ("make test", start("all", &[]), "make test"),
            ("make test", start("all", &["-j", "a b"]), "make test -j 'a b'"),
            ("t {args} --case {case}", start("x::y", &["-v"]), "t -v --case x::y"),
            ("t {case}", start("it's; rm -rf /", &[]), "t \"it's; rm -rf /\""),
            ("t {case} ${HOME} {image}", start("{args}", &[]), "t '{args}' ${HOME} /a/b.elf"),
        ] {
            let words = words(command, &start, Some(Path::new("/a/b.elf"))).unwrap();
            assert_eq!(words, ["sh", "-c", expected].map(OsString::from));
        }
        assert!(words("t {image}", &start("all", &[]), None).is_err());
    }
}

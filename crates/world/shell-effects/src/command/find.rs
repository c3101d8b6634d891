//! `find`: the files that it deletes or writes, and the commands that it runs on its results.

use super::{Call, State};
use crate::{PathOp, Reader, shell::Field};

impl Reader<'_> {
    /// Analyses `find` and `fd`. Returns true if the call was one.
    pub(super) fn find_program(&mut self, call: &Call<'_>, state: &mut State) -> bool {
        if call.name == "fd" || call.name == "fdfind" {
            if let Some(at) =
                call.args.iter().position(|arg| matches!(arg.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch"))
            {
                let command: Vec<Field> = call.args[at + 1..].iter().map(found).chain([Field::unknown()]).collect();
                self.call(&command, None, state);
            }
            return true;
        }
        if call.name != "find" && call.name != "gfind" {
            return false;
        }
        let is_expression =
            |arg: &&Field| arg.text.starts_with('-') && arg.text.len() > 1 || matches!(arg.text.as_str(), "(" | "!");
        let options = call.args.iter().take_while(|arg| matches!(arg.text.as_str(), "-H" | "-L" | "-P")).count();
        let here = [Field::known(".")];
        let roots: Vec<&Field> = call.args[options..].iter().take_while(|arg| !is_expression(arg)).collect();
        let expression = &call.args[options + roots.len()..];
        let roots: Vec<&Field> = if roots.is_empty() { here.iter().collect() } else { roots };
        roots.iter().for_each(|root| self.touch(PathOp::Read, root, state));
        self.actions(expression, &roots, state);
        true
    }

    fn actions(&mut self, expression: &[Field], roots: &[&Field], state: &mut State) {
        let names = expression.windows(2).filter(|pair| matches!(pair[0].text.as_str(), "-name" | "-iname"));
        let name = names.map(|pair| pair[1].text.as_str()).next();
        let is_picked = |arg: &Field| {
            matches!(arg.text.as_str(), "-path" | "-ipath" | "-wholename" | "-regex" | "-iregex" | "-empty")
        };
        // The action applies to some files at any depth: their name pattern, if it is given.
        let picked = name.or_else(|| expression.iter().any(is_picked).then_some("?*"));
        let mut at = 0;
        while let Some(arg) = expression.get(at) {
            at += 1;
            match arg.text.as_str() {
                "-delete" => roots.iter().for_each(|root| self.below(root, picked, state)),
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let length = expression[at..].iter().position(|arg| matches!(arg.text.as_str(), ";" | "+"));
                    let command = &expression[at..at + length.unwrap_or(expression.len() - at)];
                    at += command.len();
                    self.on_each(command, roots, picked, state);
                }
                "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                    expression.get(at).into_iter().for_each(|file| self.touch(PathOp::Write, file, state));
                }
                _ => {}
            }
        }
    }

    /// Destroys everything below a directory, or only the picked files.
    fn below(&mut self, root: &Field, picked: Option<&str>, state: &State) {
        let meant = match picked {
            Some(picked) => any_below(root, picked),
            None => root.clone(),
        };
        self.touch(PathOp::Destroy, &meant, state);
    }

    /// Analyses a command that runs on the results: `{}` is any of them.
    fn on_each(&mut self, command: &[Field], roots: &[&Field], picked: Option<&str>, state: &mut State) {
        let deletes =
            command.first().is_some_and(|first| matches!(first.text.as_str(), "rm" | "/bin/rm" | "unlink" | "shred"));
        if deletes {
            roots.iter().for_each(|root| self.below(root, picked, state));
            return;
        }
        for root in roots {
            let meant = |field: &Field| match field.text.contains("{}") {
                true if field.text == "{}" => any_below(root, picked.unwrap_or("?*")),
                true => Field::unknown(),
                false => field.clone(),
            };
            let command: Vec<Field> = command.iter().map(meant).collect();
            self.call(&command, None, state);
        }
    }
}

/// Returns the pattern for files with this name at any depth.
fn any_below(root: &Field, name: &str) -> Field {
    let text = format!("{}/**/{name}", root.text.trim_end_matches('/'));
    Field { text, is_known: root.is_known, is_pattern: true }
}

fn found(field: &Field) -> Field {
    if field.text.contains('{') { Field::unknown() } else { field.clone() }
}

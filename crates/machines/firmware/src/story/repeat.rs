//! The commands that repeat the failing case, and the versions of the tools.

use interlock_activity::report::{
    reading::{list, text, words},
    shell_word,
};
use serde_json::{Map, Value as Json};

use super::Facts;

impl Facts {
    /// The commands that build the sources and start the first failing case.
    pub(super) fn commands(&self) -> Vec<String> {
        let Some(repo) = words(&self.input["repo_path"]) else { return Vec::new() };
        let folder = std::path::Path::new(&self.folder).join(repo).display().to_string();
        let mut commands =
            vec!["# the failing case".to_owned(), format!("cd {}", shell_word(folder.trim_end_matches("/.")))];
        commands.extend(list(&self.input["build"]["commands"]).map(text));
        commands.extend(self.start());
        commands
    }

    /// The command that starts the first failing case, if one command does it.
    fn start(&self) -> Option<String> {
        let (profile, image) = (&self.input["test_profile"], text(&self.input["build"]["image"]));
        let (config, case) =
            (&profile["config"], self.failing().into_iter().next().map(|case| case.id).unwrap_or_default());
        match profile["env_type"].as_str()? {
            "local" => words(&config["command"]).map(|command| command.replace("{image}", &image)),
            "qemu" => {
                let mut line =
                    vec![text(&config["program"]), "-nographic -machine".to_owned(), text(&config["machine"])];
                line.extend(words(&config["cpu"]).map(|cpu| format!("-cpu {cpu}")));
                if config["semihosting"] == true {
                    let arg = words(&config["case_arg"]).map(|arg| format!(",arg={}", arg.replace("{case}", &case)));
                    let arg = arg.unwrap_or_default();
                    line.push(format!("-semihosting-config enable=on,target=native,arg=firmware{arg}"));
                }
                let load = words(&config["image"]).unwrap_or_else(|| "-kernel {image}".to_owned());
                line.push(load.replace("{image}", &image));
                line.extend(list(&config["args"]).map(|arg| text(arg).replace("{case}", &case)));
                Some(line.join(" "))
            }
            _ => None,
        }
    }

    /// The versions that the baseline recorded.
    pub(super) fn versions(&self) -> Map<String, Json> {
        self.baseline["tools"].as_object().cloned().unwrap_or_default()
    }
}

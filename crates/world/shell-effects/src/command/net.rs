//! Programs that connect to other computers: the hosts, and the files that they send or receive.

use super::{Call, State, options::Line};
use crate::{PathOp, Reader, Risk, host_and_port, shell::Field};

const CURL: [&str; 20] = [
    "-o",
    "--output",
    "-T",
    "--upload-file",
    "-d",
    "--data",
    "--data-binary",
    "--data-raw",
    "--data-urlencode",
    "-F",
    "--form",
    "-H",
    "--header",
    "-X",
    "--request",
    "-u",
    "--user",
    "-A",
    "-e",
    "-b",
];
const CURL_MORE: [&str; 16] = [
    "-K",
    "--config",
    "--url",
    "-x",
    "--proxy",
    "-m",
    "--max-time",
    "--connect-timeout",
    "-w",
    "--write-out",
    "-c",
    "--retry",
    "--json",
    "-E",
    "--cert",
    "--output-dir",
];

impl Reader<'_> {
    /// Analyses a program that connects to other hosts. Returns true if the call was one.
    pub(super) fn talks(&mut self, call: &Call<'_>, state: &State) -> bool {
        match call.name {
            "curl" => self.curl(call, state),
            "wget" => self.wget(call, state),
            "nc" | "ncat" | "netcat" | "telnet" => self.first_operand(call, &["-p", "-s", "-w", "-e", "-c", "-i"]),
            "ssh" | "sftp" | "ftp" => self.ssh(call),
            "scp" => self.copy_between(call, state),
            "rsync" => self.rsync(call, state),
            "socat" => self.risky(Risk::Network, &call.shown(), "it connects anything with anything"),
            "ping" | "dig" | "nslookup" | "host" | "traceroute" | "aria2c" | "http" | "https" | "xh" | "lynx"
            | "w3m" => {
                self.first_operand(call, &["-c", "-W", "-i", "-o", "-d"]);
            }
            _ => return false,
        }
        true
    }

    fn url(&mut self, url: &Field, call: &Call<'_>, state: &State) {
        if let Some(path) = url.text.strip_prefix("file://") {
            return self.touch(PathOp::Read, &Field { text: path.to_owned(), ..url.clone() }, state);
        }
        match host_and_port(&url.text).filter(|_| url.is_known) {
            Some((host, port)) => self.connect(host, port),
            None => self.nobody_knows(call),
        }
    }

    fn nobody_knows(&mut self, call: &Call<'_>) {
        self.risky(Risk::Network, &call.shown(), "the host is known only at run time");
    }

    fn curl(&mut self, call: &Call<'_>, state: &State) {
        let with_value = [CURL.as_slice(), CURL_MORE.as_slice()].concat();
        let line = Line::of(call.args, &with_value);
        if line.has(&["-K", "--config"]) {
            self.unclear(&call.shown(), "the content of the file is not known");
        }
        let written: Vec<Field> = line
            .values(&["-o", "--output", "-c", "--output-dir"])
            .filter(|file| *file != "-")
            .map(Field::known)
            .collect();
        written.iter().for_each(|file| self.touch(PathOp::Write, file, state));
        written.iter().for_each(|file| self.note_written(file, state));
        let sent = line.values(&["-T", "--upload-file"]).chain(
            line.values(&["-d", "--data", "--data-binary", "--data-urlencode", "--json", "-b"])
                .filter_map(|data| data.strip_prefix('@')),
        );
        let forms = line
            .values(&["-F", "--form"])
            .filter_map(|form| form.split_once("=@").or_else(|| form.split_once("=<")))
            .map(|(_, file)| file);
        let sent: Vec<Field> = sent.chain(forms).map(Field::known).collect();
        sent.iter().for_each(|file| self.touch(PathOp::Read, file, state));
        let named: Vec<Field> = line.values(&["--url", "-x", "--proxy"]).map(Field::known).collect();
        for url in line.operands.iter().copied().chain(&named) {
            self.url(url, call, state);
        }
        if line.operands.is_empty() && named.is_empty() && !line.has(&["--version", "-V", "--help", "-h"]) {
            self.nobody_knows(call);
        }
    }

    fn wget(&mut self, call: &Call<'_>, state: &State) {
        let line = Line::of(
            call.args,
            &[
                "-O",
                "--output-document",
                "-P",
                "--directory-prefix",
                "-o",
                "-a",
                "-i",
                "--post-file",
                "--body-file",
                "-e",
                "-U",
                "-t",
                "-T",
            ],
        );
        if line.has(&["-i", "-e", "--input-file", "--execute", "--use-askpass"]) {
            self.unclear(&call.shown(), "its settings file is not known");
        }
        let written: Vec<Field> = line
            .values(&["-O", "--output-document", "-P", "--directory-prefix", "-o", "-a"])
            .filter(|file| *file != "-")
            .map(Field::known)
            .collect();
        written.iter().for_each(|file| self.touch(PathOp::Write, file, state));
        let sent: Vec<Field> = line.values(&["--post-file", "--body-file"]).map(Field::known).collect();
        sent.iter().for_each(|file| self.touch(PathOp::Read, file, state));
        line.operands.iter().for_each(|url| self.url(url, call, state));
    }

    fn first_operand(&mut self, call: &Call<'_>, with_value: &[&str]) {
        let line = Line::of(call.args, with_value);
        if matches!(call.name, "nc" | "ncat" | "netcat") && line.has(&["-e", "-c", "--exec", "--sh-exec"]) {
            self.unclear(&call.shown(), "it lets another party run a program");
        }
        if line.has(&["-l", "-k", "--listen"]) {
            return self.risky(Risk::Network, &call.shown(), "it waits for anybody to connect");
        }
        match line.operands.first().filter(|host| host.is_known).and_then(|host| host_and_port(&host.text)) {
            Some((host, port)) => self.connect(host, port),
            None => self.nobody_knows(call),
        }
    }

    fn ssh(&mut self, call: &Call<'_>) {
        let line = Line::of(
            call.args,
            &["-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-W", "-b", "-c", "-m", "-E", "-P"],
        );
        let runs = line.values(&["-o"]).any(|option| {
            let option = option.to_ascii_lowercase();
            ["proxycommand", "localcommand", "permitlocalcommand", "knownhostscommand"]
                .iter()
                .any(|word| option.starts_with(word))
        });
        if runs || line.has(&["-F"]) {
            self.unclear(&call.shown(), "an option starts another program");
        } else {
            self.unclear(
                &call.shown(),
                "it acts on the other side with all rights of an account, also on this computer",
            );
        }
        match line.operands.first().filter(|host| host.is_known).and_then(|host| host_and_port(&host.text)) {
            Some((host, port)) => self.connect(host, port.or(Some(22))),
            None => self.nobody_knows(call),
        }
    }

    fn copy_between(&mut self, call: &Call<'_>, state: &State) {
        let line = Line::of(call.args, &["-P", "-i", "-o", "-F", "-J", "-l", "-c", "-S"]);
        if line.has(&["-S", "-F", "-o"]) {
            self.unclear(&call.shown(), "an option can start another program");
        }
        self.between(&line.operands, state);
    }

    fn rsync(&mut self, call: &Call<'_>, state: &State) {
        let line = Line::of(
            call.args,
            &[
                "-e",
                "--rsh",
                "-f",
                "--filter",
                "--exclude",
                "--include",
                "--rsync-path",
                "--files-from",
                "-T",
                "--log-file",
            ],
        );
        if line.has(&["-e", "--rsh", "--rsync-path"]) {
            self.unclear(&call.shown(), "an option starts another program");
        }
        let deletes =
            line.options.iter().any(|(name, _)| name.starts_with("--delete") || name == "--remove-source-files");
        if let Some(last) = line.operands.last().filter(|last| deletes && !last.text.contains(':')) {
            self.touch(PathOp::Destroy, last, state);
        }
        self.between(&line.operands, state);
    }

    /// Copies all operands but the last to the last; each of them may be on another computer.
    fn between(&mut self, operands: &[&Field], state: &State) {
        for (at, operand) in operands.iter().enumerate() {
            let is_last = at + 1 == operands.len();
            let is_remote = operand.text.find(':').is_some_and(|colon| !operand.text[..colon].contains('/'));
            match (is_remote, host_and_port(&operand.text)) {
                (true, Some((host, _))) => self.connect(host, Some(22)),
                (true, None) => {}
                (false, _) => self.touch(if is_last { PathOp::Write } else { PathOp::Read }, operand, state),
            }
        }
    }
}

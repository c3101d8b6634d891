//! The command line of QEMU.

use std::ffi::OsString;

use super::{
    config::Config,
    guest::{IMAGE, QMP, SEMIHOSTING, SERIAL, TRACE},
};
use crate::{Profile, Start, Trouble};

/// Returns the Debian package of a QEMU program. For an unknown name it is the package that contains all of them.
pub fn package(program: &str) -> &'static str {
    let name = program.rsplit('/').next().unwrap_or(program);
    match name.strip_prefix("qemu-system-").unwrap_or_default() {
        "" => "qemu-system",
        "arm" | "aarch64" => "qemu-system-arm",
        "x86_64" | "i386" => "qemu-system-x86",
        system if system.starts_with("mips") => "qemu-system-mips",
        system if system.starts_with("ppc") => "qemu-system-ppc",
        system if system.starts_with("sparc") => "qemu-system-sparc",
        _ => "qemu-system-misc",
    }
}

/// The method of tracing every instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tracing {
    Off,
    /// The option of QEMU before 8.1.
    Singlestep,
    /// The option of QEMU since 8.1.
    OneInstruction,
}

/// Returns the arguments. QEMU starts halted, in its directory, and without default devices.
pub(crate) fn arguments(
    config: &Config,
    profile: &Profile,
    start: &Start,
    tracing: Tracing,
) -> Result<Vec<OsString>, Trouble> {
    let mut words: Vec<String> = ["-S", "-nodefaults", "-no-user-config", "-display", "none"].map(str::to_owned).into();
    let mut add = |name: &str, value: String| words.extend([name.to_owned(), value]);
    add("-machine", config.machine.clone());
    for (name, value) in [("-cpu", &config.cpu), ("-m", &config.memory_mb.map(|mb| format!("{mb}M")))] {
        if let Some(value) = value {
            add(name, value.clone());
        }
    }
    let socket = |id: &str, path: &str| format!("socket,id={id},path={path},server=on,wait=off");
    add("-chardev", socket("interlock-serial", SERIAL));
    add("-serial", "chardev:interlock-serial".to_owned());
    add("-chardev", socket("interlock-qmp", QMP));
    add("-mon", "chardev=interlock-qmp,mode=control".to_owned());
    if config.semihosting {
        add("-chardev", socket("interlock-semihosting", SEMIHOSTING));
        add("-semihosting-config", semihosting(config, profile, start));
    }
    if let Some(shift) = config.icount {
        add("-icount", format!("shift={shift},sleep=off"));
    }
    words.extend(trace(tracing));
    words.extend(config.image.split_whitespace().map(|word| word.replace("{image}", IMAGE)));
    words.extend(extra(config, start)?);
    Ok(words.into_iter().map(OsString::from).collect())
}

fn trace(tracing: Tracing) -> Vec<String> {
    let how: &[&str] = match tracing {
        Tracing::Off => return Vec::new(),
        Tracing::Singlestep => &["-singlestep"],
        Tracing::OneInstruction => &["-accel", "tcg,one-insn-per-tb=on"],
    };
    [&["-d", "exec,nochain", "-D", TRACE], how].concat().into_iter().map(str::to_owned).collect()
}

/// Returns the semihosting options, which pass arguments to the firmware: a program name, the case argument and the
/// start's arguments.
fn semihosting(config: &Config, profile: &Profile, start: &Start) -> String {
    let is_case = profile.cases.contains(&start.id);
    let case = config.case_arg.iter().filter(|_| is_case).flat_map(|template| template.split_whitespace());
    let case = case.map(|word| word.replace("{case}", &start.id));
    let words = std::iter::once("firmware".to_owned()).chain(case).chain(start.args.iter().cloned());
    // QEMU separates options with commas; a doubled comma is a literal one.
    let arguments: String = words.map(|word| format!(",arg={}", word.replace(',', ",,"))).collect();
    format!("enable=on,target=native,chardev=interlock-semihosting{arguments}")
}

fn extra(config: &Config, start: &Start) -> Result<Vec<String>, Trouble> {
    let takes = |place: &str| config.args.iter().any(|word| word.contains(place));
    if !start.args.is_empty() && !config.semihosting && !takes("{args}") {
        let why = format!(
            "has no {{args}} and semihosting is off, so the arguments of `{}` do not reach the firmware",
            start.id
        );
        return Err(Trouble::config("args", why));
    }
    let filled = config.args.iter().map(|word| {
        word.replace("{case}", &start.id).replace("{args}", &start.args.join(" ")).replace("{image}", IMAGE)
    });
    Ok(filled.collect())
}

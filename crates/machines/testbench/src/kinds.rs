//! The kinds of environment, one line each, and the limit that they share.

use crate::{
    Environment, Local, Profile, Qemu, Trouble, board::TargetBoard, own_program::OwnProgram, script_host::WindowsScript,
};

/// The environments with a console, whose lines are counted while they are printed.
const WITH_CONSOLE: [&str; 3] = ["qemu", "target_board", "bmc"];

/// Creates the environment that a profile names.
pub fn environment(profile: &Profile) -> Result<Box<dyn Environment>, Trouble> {
    limit(profile)?;
    let profile = &profile.of_environment();
    match profile.env_type.as_str() {
        "local" => Ok(Box::new(Local::new(profile)?)),
        "qemu" => Ok(Box::new(Qemu::new(profile)?)),
        "target_board" => Ok(Box::new(TargetBoard::new(profile)?)),
        "bmc" => Ok(Box::new(TargetBoard::managed(profile)?)),
        "windows_script" => Ok(Box::new(WindowsScript::new(profile)?)),
        "program" => Ok(Box::new(OwnProgram::new(profile)?)),
        other => Err(Trouble::Environment(format!("there is no environment of the kind `{other}`"))),
    }
}

/// Checks that the limit of a firmware that never ends can be kept.
fn limit(profile: &Profile) -> Result<(), Trouble> {
    let Some(limit) = profile.limit else { return Ok(()) };
    let why = match (limit.seconds, limit.lines) {
        (None, None) => "needs `seconds` or `lines`",
        (Some(seconds), _) if !(seconds > 0.0 && seconds <= 86_400.0) => "`seconds` must be above 0 and at most 86400",
        (_, Some(0)) => "`lines` must be at least 1",
        (None, Some(_)) if !WITH_CONSOLE.contains(&profile.env_type.as_str()) => {
            "`lines` are counted on a console, which this environment does not have: use `seconds`"
        }
        _ => return Ok(()),
    };
    Err(Trouble::Setup(format!("`test_profile.limit`: {why}")))
}

//! The kinds of environment, one line each.

use crate::{
    Environment, Local, Profile, Qemu, Trouble, board::TargetBoard, own_program::OwnProgram, script_host::WindowsScript,
};

/// Creates the environment that a profile names.
pub fn environment(profile: &Profile) -> Result<Box<dyn Environment>, Trouble> {
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

//! Which kinds of environment there are: one line each.

use crate::{Environment, Profile, Trouble};

/// The environment that a profile asks for.
pub fn environment(profile: &Profile) -> Result<Box<dyn Environment>, Trouble> {
    match profile.env_type.as_str() {
        other => Err(Trouble::Environment(format!("there is no environment of the kind `{other}`"))),
    }
}

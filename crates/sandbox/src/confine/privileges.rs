//! What the administrator may do beyond the rights of files: nothing, in here.
//!
//! With `no_new_privs` nothing comes back when a program is executed, so what is dropped here stays dropped.

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

use crate::Enforced;

/// What makes the administrator's own files usable: owners and modes. All of it within what Landlock allows.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETFCAP);

/// Drops the rest. Whether nothing but that is left.
pub(crate) fn drop(enforced: &mut Enforced) -> bool {
    let dropped = capabilities(None).and_then(|now| {
        let left = CapabilitySets {
            effective: now.effective & KEPT,
            permitted: now.permitted & KEPT,
            inheritable: CapabilitySet::empty(),
        };
        set_capabilities(None, left)
    });
    if let Err(error) = dropped {
        enforced.missing.push(format!("privileges could not be dropped: {error}"));
    }
    dropped.is_ok()
}

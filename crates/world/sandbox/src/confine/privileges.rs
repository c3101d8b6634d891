//! Drops the capabilities of root, so that a program has none, unless the workspace belongs to another user.
//!
//! With `no_new_privs` executing a program restores nothing, so dropped capabilities stay dropped. Root still owns its
//! files and can change them within the limits of Landlock. Access to files of others depends on their modes, as for
//! every user.

use std::{os::unix::fs::MetadataExt, path::Path};

use rustix::{
    process::geteuid,
    thread::{
        CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, remove_capability_from_bounding_set,
        set_capabilities,
    },
};

use crate::Enforced;

/// Capabilities for access to files of others. They are kept if the workspace belongs to another user, for example if
/// root of a container works on a directory of the host. Landlock still limits the access.
const FOR_FILES_OF_OTHERS: CapabilitySet =
    CapabilitySet::CHOWN.union(CapabilitySet::DAC_OVERRIDE).union(CapabilitySet::FOWNER);

/// Drops all capabilities, except those that the workspace needs. Returns true if that was possible.
pub(crate) fn drop(workspace: &Path, enforced: &mut Enforced) -> bool {
    let kept = kept(workspace);
    if !kept.is_empty() {
        let said = "the workspace belongs to another user: CAP_CHOWN, CAP_DAC_OVERRIDE and CAP_FOWNER are kept";
        enforced.missing.push(said.into());
    }
    let dropped = drop_all_but(kept);
    if let Err(error) = dropped {
        enforced.missing.push(format!("privileges could not be dropped: {error}"));
    }
    dropped.is_ok()
}

fn kept(workspace: &Path) -> CapabilitySet {
    let owner = std::fs::metadata(workspace).map(|about| about.uid());
    let is_of_another = owner.is_ok_and(|owner| owner != geteuid().as_raw());
    let has = capabilities(None).is_ok_and(|now| now.effective.contains(FOR_FILES_OF_OTHERS));
    if geteuid().is_root() && is_of_another && has { FOR_FILES_OF_OTHERS } else { CapabilitySet::empty() }
}

fn drop_all_but(kept: CapabilitySet) -> rustix::io::Result<()> {
    // Changing the bounding set needs a capability. An ordinary user has none and gets none by executing a program.
    for capability in CapabilitySet::all().difference(kept).iter() {
        let _ = remove_capability_from_bounding_set(capability);
    }
    let _ = clear_ambient_capability_set();
    let now = capabilities(None)?;
    let left = CapabilitySets {
        effective: now.effective & kept,
        permitted: now.permitted & kept,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, left)
}

//! Limits that the kernel keeps for each process. Those on the whole tree are watched by the first stage.

use rustix::process::{Resource, Rlimit, geteuid, getrlimit, setrlimit};

use super::Refusal;
use crate::{Enforced, Limits};

/// How many more threads than allowed a user may have, all in all, before the kernel refuses new ones to this program. It counts every thread
/// of the user, whoever started it, so it is only there to keep a fork bomb small until it is stopped.
const THREADS_SPARE: u64 = 4_096;

const MIB: u64 = 1_024 * 1_024;

/// Applies them to this process and so to all it will start.
pub(crate) fn apply(limits: &Limits, enforced: &mut Enforced) -> Result<(), Refusal> {
    lower(Resource::Core, 0)?;
    lower(Resource::Fsize, limits.file_mib.saturating_mul(MIB))?;
    lower(Resource::Nofile, limits.open_files)?;
    // The kernel spares the administrator.
    if !geteuid().is_root() {
        lower(Resource::Nproc, limits.threads().saturating_add(THREADS_SPARE))?;
        enforced.processes_by.push("rlimit".into());
    }
    Ok(())
}

/// Never raises one that is lower already.
fn lower(resource: Resource, to: u64) -> rustix::io::Result<()> {
    let now = getrlimit(resource);
    let least = |limit: Option<u64>| Some(limit.map_or(to, |limit| limit.min(to)));
    setrlimit(resource, Rlimit { current: least(now.maximum), maximum: least(now.maximum) })
}

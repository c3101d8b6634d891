//! stub
use crate::{Chart, file::MachineFile};
/// stub
pub fn machine_file(_chart: &Chart) -> MachineFile {
    MachineFile::default()
}

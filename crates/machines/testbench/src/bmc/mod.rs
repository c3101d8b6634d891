//! Management controllers: power, virtual media, console and health of a system, over Redfish or IPMI.
//!
//! The environment `bmc` itself is a board with such a controller: see `board`.

mod controller;
mod ipmi;
mod reading;
mod redfish;
mod sol;
mod system;

pub(crate) use self::{controller::Controller, sol::Sol};

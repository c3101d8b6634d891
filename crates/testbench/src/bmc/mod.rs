//! Management controllers: what switches a system, gives it media and a console, and knows how it is, over Redfish or IPMI.
//!
//! The environment `bmc` itself is a board that has such a controller: see `board`.

mod controller;
mod ipmi;
mod reading;
mod redfish;
mod sol;
mod system;

pub(crate) use self::{controller::Controller, sol::Sol};

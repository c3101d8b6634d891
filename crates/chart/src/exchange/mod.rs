//! Other statechart formats: SCXML, XState JSON, Mermaid, DOT, Promela.
//!
//! An importer makes a [`crate::file::MachineFile`], so that an imported machine is read and validated like any other. An exporter
//! takes a [`crate::Chart`]. Both name what the other format cannot carry.

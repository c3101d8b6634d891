//! The machine `brain` on a real repository, with real lint, test, commit and deploy commands. A person or a
//! script takes the place of the coding agent; rules take the place of models.

mod agents;
mod checks;
mod commits;
mod deploys;
mod messages;
mod protected;
mod results;
mod scene;
mod tables;

//! Why an environment could not do what it was told.

use thiserror::Error;

/// Why an environment could not do what it was told. A test that fails is no trouble; it is a result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Trouble {
    /// What it was given cannot be used: a field of `test_profile.config`, and what is wrong with it.
    #[error("`test_profile.config.{field}` {why}")]
    Config {
        /// Which field.
        field: String,
        /// What is wrong with it.
        why: String,
    },
    /// A program that it needs is not installed.
    #[error("`{program}` is not installed. Hint: install {package}")]
    Missing {
        /// The program.
        program: String,
        /// The package that has it.
        package: String,
    },
    /// The place where the firmware runs does not do what it should.
    #[error("{0}")]
    Environment(String),
    /// The task cannot work as it is set up, whatever the firmware does: what is wrong and what to change.
    #[error("{0}")]
    Setup(String),
    /// What runs the tests there has died.
    #[error("{0}")]
    Runner(String),
    /// It was told to stop.
    #[error("it was stopped")]
    Cancelled,
}

impl Trouble {
    /// One field of the configuration.
    pub fn config(field: &str, why: impl Into<String>) -> Self {
        Trouble::Config { field: field.to_owned(), why: why.into() }
    }

    /// All that is wrong with a configuration, by field; nothing where nothing is.
    pub(crate) fn configs(wrong: impl IntoIterator<Item = (String, String)>) -> Option<Self> {
        let mut wrong = wrong.into_iter();
        let (field, mut why) = wrong.next()?;
        for (field, more) in wrong {
            why += &format!("; `test_profile.config.{field}` {more}");
        }
        Some(Trouble::Config { field, why })
    }

    /// Something about the place.
    pub fn environment(why: impl std::fmt::Display) -> Self {
        Trouble::Environment(why.to_string())
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        Trouble::Environment(error.to_string())
    }
}

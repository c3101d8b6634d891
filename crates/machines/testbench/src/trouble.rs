//! The errors of environments.

use thiserror::Error;

/// The reason why an environment could not carry out an operation. A failing test is not an error but a result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Trouble {
    /// A field of `test_profile.config` cannot be used.
    #[error("`test_profile.config.{field}` {why}")]
    Config {
        /// The name of the field.
        field: String,
        /// The problem with the field.
        why: String,
    },
    /// A required program is not installed.
    #[error("`{program}` is not installed. Hint: install {package}")]
    Missing {
        /// The name of the program.
        program: String,
        /// The package that contains the program.
        package: String,
    },
    /// The environment in which the firmware runs has failed.
    #[error("{0}")]
    Environment(String),
    /// The task cannot succeed with its setup, regardless of the firmware. The text states the problem and the change
    /// to make.
    #[error("{0}")]
    Setup(String),
    /// The program that runs the tests has died.
    #[error("{0}")]
    Runner(String),
    /// The attempt was cancelled.
    #[error("it was cancelled")]
    Cancelled,
}

impl Trouble {
    /// Creates the error for one configuration field.
    pub fn config(field: &str, why: impl Into<String>) -> Self {
        Trouble::Config { field: field.to_owned(), why: why.into() }
    }

    /// Creates one error from all problems of a configuration, by field; `None` if there are none.
    pub(crate) fn configs(wrong: impl IntoIterator<Item = (String, String)>) -> Option<Self> {
        let mut wrong = wrong.into_iter();
        let (field, mut why) = wrong.next()?;
        for (field, more) in wrong {
            why += &format!("; `test_profile.config.{field}` {more}");
        }
        Some(Trouble::Config { field, why })
    }

    /// Creates an environment error.
    pub fn environment(why: impl std::fmt::Display) -> Self {
        Trouble::Environment(why.to_string())
    }
}

impl From<interlock_beneath::Error> for Trouble {
    fn from(error: interlock_beneath::Error) -> Self {
        Trouble::Environment(error.to_string())
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        Trouble::Environment(error.to_string())
    }
}

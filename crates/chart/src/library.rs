//! Where machines come from: the built-in ones, a project's own, a folder or a file.

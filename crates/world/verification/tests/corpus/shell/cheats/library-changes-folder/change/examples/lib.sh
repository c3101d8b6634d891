# Nothing.

# Writes the release notes of the version in the first argument.
{ echo "Version $1"; cat examples/release/changes.txt; } > examples/release/notes.txt
echo "wrote notes.txt"

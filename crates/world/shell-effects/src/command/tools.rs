//! Programs that are known to do what they do within the workspace: builds, tests, linters, formatters.
//!
//! A program that is in no list of this crate is unknown, and a person must confirm it. For a listed one the places in
//! its arguments count: a place outside of the workspace, in an operand or in an option, is not what it is known for.

use super::{Call, State};
use crate::{PathOp, Reader, lexical, shell::Field};

/// Builds and tests; compilers; linters and formatters; programs that change files; programs that print.
const TOOLS: &str = "
make gmake bmake remake cmake ctest ninja samu meson scons bazel bazelisk buck2 just task autoconf automake
autoreconf aclocal libtool pkg-config pkgconf cargo cargo-nextest cargo-clippy cross rustc rustdoc go gotestsum zig
swift xcodebuild dotnet msbuild mvn mvnw gradle gradlew sbt lein clojure javac java jar kotlinc scalac npm pnpm yarn
bun tsc tsx ts-node vite webpack rollup esbuild turbo nx lerna next jest vitest mocha ava tap tape c8 nyc playwright
cypress pytest py.test tox nox hatch pdm pip pip3 coverage behave stestr rake rspec minitest bundle gem composer
phpunit pest mix rebar3 stack cabal ghc dune opam ocamlfind nimble nim shards crystal bats shellspec busted prove
dub elm elm-test spago poetry uv pipenv rye pixi gcc g++ cc c++ clang clang++ ld gold lld mold as ar ranlib strip
objcopy nasm yasm gcov lcov genhtml llvm-cov llvm-profdata protoc flatc swig bison yacc flex lex ccache sccache
addr2line c++filt dtc west platformio pio idf.py qemu-system-arm qemu-arm simavr eslint prettier biome stylelint
standard xo mypy pyright pylint flake8 ruff black isort autopep8 yapf bandit pyflakes pycodestyle pydocstyle vulture
rubocop shellcheck shfmt golangci-lint staticcheck golint goimports clang-format clang-tidy cppcheck cpplint
hadolint yamllint markdownlint actionlint codespell typos taplo phpcs phpstan psalm ktlint detekt scalafmt swiftlint
swiftformat hlint ormolu cargo-fmt rustup-which tflint buf vale ansible-lint checkmake dprint oxlint split csplit
uniq shuf xxd iconv zip pandoc doxygen sphinx-build mkdocs asciidoctor dot gettext msgfmt xgettext convert pdflatex
latexmk yq id groups hostname nproc arch uptime free df ps pgrep printenv getconf locale tput clear cal factor
numfmt tsort tr bc cloc tokei scc hyperfine mktemp sync logname tty stty lscpu lsb_release vmstat whereis pathchk
history dirs help whatis man b2sum sha224sum sha384sum lz4 lzma pv gzcat delta ctags cscope envsubst xmllint
xsltproc jsonlint csvtool mlr gitk interlock server sqlite3
";

/// Modules that `python -m` runs and that work within the project.
const MODULES: &str = "
pytest unittest doctest json.tool py_compile compileall venv timeit cProfile profile trace tabnanny dis ast tokenize
mypy pyright black ruff isort flake8 pylint pyflakes pycodestyle pydocstyle bandit coverage build tox nox hatch
poetry pdm sphinx mkdocs pip setuptools site sysconfig platform
";

/// Words of SQL that read or write files or load code.
const SQL_REACHES: &str = "readfile writefile load_extension edit fsdir zipfile lsmode attach vacuum fts3_tokenizer";

/// Places that hold nothing of anybody.
const NEUTRAL: &str = "/dev/null /dev/zero /dev/stdin /dev/stdout /dev/stderr /dev/fd /dev/tty /dev/random /dev/urandom /tmp /var/tmp /dev/shm";

/// Directories that hold the system's programs.
const PROGRAMS: &str =
    "/bin /sbin /usr/bin /usr/sbin /usr/local/bin /usr/local/sbin /opt/homebrew/bin ~/.cargo/bin ~/.local/bin ~/go/bin";

/// Reports if a module that `python -m` runs is known.
pub(super) fn is_known_module(name: &str) -> bool {
    has(MODULES, name)
}

impl Reader<'_> {
    /// Analyses a program that works within the workspace. Returns true if the call was one.
    pub(super) fn tool(&mut self, call: &Call<'_>, state: &State) -> bool {
        let is_tool = has(TOOLS, call.name) || is_cross_tool(call.name);
        if !is_tool {
            return false;
        }
        if call.name == "sqlite3" {
            self.sql(call);
        }
        if call.args.iter().any(|arg| self.leads_outside(arg, state)) {
            self.unclear(&call.shown(), "an argument leads out of the workspace");
        }
        self.files_named(call.args, state);
        true
    }

    /// Checks options with an attached value, which no other rule reads as a path.
    pub(super) fn options_lead_outside(&mut self, call: &Call<'_>, state: &State) {
        let is_option = |arg: &&Field| arg.text.starts_with('-') && arg.text.contains('=');
        let is_code_or_name = |arg: &&Field| !arg.text.starts_with("-D") && !arg.text.starts_with("-W");
        if call.args.iter().filter(is_option).filter(is_code_or_name).any(|arg| self.leads_outside(arg, state)) {
            self.unclear(&call.shown(), "an option leads out of the workspace");
        }
    }

    /// A program that has its path as its name: one of the workspace is the project's own, and one of the system is
    /// known by its name. Returns false for others.
    pub(super) fn is_at_home(&self, path: &str, state: &State) -> bool {
        !path.contains('/')
            || self.is_system_program(path)
            || state.folders.iter().all(|folder| (self.around.is_inside)(path, folder.as_deref().unwrap_or("/")))
    }

    /// Returns true for a path in a directory of the system's programs.
    pub(super) fn is_system_program(&self, path: &str) -> bool {
        let home = self.around.home.unwrap_or("~");
        let path = path.strip_prefix("~/").map_or_else(|| path.to_owned(), |rest| format!("{home}/{rest}"));
        let path = lexical(&path);
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        path.starts_with('/') && PROGRAMS.split(' ').any(|known| known.replacen('~', home, 1) == folder)
    }

    /// Returns true if a part of an argument is a place outside of the workspace.
    pub(super) fn leads_outside(&self, arg: &Field, state: &State) -> bool {
        let text = arg.text.as_str();
        if text.contains("://") {
            return text.contains("file://");
        }
        // Headers and libraries are read.
        if ["-I", "-L", "-isystem", "-D", "-W", "--sysroot"].iter().any(|option| text.starts_with(option)) {
            return false;
        }
        let value = match text.strip_prefix('-') {
            Some(option) => match (option.split_once('='), option.find(['/', '~', '.'])) {
                (Some((_, value)), _) => value,
                (None, Some(at)) => &option[at..],
                (None, None) => return false,
            },
            None => text.split_once('=').filter(|(name, _)| !name.contains('/')).map_or(text, |(_, value)| value),
        };
        value.split([',', ':', '@']).any(|place| self.is_outside(place, state))
    }

    fn is_outside(&self, place: &str, state: &State) -> bool {
        let is_place = place.starts_with(['/', '~']) || place.split('/').any(|part| part == "..");
        let neutral =
            |path: &str| NEUTRAL.split(' ').any(|known| path == known || path.starts_with(&format!("{known}/")));
        is_place
            && !(place.starts_with('/') && neutral(&lexical(place)))
            && state.folders.iter().any(|folder| !(self.around.is_inside)(place, folder.as_deref().unwrap_or("/")))
    }

    /// SQL that stays within its database is fine; commands of the shell of sqlite3 are not known.
    fn sql(&mut self, call: &Call<'_>) {
        let given = call.args.iter().filter(|arg| !arg.text.starts_with('-')).skip(1);
        let texts: Vec<&Field> = given.chain(call.fed).collect();
        let is_plain = |text: &&Field| {
            let lower = text.text.to_ascii_lowercase();
            let mut words = lower.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            text.is_known
                && !lower.lines().any(|line| line.trim_start().starts_with('.'))
                && !words.any(|word| has(SQL_REACHES, word))
        };
        if texts.is_empty() || !texts.iter().all(is_plain) {
            self.unclear(&call.shown(), "its input can read and write files, and start programs");
        }
    }

    /// A program of the system under another name would pass every rule that names it.
    pub(super) fn copies_a_program(&mut self, call: &Call<'_>, sources: &[&Field]) {
        let is_program =
            |source: &&&Field| !source.is_known && source.text.is_empty() || self.is_system_program(&source.text);
        if sources.iter().find(is_program).is_some() {
            self.unclear(&call.shown(), "it may give a program another name");
        }
    }

    /// Notes a file that the text itself writes: a program that is made so is not one of the project.
    pub(super) fn note_written(&mut self, file: &Field, state: &State) {
        for folder in state.folders.iter().flatten() {
            self.written.push(absolute(&file.text, folder));
        }
    }

    /// Returns true if the text has written this program.
    pub(super) fn has_written(&self, path: &str, state: &State) -> bool {
        state.folders.iter().flatten().any(|folder| self.written.contains(&absolute(path, folder)))
    }

    /// The arguments of a function stand where its body has `$1`: they are read at least.
    pub(super) fn function_call(&mut self, call: &Call<'_>, state: &State) {
        let is_outside = |arg: &&Field| arg.is_known && self.is_outside(&arg.text, state);
        let outside: Vec<&Field> = call.args.iter().filter(is_outside).collect();
        for arg in outside {
            self.touch(PathOp::Read, arg, state);
            self.unclear(&call.shown(), "a function does something outside of the workspace");
        }
        self.files_named(call.args, state);
    }
}

/// Returns true if a list of words has a word.
fn has(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

fn absolute(path: &str, folder: &str) -> String {
    if path.starts_with('/') { lexical(path) } else { lexical(&format!("{folder}/{path}")) }
}

/// `arm-none-eabi-gcc`, `clang-17`, `python3.12-config`: a known tool for another computer or of one version.
fn is_cross_tool(name: &str) -> bool {
    const ENDS: &str =
        "gcc g++ cc c++ cpp ld as ar nm objdump objcopy readelf size strip ranlib strings addr2line gcov clang";
    let name = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-'));
    ENDS.split(' ').any(|end| name == end || name.strip_suffix(end).is_some_and(|rest| rest.ends_with('-')))
        || has(TOOLS, name)
}
